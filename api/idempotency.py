"""Writes that are done once, however often they are sent: the `Idempotency-Key` header.

A claim in the cache keeps twins away, and ends by itself: a request that died has no effects, and after `LEASE` the
next one with its key does the work. The answer is kept in the transaction of the effects, once for each key: of two
requests that both do the work, one has no effects. A refused request has written nothing, and its key is free again.
"""

import re
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta
from hashlib import sha256
from http import HTTPStatus
from typing import Any, cast

from cryptography.fernet import InvalidToken
from django.core.cache import cache
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


def once(request: Request, sent: str, prepare: Callable[[], Doing], *, together: bool) -> HttpResponse:
    """Do a write, or return what it was answered when it was done.

    `prepare` plans, which may take long, and returns what writes. `together`: the effects and the answer are one
    transaction. Without that the effects must be such that doing them again changes nothing.
    """
    key = _key_of(request)
    if key is None:
        return prepare()()
    # Here and not only by the command `apply_retention`: an old key must be free even where nobody runs that.
    old_keys(now()).delete()
    user = cast(User, request.user)
    answers = IdempotencyKey.objects.filter(user=user, key=key)
    claim = f"api-write-{user.pk}-{sha256(key.encode()).hexdigest()}"
    # Read first: an answer is there for good, and costs no claim.
    if not answers.exists() and not cache.add(claim, sent, LEASE.total_seconds()):
        raise BeingDone if cache.get(claim, sent) == sent else KeyReused
    try:
        if answer := answers.first():
            return _replayed(answer, sent)
        do = prepare()
        with transaction.atomic() if together else nullcontext():
            response = do()
            _keep(response, user=user, key=key, sent=sent)
        return response
    # After a refusal or a fault too, or the key would be taken until the claim ends. With `together` nothing is
    # written; an import that was committed already changes nothing when it is done again.
    finally:
        cache.delete(claim)


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


def _keep(response: HttpResponse, **sent: Any) -> None:
    """Keep the answer. Raises `BeingDone` where another request has taken the key over and was done first."""
    headers = {name: response[name] for name in KEPT_HEADERS if name in response}
    body = seal(PURPOSE, response.content.decode())
    try:
        with transaction.atomic():
            IdempotencyKey.objects.create(
                **sent, status=response.status_code, headers=headers, body=body, created_at=now()
            )
    except IntegrityError:
        raise BeingDone from None


def _replayed(answer: IdempotencyKey, sent: str) -> HttpResponse:
    if answer.sent != sent:
        raise KeyReused
    try:
        body = unseal(PURPOSE, answer.body)
    except InvalidToken as error:
        raise AnswerLost from error
    response = HttpResponse(body, status=answer.status, content_type="application/json")
    for name, value in answer.headers.items():
        response[name] = value
    response[REPLAYED] = "true"
    return response
