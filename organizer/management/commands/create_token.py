"""Make a token for a program, without a browser."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import transaction
from django.utils.timezone import now

from accounts.tokens import Scope, longest_life, make_token
from evaluation.campaigns.access import lacks_second_factor
from evaluation.campaigns.people import service_account
from evaluation.errors import Refused
from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from evaluation.terms import Role

USUAL_DAYS = 90
ROLES = {Scope.READ: Role.RESEARCHER, Scope.WRITE: Role.ORGANIZER}


class Command(AssayCommand):
    help = (
        "Make a token for the API and print it. Its owner is a service account of that name, with a role in one "
        "campaign and without a password: nobody signs in with it."
    )
    example = "manage.py create_token --campaign rag24 --name ci --scope write"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--name", required=True, help="what it is for: the name of the account and the token")
        parser.add_argument(
            "--scope",
            choices=list(Scope),
            default=Scope.READ,
            help="read: as a researcher (the default); write: also, as an organizer",
        )
        parser.add_argument(
            "--days", type=int, default=USUAL_DAYS, help=f"how long it lives (default {USUAL_DAYS})"
        )

    def act(self, options: dict[str, Any]) -> None:
        campaign, scope, days = the_campaign(options["campaign"]), Scope(options["scope"]), options["days"]
        if not 1 <= days <= longest_life().days:
            raise Refused("usage", f"--days: from 1 to {longest_life().days}.")
        with transaction.atomic():
            owner = service_account(campaign=campaign, name=options["name"], role=ROLES[scope])
            scopes = {Scope.READ, scope}
            token, raw = make_token(
                user=owner, name=options["name"], scopes=scopes, expires_at=now() + timedelta(days=days)
            )
        self.stdout.write(raw)
        until = f"{token.expires_at:%Y-%m-%d}"
        self.say(
            f"A token of {owner.username}, {ROLES[scope]} of {campaign.slug}, until {until}. It is shown once."
        )
        if settings.REQUIRE_MFA and lacks_second_factor(owner):
            self.say("REQUIRE_MFA is on: a token of an organizer works only if its owner has a second factor.")
