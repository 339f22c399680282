"""Take away what serves no more: ended sessions, invitations, tokens, and answers of the API that were kept."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management.base import CommandParser
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.timezone import now

from accounts.models import ApiToken, Cached, Invitation
from api.idempotency import old_keys
from evaluation.errors import Refused
from evaluation.management.base import AssayCommand
from web.environment import LONGEST_DAYS


class Command(AssayCommand):
    help = (
        "Delete ended sessions, and invitations and tokens that ended long ago. Labels and logs are never touched."
    )
    example = "manage.py apply_retention --dry-run"

    def add_arguments(self, parser: CommandParser) -> None:
        days = settings.RETENTION_DAYS
        parser.add_argument("--days", type=int, default=days, help=f"how long they are kept (default: {days})")
        parser.add_argument("--dry-run", action="store_true", help="say what would go, and delete nothing")

    def act(self, options: dict[str, Any]) -> None:
        if not 1 <= options["days"] <= LONGEST_DAYS:
            raise Refused("usage", f"--days: from 1 to {LONGEST_DAYS}.")
        verb = "would go" if options["dry_run"] else "gone"
        with transaction.atomic():
            for name, rows in _ended(options["days"]).items():
                # Not the count of delete(), which includes the rows that hang on these.
                count = rows.count()
                if not options["dry_run"]:
                    rows.delete()
                self.stdout.write(f"{name}\t{count}\t{verb}")


def _ended(days: int) -> dict[str, QuerySet[Any]]:
    """Return what has ended: at once what only slows things down, after some days what one may still ask about."""
    moment = now()
    before = moment - timedelta(days=days)
    done = Q(accepted_at__lt=before) | Q(revoked_at__lt=before) | Q(expires_at__lt=before)
    return {
        "sessions": Session.objects.filter(expire_date__lt=moment),
        "attempts": Cached.objects.filter(expires__lt=moment),
        "invitations": Invitation.objects.filter(done),
        "answers": old_keys(moment),
        "tokens": ApiToken.objects.filter(Q(revoked_at__lt=before) | Q(expires_at__lt=before)),
    }
