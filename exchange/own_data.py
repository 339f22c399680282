"""Everything that is stored about one person, as a ZIP of JSON, for that person.

It holds their account, acts and texts, and nothing of others: no runs, no labels but their own, no names of those who
judged the same. Answers and passages are named as the person's desk names them.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from accounts.models import ApiToken, Invitation, User
from assessor.models import (
    MarkedPassage,
    Operation,
    PracticeAnswer,
    TimeSegment,
    WorkingAssignment,
    WorkingJudgment,
    WorkingNugget,
    WorkingSupport,
)
from evaluation.models import Event, Membership, Remark, Submission, Task
from reports.models import Adjudication

IN_MEMORY = 4_000_000
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


def _rows(model: type[Model], owner: str, *fields: str, by: str = "pk") -> Callable[[User], Rows]:
    """Reader of a person's rows of a table; `owner` is the way from a row to its person.

    The columns are named one by one: a new column of a table leaves only when somebody decides that it may.
    """

    def read(user: User) -> Rows:
        rows = model._default_manager.filter(**{owner: user}).order_by(by)
        return rows.values(*fields).iterator()

    return read


def _of_all(*parts: Callable[[User], Rows]) -> Callable[[User], Rows]:
    return lambda user: chain.from_iterable(rows(user) for rows in parts)


TASK, OWNER = "task__public_id", "task__assessor"
PARTS: dict[str, Callable[[User], Rows]] = {
    "account": _account,
    "sign-in": _of_all(
        _rows(Authenticator, "user", "type", "created_at", "last_used_at"),
        _rows(SocialAccount, "user", "provider", "uid", "last_login", "date_joined"),
    ),
    "tokens": _rows(
        *(ApiToken, "user", "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at"),
        by="-pk",
    ),
    "campaigns": _rows(Membership, "user", "campaign__slug", "campaign__name", "role", "languages"),
    "invitations": _rows(
        *(Invitation, "accepted_by", "campaign__slug", "role", "email", "name", "made_at", "accepted_at"), by="-pk"
    ),
    # No topic id of the track, by which published qrels and runs of the topic are found, and nothing of the planning.
    "tasks": _rows(
        *(Task, "assessor", "public_id", "campaign__slug", "stage", "state", "version", "due"),
        "blocked_reason",
        "reopened_reason",
        "opened_at",
    ),
    "submissions": _rows(Submission, OWNER, TASK, "version", "labels", "at", by="version"),
    "operations": _rows(
        *(Operation, OWNER, TASK, "submission", "seq", "kind", "payload", "before", "after", "source", "window"),
        "client_at",
        "at",
    ),
    "time": _rows(
        *(TimeSegment, OWNER, TASK, "submission", "window", "number", "kind", "started_at", "ended_at", "words"),
        "blurred",
        "offline",
        "gap_answer",
        "item",
    ),
    "nuggets": _rows(
        *(WorkingNugget, OWNER, TASK, "key", "number", "text", "importance", "decision", "making", "parents"),
        "evidence",
        "weight",
        "group",
    ),
    "labels": _of_all(
        _rows(WorkingAssignment, OWNER, TASK, "answer__public_id", "nugget_version__text", "label"),
        _rows(WorkingJudgment, OWNER, TASK, "unit", "label", "extras"),
        _rows(
            *(WorkingSupport, OWNER, TASK, "sentence__answer__public_id", "sentence__index", "segment__public_id"),
            "label",
            "shown_label",
            "shown_ms",
            "accepted",
            "evidence",
        ),
    ),
    "passages": _rows(MarkedPassage, OWNER, TASK, "segment__public_id", "mark"),
    "remarks": _rows(Remark, OWNER, TASK, "kind", "about", "text", "at", "answered_at", "answer"),
    "practice": _rows(PracticeAnswer, "user", "item__public_id", "label", "given_at"),
    # Without the pairs, which hold labels of others.
    "verdicts": _rows(Adjudication, "actor", "campaign__slug", "verdict", "category", "note", "at"),
    # Without the payloads, which may name runs and other people.
    "events": _rows(Event, "actor", "campaign__slug", "kind", "at"),
}
