"""Audit page and file: the audit log of this machine and the events of the database."""

import csv
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from socket import gethostname
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.access import holds_work
from evaluation.campaigns.events import Entry, EventFilter, entries_for, may_audit, people_of
from evaluation.models import Campaign
from organizer import access as organizer_access
from web.audit_log import is_a_file
from web.csv_response import safe_cell

A_PAGE = 100
MOST_IN_FILE = 20_000
COLUMNS = ("at", "who", "what", "about", "old", "new", "address", "campaign", "record")
KINDS = {
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


class _Echo:
    """File object that returns each row, so that `csv.writer` can stream."""

    def write(self, row: str) -> str:
        return row


class AuditSearch(forms.Form):
    """Person, kind, and days from and to, both included."""

    person = forms.ChoiceField(required=False, label="Person")
    kind = forms.ChoiceField(required=False, label="What", choices=[("", "anything"), *KINDS.items()])
    since = forms.DateField(required=False, label="From", widget=forms.DateInput({"type": "date"}))
    to = forms.DateField(required=False, label="To", widget=forms.DateInput({"type": "date"}))

    def __init__(self, people: Iterable[User], data: Any) -> None:
        super().__init__(data)
        named = [(str(user.pk), f"{user.name} ({user.username})") for user in people]
        self.fields["person"].choices = [("", "anybody"), *named]  # type: ignore[attr-defined]

    def event_filter(self, until: str) -> EventFilter:
        """Filter of the valid fields; an invalid one filters nothing. `until`: moment where the previous page ended."""
        self.is_valid()
        data = self.cleaned_data
        to = data.get("to")
        end = _midnight(to + timedelta(days=1)) if to else None
        before = _moment(until)
        return EventFilter(
            person=int(data["person"]) if data.get("person") else None,
            kind=data.get("kind", ""),
            since=_midnight(data["since"]) if data.get("since") else None,
            until=min(filter(None, (end, before)), default=None),
        )


@require_safe
@never_cache
def audit(request: UserRequest, slug: str) -> HttpResponse:
    return _page(request, _campaign(request, slug))


@require_safe
def audit_file(request: UserRequest, slug: str) -> StreamingHttpResponse:
    return _file(request, _campaign(request, slug))


@require_safe
@never_cache
def site_audit(request: UserRequest) -> HttpResponse:
    _check_administrator(request)
    return _page(request, None)


@require_safe
def site_audit_file(request: UserRequest) -> StreamingHttpResponse:
    _check_administrator(request)
    return _file(request, None)


def _campaign(request: UserRequest, slug: str) -> Campaign:
    campaign = organizer_access.get_campaign(request.user, slug)
    if not may_audit(request.user, campaign):
        raise PermissionDenied
    return campaign


def _check_administrator(request: UserRequest) -> None:
    if not request.user.is_superuser or holds_work(request.user):
        raise PermissionDenied


def _page(request: UserRequest, campaign: Campaign | None) -> HttpResponse:
    search = AuditSearch(people_of(request.user, campaign), request.GET)
    found = entries_for(request.user, campaign, search.event_filter(request.GET.get("until", "")), A_PAGE)
    query = request.GET.copy()
    query.pop("until", None)
    older = query.copy()
    if found.until:
        older["until"] = found.until.isoformat()
    here = (
        reverse("organizer:audit_file", args=[campaign.slug]) if campaign else reverse("organizer:site_audit_file")
    )
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
    }
    return render(request, "organizer/audit.html", context)


def _file(request: UserRequest, campaign: Campaign | None) -> StreamingHttpResponse:
    search = AuditSearch(people_of(request.user, campaign), request.GET)
    found = entries_for(request.user, campaign, search.event_filter(""), MOST_IN_FILE)
    name = f"audit-{campaign.slug}.csv" if campaign else "audit.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(_csv(found.rows), content_type="text/csv; charset=utf-8", headers=headers)


def _csv(rows: list[Entry]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(COLUMNS)
    for row in rows:
        cells = [row.at.isoformat(), *(getattr(row, name) for name in COLUMNS[1:])]
        # A spreadsheet would run a cell that looks like a formula.
        yield writer.writerow([safe_cell(cell) for cell in cells])


def _midnight(day: Any) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found and found.tzinfo else None
