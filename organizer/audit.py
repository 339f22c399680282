"""Audit page and file: the end of this machine's audit log, and the events of the database.

Looks at unblinded pages are in the log alone, which stays outside the database, so that whoever can change rows cannot
change it too.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from socket import gethostname
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.access import holds_work
from evaluation.campaigns.events import Entries, EventFilter, entries_for, may_audit, people_of
from evaluation.models import Campaign
from organizer.access import get_campaign
from organizer.forms import day_field
from organizer.navigation import page_in
from web.audit_log import is_a_file
from web.csv_response import csv_response

A_PAGE = 100
MOST_IN_FILE = 20_000
AUDIT_COLUMNS = ("at", "who", "what", "about", "old", "new", "address", "campaign", "record")
AUDIT_KINDS = {
    "view.unblinded": "looked at what is unblinded",
    "view.refused": "was turned away",
    "view.as_assessor": "viewed as an assessor",
    "act": "sent something",
    "admin": "the administration",
    "account": "accounts and sign-ins",
    "member": "roles",
    "invitation": "invitations",
    "protocol": "the protocol",
    "campaign": "the campaign",
    "task": "handed-out work",
    "import": "imports",
    "export": "exports",
    "job": "LLM jobs",
    "study": "studies",
    "pair": "adjudications",
}


class AuditSearch(forms.Form):
    """Person, kind, and days from and to, both included."""

    person = forms.ChoiceField(required=False, label="Person")
    kind = forms.ChoiceField(required=False, label="What", choices=[("", "anything"), *AUDIT_KINDS.items()])
    since = day_field("From")
    to = day_field("To")

    def __init__(self, people: Iterable[User], data: Any) -> None:
        super().__init__(data)
        choices = [(str(user.pk), f"{user.name} ({user.username})") for user in people]
        self.fields["person"].choices = [("", "anybody"), *choices]  # type: ignore[attr-defined]

    def event_filter(self, until: str) -> EventFilter:
        """Filter of the valid fields; an invalid one filters nothing. `until`: moment where the previous page ended."""
        self.is_valid()
        data = self.cleaned_data
        end = _midnight(data["to"] + timedelta(days=1)) if data.get("to") else None
        return EventFilter(
            person=int(data["person"]) if data.get("person") else None,
            kind=data.get("kind", ""),
            since=_midnight(data["since"]) if data.get("since") else None,
            until=min(filter(None, (end, _moment(until))), default=None),
        )


@require_safe
@never_cache
def audit(request: UserRequest, slug: str = "") -> HttpResponse:
    campaign = _campaign(request, slug)
    search, found = _found(request, campaign, A_PAGE, request.GET.get("until", ""))
    query = request.GET.copy()
    query.pop("until", None)
    older = query.copy()
    # Pages go by moments and not by numbers: the log grows while somebody reads on.
    if found.until:
        older["until"] = found.until.isoformat()
    here = page_in(campaign, "audit_file") if campaign else reverse("organizer:site_audit_file")
    context = {
        "campaign": campaign,
        "search": search,
        "rows": found.rows,
        "older": older.urlencode() if found.until else "",
        "is_first": "until" not in request.GET,
        "file": f"{here}?{query.urlencode()}" if query else here,
        "most_in_file": MOST_IN_FILE,
        "host": gethostname(),
        "is_a_file": is_a_file(),
        "log_begins": found.log_begins,
    }
    return render(request, "organizer/audit.html", context)


@require_safe
def audit_file(request: UserRequest, slug: str = "") -> HttpResponse:
    campaign = _campaign(request, slug)
    _, found = _found(request, campaign, MOST_IN_FILE)
    rows = ([row.at.isoformat(), *(getattr(row, name) for name in AUDIT_COLUMNS[1:])] for row in found.rows)
    return csv_response(f"audit-{campaign.slug}.csv" if campaign else "audit.csv", [AUDIT_COLUMNS, *rows])


def _campaign(request: UserRequest, slug: str) -> Campaign | None:
    """Campaign to audit; None for all, which only an administrator who does not judge may see."""
    campaign = get_campaign(request.user, slug, may_audit) if slug else None
    # Lines and events name runs, so they are closed to an administrator who judges.
    if campaign is None and (not request.user.is_superuser or holds_work(request.user)):
        raise PermissionDenied
    return campaign


def _found(
    request: UserRequest, campaign: Campaign | None, most: int, until: str = ""
) -> tuple[AuditSearch, Entries]:
    search = AuditSearch(people_of(request.user, campaign), request.GET)
    return search, entries_for(request.user, campaign, search.event_filter(until), most)


def _midnight(day: date) -> datetime:
    # Days are of UTC, as the times of the page, the log and the events.
    return datetime.combine(day, time(), tzinfo=UTC)


def _moment(text: str) -> datetime | None:
    try:
        moment = parse_datetime(text)
    except ValueError:  # an address that was cut shows the newest page
        return None
    return moment if moment and moment.tzinfo else None
