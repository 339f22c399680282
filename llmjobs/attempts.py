"""Each time that a call is sent, on record before it is."""

from collections.abc import Sequence

from django.db.models import Max

from llmjobs import calls
from llmjobs.models import Attempt, Call
from llmjobs.sending import Sending


def note_sending(out: Sequence[Sending]) -> None:
    fresh = [one.call.pk for one in out if one.attempt is None]
    last = dict(Attempt.objects.filter(call__in=fresh).values_list("call").annotate(n=Max("number")).order_by())
    numbers = {one.call.pk: (one.attempt.number if one.attempt else last.get(one.call.pk, 0)) + 1 for one in out}
    attempts = calls.note_sending([one.call for one in out], numbers) if out else []
    for one, attempt in zip(out, attempts, strict=True):
        one.attempt = attempt


def attempt_of(sending: Sending) -> Attempt:
    if sending.attempt is None:
        raise RuntimeError("a call was sent without being written first")
    return sending.attempt


def last_error(call: Call) -> str:
    attempt = call.attempts.last()
    return f"{attempt.error}: {attempt.message}" if attempt else "given up"
