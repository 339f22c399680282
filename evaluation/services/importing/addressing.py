"""Findings about texts that seem to address their judge: of what is loaded already, and of texts that are replaced."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from django.db import transaction
from django.db.models import F

from accounts.models import User
from evaluation.formats.addressing import (
    addressing_in_answer,
    addressing_in_segment,
    docid_in,
    signs_in,
    signs_in_answer,
)
from evaluation.models import AnswerProvenance, Campaign, Event, Finding, Sentence
from evaluation.services.importing.base import Found, store_findings
from evaluation.terms import FindingCode

CODE = FindingCode.ADDRESSES_JUDGE
CHUNK = 5_000


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of looking: how many texts address their judge, and how the findings changed."""

    found: int
    added: int
    removed: int

    def __str__(self) -> str:
        changed = f"{self.added:,} findings added, {self.removed:,} removed" if self.added or self.removed else ""
        return f"{self.found:,} places seem to address a judge. {changed or 'Nothing changed'}."


def look_for_addressing(*, campaign: Campaign, actor: User | None = None) -> Looked:
    """Look through all loaded answers and passages; note what is new, and take away what is not there any more.

    Labels stay as they are. Without a change there is no event.
    """
    found = {(one.run_id, one.topic_id, one.message): one for one in _loaded(campaign)}
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        rows = Finding.objects.filter(campaign=locked, code=CODE).values_list(
            "run_id", "topic_id", "message", "pk"
        )
        there = {(run_id, topic_id, message): pk for run_id, topic_id, message, pk in rows}
        new = [one for key, one in found.items() if key not in there]
        gone = [pk for key, pk in there.items() if key not in found]
        if new or gone:
            payload = {"code": CODE.value, "added": len(new), "removed": len(gone)}
            event = Event.objects.create(campaign=locked, kind="texts.checked", actor=actor, payload=payload)
            store_findings(locked, event, new)
            Finding.objects.filter(pk__in=gone).delete()
            Campaign.objects.filter(pk=locked.pk).update(revision=F("revision") + 1)
    return Looked(len(found), len(new), len(gone))


def forget_addressing(campaign: Campaign, docids: Collection[str]) -> None:
    """Take away what was found in texts that are replaced now."""
    if docids:
        rows = Finding.objects.filter(campaign=campaign, code=CODE, run_id="").values_list("pk", "message")
        replaced = set(docids)
        Finding.objects.filter(pk__in=[pk for pk, message in rows if docid_in(message) in replaced]).delete()


def _loaded(campaign: Campaign) -> Iterator[Found]:
    yield from _in_answers(campaign)
    segments = campaign.segments.filter(has_text=True).order_by("pk").values_list("docid", "text")
    for docid, text in segments.iterator(chunk_size=CHUNK):
        for sign in signs_in(text):
            yield Found(CODE, docid, None, addressing_in_segment(docid, sign))


def _in_answers(campaign: Campaign) -> Iterator[Found]:
    given = AnswerProvenance.objects.filter(run__campaign=campaign)
    rows = given.values_list("answer", "run__run_id", "topic__topic_id", "line")
    places = {answer: (run_id, topic_id, line) for answer, run_id, topic_id, line in rows}
    sentences = Sentence.objects.filter(answer__topic__campaign=campaign).order_by("answer", "index")
    texts = sentences.values_list("answer", "text").iterator(chunk_size=CHUNK)
    for answer, some in groupby(texts, key=itemgetter(0)):
        run_id, topic_id, line = places[answer]
        for number, sign in signs_in_answer([text for _, text in some]):
            yield Found(CODE, run_id, line, addressing_in_answer(number, sign), topic_id, run_id)
