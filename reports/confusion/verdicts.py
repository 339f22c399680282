"""Verdicts of adjudicators on the compared items, and their counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import QuerySet

from accounts.models import User
from evaluation.errors import Refused
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS, LabelSet
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    NuggetVersion,
    Segment,
    Sentence,
    SupportJudgment,
)
from reports.confusion.paired_labels import ItemKind, Key, LabelComparison
from reports.models import BOTH, TAKEN_BACK, UNDECIDED, Adjudication
from reports.terms import NO_CATEGORY, category_cell, category_text
from web.text import trimmed

FIELDS = {ItemKind.NUGGETS: ("answer", "nugget_version"), ItemKind.CITATIONS: ("sentence", "segment")}
WHO = ("rows", "columns", "neither", "undecided", "both")


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer of a campaign and a nugget's wording, or a sentence and a segment that it cites."""

    campaign: Campaign
    kind: ItemKind
    provenance: AnswerProvenance
    key: Key
    nugget: NuggetVersion | None = None
    sentence: Sentence | None = None
    segment: Segment | None = None

    @property
    def labels(self) -> LabelSet:
        return NUGGET_LABELS if self.kind is ItemKind.NUGGETS else CITATION_LABELS

    @property
    def fields(self) -> dict[str, int]:
        return {f"{name}_id": pk for name, pk in zip(FIELDS[self.kind], self.key, strict=True)}


def find_pair(answers: QuerySet[AnswerProvenance], campaign: Campaign, kind: ItemKind, key: Key) -> Pair:
    """Return a pair among the answers that somebody may see. Raises DoesNotExist of what is missing."""
    if kind is ItemKind.NUGGETS:
        nugget = NuggetVersion.objects.select_related("nugget__nugget_set").get(
            pk=key[1], nugget__nugget_set__campaign=campaign
        )
        provenance = _answer(answers, key[0])
        # Both exist, but nobody was ever asked whether an answer holds a nugget of another topic.
        if nugget.nugget.topic_id != provenance.topic_id:
            raise NuggetVersion.DoesNotExist
        return Pair(campaign, kind, provenance, key, nugget=nugget)
    sentence = Sentence.objects.get(pk=key[0], answer__topic__campaign=campaign)
    segment = Segment.objects.get(pk=key[1], campaign=campaign)
    if not sentence.citations.filter(segment=segment).exists():
        raise Segment.DoesNotExist
    return Pair(campaign, kind, _answer(answers, sentence.answer_id), key, sentence=sentence, segment=segment)


def key_of(verdict: Adjudication, kind: ItemKind) -> Key:
    first, second = FIELDS[kind]
    return getattr(verdict, f"{first}_id"), getattr(verdict, f"{second}_id")


def labels_of(pair: Pair) -> list[Any]:
    labels: Any = Assignment.objects if pair.kind is ItemKind.NUGGETS else SupportJudgment.objects
    # Labels of studies repeat others on purpose; the page of their study has them.
    rows = labels.current().filter(judge__aside=False, **pair.fields).select_related("judge")
    return list(rows.order_by("judge__kind", "judge__name", "pk"))


def verdicts_on(pair: Pair) -> list[Adjudication]:
    rows = Adjudication.objects.filter(campaign=pair.campaign, **pair.fields).order_by("pk")
    return _not_taken_back(rows.select_related("actor"))[::-1]


def _not_taken_back(rows: Iterable[Adjudication]) -> list[Adjudication]:
    left: list[Adjudication] = []
    for row in rows:
        if row.verdict != TAKEN_BACK:
            left.append(row)
        elif left:
            left.pop()
    return left


def newest_verdicts(campaign: Campaign, kind: ItemKind, alias: str = DEFAULT_DB_ALIAS) -> dict[Key, Adjudication]:
    """Return the verdict that counts of each pair, by the pair's primary keys; one query for a whole matrix."""
    if kind not in FIELDS:
        return {}
    rows = Adjudication.objects.using(alias).filter(campaign=campaign, **{f"{FIELDS[kind][0]}__isnull": False})
    of_pair: dict[Key, list[Adjudication]] = defaultdict(list)
    for row in rows.order_by("pk").select_related("actor"):
        of_pair[key_of(row, kind)].append(row)
    counting = {key: _not_taken_back(written) for key, written in of_pair.items()}
    return {key: left[-1] for key, left in counting.items() if left}


def adjudicate(pair: Pair, *, verdict: int, category: str, note: str, actor: User) -> Adjudication | None:
    """Say what is right of a pair, and why judges differ; None where the newest verdict says the same by the same.

    Raises `Refused` (`no_label`) for a pair that nobody has labelled.
    """
    with transaction.atomic():
        # The lock of the campaign: a label must not change between the verdict and the note of what it was about.
        Campaign.objects.select_for_update().get(pk=pair.campaign.pk)
        labels = labels_of(pair)
        if not labels:
            raise Refused("no_label", "Nobody has labelled this pair, so there is nothing to decide.")
        decision = {"verdict": verdict, "category": category, "note": trimmed(note)}
        newest = next(iter(verdicts_on(pair)), None)
        if (
            newest
            and newest.actor_id == actor.pk
            and all(getattr(newest, name) == decision[name] for name in decision)
        ):
            # Pressed twice, or sent again by a browser: one verdict, one event.
            return None
        return _write(pair, labels, decision, actor)


def take_back(pair: Pair, *, actor: User) -> Adjudication:
    """Take back the verdict that counts, so that the one before it counts again.

    Raises `Refused` (`not_yours`) where somebody else gave it, or there is none.
    """
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=pair.campaign.pk)
        newest = next(iter(verdicts_on(pair)), None)
        if newest is None or newest.actor_id != actor.pk:
            text = "Only a verdict of your own can be taken back, and only the newest of its pair."
            raise Refused("not_yours", text)
        decision = {"verdict": TAKEN_BACK, "category": newest.category, "note": ""}
        return _write(pair, labels_of(pair), decision, actor)


def _write(pair: Pair, labels: list[Any], decision: dict[str, Any], actor: User) -> Adjudication:
    labels = [
        {"judge": row.judge_id, "condition": getattr(row, "condition", ""), "label": row.label} for row in labels
    ]
    # Without the note: events are exported, and a note may quote a text under a licence.
    payload = pair.fields | {"verdict": decision["verdict"], "category": decision["category"]}
    event = Event.objects.create(campaign=pair.campaign, kind="pair.adjudicated", actor=actor, payload=payload)
    return Adjudication.objects.create(
        campaign=pair.campaign, **pair.fields, **decision, labels=labels, actor=actor, event=event
    )


def _answer(answers: QuerySet[AnswerProvenance], pk: int) -> AnswerProvenance:
    return answers.select_related("answer", "run", "topic").get(pk=pk)


def verdicts_at(campaign: Campaign, compared: LabelComparison) -> dict[int, Adjudication]:
    """Return the verdicts on the items that are looked at, by the item's place."""
    verdicts = newest_verdicts(campaign, compared.matched.kind)
    if not verdicts:
        return {}
    places = compared.places(np.array(list(verdicts), dtype=np.int64).reshape(-1, 2))
    looked = compared.mask & compared.matched.both
    return {
        place: verdict
        for place, verdict in zip(places.tolist(), verdicts.values(), strict=True)
        if place >= 0 and looked[place]
    }


def category_counts(compared: LabelComparison, verdicts: dict[int, Adjudication]) -> list[dict[str, Any]]:
    """Return the categories of the pairs on which the two sides differ, counted by the side found right.

    Most frequent first; `cell` is the address of their pairs.
    """
    left, right, codes = compared.matched.left, compared.matched.right, compared.matched.codes
    counted: Counter[tuple[str, str]] = Counter()
    for place, verdict in verdicts.items():
        # A verdict on equal labels gives no reason why they differ, even if it finds both wrong.
        if left[place] != right[place]:
            counted[verdict.category, _who(verdict.verdict, codes[left[place]], codes[right[place]])] += 1
    rows = []
    for name in {category for category, _ in counted}:
        by_side = {who: counted[name, who] for who in WHO}
        text = category_text(name) or NO_CATEGORY
        rows.append({"category": text, "pairs": sum(by_side.values())} | by_side | {"cell": category_cell(name)})
    return sorted(rows, key=lambda row: (-row["pairs"], row["category"]))


def _who(verdict: int, left: int, right: int) -> str:
    return {UNDECIDED: "undecided", BOTH: "both", left: "rows", right: "columns"}.get(verdict, "neither")
