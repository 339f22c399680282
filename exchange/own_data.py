"""Everything that is stored about one person, as a ZIP of JSON, for that person.

It holds what they are, did and said, and nothing of others: no runs, no labels but their own, no names of those who
judged the same. What they judged is named as their desk names it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet

from accounts.models import ApiToken, Invitation, User
from assessor.models import (
    MarkedPassage,
    Operation,
    PracticeAnswer,
    TimeSegment,
    WorkingAssignment,
    WorkingNugget,
    WorkingSupport,
)
from evaluation.models import Event, Membership, Remark, Submission, Task
from reports.models import Adjudication

IN_MEMORY = 4_000_000
CHUNK = 1000
Rows = Iterable[Mapping[str, Any]]


def own_data(user: User) -> IO[bytes]:
    file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # the response closes it
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, rows in PARTS.items():
            with archive.open(f"{name}.jsonl", "w") as part:
                for row in rows(user):
                    part.write(json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False).encode() + b"\n")
    file.seek(0)
    return file


def _account(user: User) -> Rows:
    fields = ("username", "first_name", "last_name", "email", "date_joined", "last_login", "is_active", "is_staff")
    more = ("is_superuser", "desk_settings", "notice_version", "notice_at")
    emails = EmailAddress.objects.filter(user=user).values("email", "verified", "primary")
    yield {name: getattr(user, name) for name in (*fields, *more)} | {"emails": list(emails)}


def _factors(user: User) -> Rows:
    yield from Authenticator.objects.filter(user=user).values("type", "created_at", "last_used_at")
    yield from SocialAccount.objects.filter(user=user).values("provider", "uid", "last_login", "date_joined")


def _tokens(user: User) -> Rows:
    fields = ("name", "prefix", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at")
    yield from ApiToken.objects.filter(user=user).values(*fields)


def _campaigns(user: User) -> Rows:
    yield from Membership.objects.filter(user=user).values("campaign__slug", "campaign__name", "role", "languages")


def _invitations(user: User) -> Rows:
    fields = ("campaign__slug", "role", "email", "made_at", "accepted_at")
    yield from Invitation.objects.filter(accepted_by=user).values(*fields)


def _tasks(user: User) -> Rows:
    # No topic id of the track, by which published qrels and runs of the topic are found, and nothing of the planning.
    fields = ("public_id", "campaign__slug", "stage", "state", "version", "due")
    yield from _mine(user).values(*fields, "blocked_reason", "reopened_reason", "opened_at")


def _submissions(user: User) -> Rows:
    yield from Submission.objects.filter(task__in=_mine(user)).values("task__public_id", "version", "labels", "at")


def _operations(user: User) -> Rows:
    fields = ("task__public_id", "submission", "seq", "kind", "payload", "before", "after", "source")
    rows = Operation.objects.filter(task__in=_mine(user)).order_by("pk")
    yield from _streamed(rows, *fields, "window", "client_at", "at")


def _time(user: User) -> Rows:
    fields = ("task__public_id", "submission", "window", "number", "kind", "started_at", "ended_at", "words")
    rows = TimeSegment.objects.filter(task__in=_mine(user)).order_by("pk")
    for row in _streamed(rows, *fields, "blurred", "offline", "gap_answer", "item"):
        # The file keeps the word that earlier files have.
        yield {"said" if name == "gap_answer" else name: value for name, value in row.items()}


def _nuggets(user: User) -> Rows:
    fields = (
        "task__public_id",
        "key",
        "number",
        "text",
        "importance",
        "decision",
        "making",
        "parents",
        "evidence",
    )
    yield from _streamed(WorkingNugget.objects.filter(task__in=_mine(user)).order_by("pk"), *fields)


def _labels(user: User) -> Rows:
    given = WorkingAssignment.objects.filter(task__in=_mine(user)).order_by("pk")
    fields = ("task__public_id", "answer__public_id", "nugget_version__text", "label")
    yield from _streamed(given, *fields)
    supports = WorkingSupport.objects.filter(task__in=_mine(user)).order_by("pk")
    places = ("task__public_id", "sentence__answer__public_id", "sentence__index", "segment__public_id")
    yield from _streamed(supports, *places, "label", "shown_label", "shown_ms", "accepted")


def _passages(user: User) -> Rows:
    rows = MarkedPassage.objects.filter(task__in=_mine(user)).order_by("pk")
    yield from _streamed(rows, "task__public_id", "segment__public_id", "mark")


def _remarks(user: User) -> Rows:
    fields = ("task__public_id", "kind", "about", "text", "at", "answered_at", "answer")
    yield from Remark.objects.filter(task__in=_mine(user)).order_by("pk").values(*fields)


def _practice(user: User) -> Rows:
    rows = PracticeAnswer.objects.filter(user=user).order_by("pk")
    yield from rows.values("item__public_id", "label", "given_at")


def _verdicts(user: User) -> Rows:
    # Without the pairs, which hold labels of others.
    rows = Adjudication.objects.filter(actor=user).order_by("pk")
    yield from rows.values("campaign__slug", "verdict", "category", "note", "at")


def _events(user: User) -> Rows:
    # Without the payloads, which may name runs and other people.
    yield from _streamed(Event.objects.filter(actor=user).order_by("pk"), "campaign__slug", "kind", "at")


def _mine(user: User) -> QuerySet[Task]:
    return Task.objects.filter(assessor=user).order_by("pk")


def _streamed(rows: QuerySet[Any], *fields: str) -> Iterator[Mapping[str, Any]]:
    yield from rows.values(*fields).iterator(chunk_size=CHUNK)


PARTS: dict[str, Callable[[User], Rows]] = {
    "account": _account,
    "sign-in": _factors,
    "tokens": _tokens,
    "campaigns": _campaigns,
    "invitations": _invitations,
    "tasks": _tasks,
    "submissions": _submissions,
    "operations": _operations,
    "time": _time,
    "nuggets": _nuggets,
    "labels": _labels,
    "passages": _passages,
    "remarks": _remarks,
    "practice": _practice,
    "verdicts": _verdicts,
    "events": _events,
}
