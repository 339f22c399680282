"""Writes that are done once, however often they are sent: the `Idempotency-Key` header.

A key is claimed in a short transaction of its own, so that a twin that comes meanwhile is told so at once. The answer
is kept in the transaction of the effects. A request that dies leaves a claim without an answer and no effects; after
`LEASE` the next one with the key does the work, and the dead one, should it still live, can no more commit its own.
A refused request has written nothing, and its key is free again.
"""

import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import cast

from cryptography.fernet import InvalidToken
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.timezone import now
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from accounts.caching import seal, unseal
from accounts.models import User
from api.models import IdempotencyKey

LEASE = timedelta(minutes=2)
"""After so long a write without an answer counts as dead. No request of a web process lives longer."""

KEPT = timedelta(hours=24)
KEY = re.compile(r"[\x21-\x7e]{1,255}")
# Headers that belong to an answer; the others are made for each request anew.
KEPT_HEADERS = ("Location", "ETag")
PURPOSE = "kept answer"
REPLAYED = "Idempotency-Replayed"

Doing = Callable[[], HttpResponse]


class BadIdempotencyKey(APIException):
    status_code = HTTPStatus.BAD_REQUEST
    default_code = "bad_idempotency_key"
    default_detail = "An Idempotency-Key has 1 to 255 visible ASCII characters."


class KeyReused(APIException):
    status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    default_code = "idempotency_key_reused"
    default_detail = "This Idempotency-Key belongs to another request. Nothing was done; use a new key."


class BeingDone(APIException):
    status_code = HTTPStatus.CONFLICT
    default_code = "idempotency_key_in_use"
    default_detail = "A request with this Idempotency-Key is being worked on. Send it again in a moment."
    wait = 1


class AnswerLost(APIException):
    """A finished write whose kept answer was sealed with an earlier SECRET_KEY."""

    status_code = HTTPStatus.CONFLICT
    default_code = "idempotency_answer_lost"
    default_detail = "This was done, and its answer cannot be read any more: the server has another SECRET_KEY."


@dataclass(frozen=True, slots=True)
class Claim:
    pk: int
    attempt: int

    def keep(self, response: HttpResponse) -> None:
        """Keep the answer. Raises `BeingDone` where another request has taken the key over."""
        held = IdempotencyKey.objects.filter(pk=self.pk, attempt=self.attempt, status=None)
        headers = {name: response[name] for name in KEPT_HEADERS if name in response}
        body = seal(PURPOSE, response.content.decode())
        if not held.update(status=response.status_code, headers=headers, body=body):
            raise BeingDone

    def release(self) -> None:
        IdempotencyKey.objects.filter(pk=self.pk, attempt=self.attempt, status=None).delete()


def once(request: Request, sent: str, prepare: Callable[[], Doing], *, together: bool) -> HttpResponse:
    """Do a write, or return what it was answered when it was done.

    `prepare` plans, which may take long, and returns what writes. `together`: the effects and the answer are one
    transaction. Without that the effects must be such that doing them again changes nothing.
    """
    key = _key_of(request)
    if key is None:
        return prepare()()
    claim = _claimed(cast(User, request.user), key, sent)
    if isinstance(claim, HttpResponse):
        return claim
    try:
        do = prepare()
        with transaction.atomic() if together else nullcontext():
            response = do()
            # In the transaction of the effects: a process that dies between the two would leave effects without an
            # answer, and the client's next try would do them twice.
            claim.keep(response)
        return response
    # SystemExit too, or the key would be taken until its lease ends. With `together` nothing is written; an import that
    # was committed already changes nothing when it is done again.
    except BaseException:
        claim.release()
        raise


def old_keys(moment: datetime) -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(created_at__lt=moment - KEPT)


def _key_of(request: Request) -> str | None:
    """Return the key of a request. The IETF's draft quotes it, as a structured field; many clients send it bare."""
    header = request.headers.get("Idempotency-Key")
    if header is None:
        return None
    key = header[1:-1] if len(header) > 2 and header[0] == header[-1] == '"' else header
    if not KEY.fullmatch(key):
        raise BadIdempotencyKey
    return key


def _claimed(user: User, key: str, sent: str) -> Claim | HttpResponse:
    moment = now()
    # Here and not only by the command `apply_retention`: an old key must be free even where nobody runs that.
    old_keys(moment).delete()
    mine = IdempotencyKey.objects.filter(user=user, key=key)
    # Read first: a twin that holds SQLite's write lock does not keep a reader waiting.
    found = mine.first() or _new(user, key, sent, moment) or mine.first()
    if isinstance(found, Claim):
        return found
    if found is None:
        raise BeingDone
    if found.sent != sent:
        raise KeyReused
    if found.status is not None:
        return _replayed(found)
    return _taken_over(found, moment)


def _new(user: User, key: str, sent: str, moment: datetime) -> Claim | None:
    # The constraint decides between twins that both read nothing. In a savepoint, because PostgreSQL ends the whole
    # transaction with a statement that failed.
    try:
        with transaction.atomic():
            made = IdempotencyKey.objects.create(user=user, key=key, sent=sent, begun_at=moment, created_at=moment)
    except IntegrityError:
        return None
    return Claim(made.pk, made.attempt)


def _taken_over(found: IdempotencyKey, moment: datetime) -> Claim:
    # A condition in the UPDATE, not a lock: of several that find the same dead attempt, only one changes the row.
    dead = IdempotencyKey.objects.filter(
        pk=found.pk, attempt=found.attempt, status=None, begun_at__lte=moment - LEASE
    )
    if not dead.update(attempt=found.attempt + 1, begun_at=moment):
        raise BeingDone
    return Claim(found.pk, found.attempt + 1)


def _replayed(found: IdempotencyKey) -> HttpResponse:
    try:
        body = unseal(PURPOSE, found.body)
    except InvalidToken as error:
        raise AnswerLost from error
    response = HttpResponse(body, status=found.status, content_type="application/json")
    for name, value in found.headers.items():
        response[name] = value
    response[REPLAYED] = "true"
    return response
