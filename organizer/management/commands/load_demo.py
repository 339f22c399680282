"""Load the demo campaign, where that is allowed."""

from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import User
from evaluation.management.base import AssayCommand
from evaluation.models import Campaign
from exchange.demo_campaign import LAST_VISIT, PASSWORD, SLUG, load_demo, logins, start_demo_jobs
from organizer.today.summary import last_visit


class Command(AssayCommand):
    help = "Load the demo campaign and its accounts, once. Prints the demo logins that exist."
    example = "manage.py load_demo"
    audited = "import"

    def act(self, options: dict[str, Any]) -> None:
        if not is_allowed():
            self.say("No demo here: it goes into the project's own SQLite file, or anywhere with DEMO=1.")
        elif load_demo():
            visit_before()
            self.say(f"The demo campaign is loaded; {start_demo_jobs()} LLM jobs wait for a worker.")
        there = logins()
        for username, role in there:
            self.stdout.write(f"  {username:<8} {role}")
        if there:
            self.stdout.write(f"  password of each: {PASSWORD}")


def visit_before() -> None:
    """Let the organizer have been on Today before, so that the page has news since then."""
    olga, campaign = User.objects.get(username="olga"), Campaign.objects.get(slug=SLUG)
    last_visit(olga, campaign, timezone.now() - LAST_VISIT)


def is_allowed() -> bool:
    return bool(settings.DEMO) or settings.DATABASES["default"]["NAME"] == str(settings.OWN_DATABASE)
