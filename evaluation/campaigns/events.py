"""Events for an audit: the lines of the audit log and the events of the database, as one list.

Calls of LLMs and answers to practice are events too, and no acts: there may be millions, and they are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.campaigns.contents import IMPORT_EVENTS
from evaluation.models import Campaign, Event, Membership, Task
from evaluation.rules.protocol import recorded_differences
from evaluation.terms import TASK_EVENTS, Role
from web.audit_log import AuditLine, read_end, time_of

ACTS = (
    *(
        "campaign.made",
        "campaign.changed",
        "campaign.loaded",
        "campaign.deleted",
        "protocol.changed",
        "protocol.defaults_changed",
    ),
    "member.added",
    "member.removed",
    "invitation.made",
    "invitation.accepted",
    "invitation.revoked",
    "member.languages",
    "campaign.language",
    *(
        *TASK_EVENTS,
        "task.counts",
        "import.taken_back",
        "study.created",
        "battles.drawn",
        "battles.grown",
        "battles.sampled",
        "pair.adjudicated",
        "job.started",
    ),
    "gate.accepted",
    "drafts.taken",
    "connection.made",
    "connection.tested",
    "judge.made",
    *IMPORT_EVENTS,
)
LONGEST = 300
SEEING = (Role.ORGANIZER, Role.AUDITOR)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the audit. `record`: the place where it is kept, `log` or `database`."""

    at: datetime
    who: str
    what: str
    about: str
    old: str
    new: str
    address: str
    campaign: str
    record: str


@dataclass(frozen=True, slots=True)
class Entries:
    """A page of entries, the newest first. `until`: where the next page begins, None at the end.

    `log_begins`: moment before which this page lacks lines of the log, in older files; None: it lacks none.
    """

    rows: list[Entry]
    until: datetime | None = None
    log_begins: datetime | None = None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Filter of events: a person by key, a kind or its beginning, from `since` until before `until`."""

    person: int | None = None
    kind: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def takes_kind(self, kind: str) -> bool:
        return not self.kind or kind == self.kind or kind.startswith(f"{self.kind}.")

    def takes_line(self, line: AuditLine, slug: str) -> bool:
        return (
            (not slug or line.get("campaign") == slug)
            and (self.person is None or line.get("actor") == f"user:{self.person}")
            and self.takes_kind(str(line.get("kind", "")))
            and (self.since is None or time_of(line) >= self.since)
            and (self.until is None or time_of(line) < self.until)
        )


def may_audit(viewer: User, campaign: Campaign) -> bool:
    seen = within(viewer, campaign)
    if viewer.is_superuser:
        return seen.exists()
    return Membership.objects.filter(campaign__in=seen, user=viewer, role__in=SEEING).exists()


def entries_for(viewer: User, campaign: Campaign | None, event_filter: EventFilter, most: int) -> Entries:
    """Return the entries of a campaign that the viewer may audit; None: of all, for administrators only."""
    if campaign is None:
        events, slug = Event.objects.all() if viewer.is_superuser else Event.objects.none(), ""
    else:
        events, slug = Event.objects.filter(campaign__in=within(viewer, campaign)), campaign.slug
    if not (viewer.is_superuser if campaign is None else may_audit(viewer, campaign)):
        return Entries([])
    log = read_end()
    lines = [line for line in log.lines if event_filter.takes_line(line, slug)]
    rows = [*_of_log(lines[:most]), *_of_events(_matching(events, event_filter)[:most])]
    rows.sort(key=lambda entry: entry.at, reverse=True)
    entries = _with_its_moment(rows, most)
    until = entries[-1].at if len(entries) >= most else None
    # A full page reaches back to its last row, the last page to where its filter begins.
    oldest = until or event_filter.since
    lacks_lines = log.begins is not None and (oldest is None or oldest < log.begins)
    return Entries(entries, until, log.begins if lacks_lines else None)


def people_of(viewer: User, campaign: Campaign | None) -> list[User]:
    """Return the people to filter by: the campaign's, or everybody for an administrator."""
    if campaign is None:
        return list(User.objects.order_by("username")) if viewer.is_superuser else []
    seen = within(viewer, campaign)
    members = Membership.objects.filter(campaign__in=seen).values_list("user", flat=True)
    working = Task.objects.filter(campaign__in=seen).order_by().values_list("assessor", flat=True)
    return list(User.objects.filter(pk__in={*members, *working}).order_by("username"))


def _matching(events: QuerySet[Event], event_filter: EventFilter) -> QuerySet[Event]:
    rows = events.filter(kind__in=filter(event_filter.takes_kind, ACTS))
    if event_filter.person:
        rows = rows.filter(actor=event_filter.person)
    if event_filter.since:
        rows = rows.filter(at__gte=event_filter.since)
    if event_filter.until:
        rows = rows.filter(at__lt=event_filter.until)
    return rows.select_related("actor", "campaign").order_by("-id")


def _with_its_moment(rows: list[Entry], most: int) -> list[Entry]:
    """Return the first rows, and all of the same moment as the last: the next page begins before it."""
    if len(rows) <= most:
        return rows
    last = rows[most - 1].at
    return [row for number, row in enumerate(rows) if number < most or row.at == last]


def _of_log(lines: Sequence[AuditLine]) -> Iterator[Entry]:
    keys = {key for line in lines for name in ("actor", "about") if (key := _key(line.get(name))) is not None}
    names = {user.pk: user.name for user in User.objects.filter(pk__in=keys)}
    for line in lines:
        yield Entry(
            at=time_of(line),
            who=_name(line.get("actor"), names),
            what=str(line.get("kind", "")),
            about=_about(line, names),
            old="",
            new=str(line.get("role", "")),
            address=str(line.get("address", "")),
            campaign=str(line.get("campaign", "")),
            record="log",
        )


def _about(line: AuditLine, names: dict[int, str]) -> str:
    parts = [_name(line["about"], names)] if "about" in line else []
    parts += [str(line[name]) for name in ("command", "method", "path", "status") if name in line]
    return " ".join(parts)[:LONGEST]


def _key(reference: object) -> int | None:
    kind, _, key = str(reference).partition(":")
    # Up to 18 digits: a longer number is no key, and SQLite cannot even be asked for it.
    return int(key) if kind == "user" and key.isascii() and key.isdigit() and len(key) < 19 else None


def _name(reference: object, names: dict[int, str]) -> str:
    key = _key(reference)
    return names.get(key, str(reference)) if key is not None else str(reference)


def _of_events(events: QuerySet[Event]) -> Iterator[Entry]:
    rows = list(events)
    about = {event.payload.get("user") for event in rows if isinstance(event.payload.get("user"), int)}
    names = {user.pk: user.name for user in User.objects.filter(pk__in=about)}
    for event in rows:
        old, new = _old_and_new(event.kind, event.payload)
        yield Entry(
            at=event.at,
            who=event.actor.name if event.actor else "",
            what=event.kind,
            about=_what_about(event.payload, names)[:LONGEST],
            old=old[:LONGEST],
            new=new[:LONGEST],
            address="",
            campaign=event.campaign.slug if event.campaign else "",
            record="database",
        )


def _what_about(payload: dict[str, Any], names: dict[int, str]) -> str:
    parts = [names.get(payload["user"], "")] if "user" in payload else []
    parts += [
        f"{name} {payload[name]}"
        for name in ("topic", "task", "title", "name", "version", "reason")
        if payload.get(name)
    ]
    files = payload.get("files")
    if isinstance(files, list):
        parts += [str(file.get("name", "")) for file in files if isinstance(file, dict)]
    return "; ".join(part for part in parts if part)


def _old_and_new(kind: str, payload: dict[str, Any]) -> tuple[str, str]:
    if kind == "protocol.changed":
        changes = recorded_differences(payload)
        return (
            "; ".join(f"{change.setting.label}: {_short(change.was)}" for change in changes),
            "; ".join(f"{change.setting.label}: {_short(change.becomes)}" for change in changes),
        )
    if kind == "task.rescheduled":
        return str(payload.get("was") or "no date"), str(payload.get("due") or "no date")
    if kind in ("member.languages", "campaign.language"):
        now = payload.get("languages") or payload.get("language") or ""
        return str(payload.get("before") or "any"), str(now or "any")
    if kind in ("member.added", "member.removed"):
        role = str(payload.get("role", ""))
        return ("", role) if kind == "member.added" else (role, "")
    after = kind.removeprefix("task.") if kind.startswith("task.") and "before" in payload else ""
    return str(payload.get("before") or payload.get("was") or ""), after


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
