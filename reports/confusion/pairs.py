"""The pairs behind a cell of a confusion, in the order of reading, with their texts."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import QuerySet

from accounts.models import User
from evaluation.domain.conditions import Choice
from evaluation.models import AnswerProvenance, NuggetVersion, Segment, Sentence, Topic
from reports.confusion.page import ConfusionPage
from reports.confusion.paired_labels import ItemKind, Key, LabelComparison, side_label
from reports.frames import Ints
from reports.metrics.arrays import Booleans
from reports.metrics.confusion import harsh_conflicts
from reports.models import Adjudication
from reports.terms import NO_CATEGORY, category_of, category_text

CELL = re.compile(r"(\d)-(\d)")
CELLS = {"differ": "different labels", "harsh": "opposite labels", "judged": "pairs with a verdict"}


class PairList:
    """The places of the pairs that a page's cell means: the harshest first, then by topic, run and item."""

    def __init__(self, page: ConfusionPage, cell: str) -> None:
        if page.compared is None:
            raise page.without_figures
        self.compared: LabelComparison = page.compared
        self.verdicts = page.verdicts
        self.category = category_of(cell)
        # An address with a cell of another scale, or a mistyped one, shows what most come for.
        is_cell = cell in CELLS or CELL.fullmatch(cell) or self.category is not None
        self.cell = cell if is_cell else "differ"

    @property
    def caption(self) -> str:
        if self.category is not None:
            why = category_text(self.category) or NO_CATEGORY
            return f"different labels: {why}"
        cell = CELL.fullmatch(self.cell)
        if not cell:
            return CELLS[self.cell]
        labels = self.compared.matched.labels
        row, column = (min(int(group), len(labels) - 1) for group in cell.groups())
        return f"{labels[row].replace('_', ' ')} by rows, {labels[column].replace('_', ' ')} by columns"

    @cached_property
    def places(self) -> Ints:
        matched = self.compared.matched
        places = np.flatnonzero(self._in_cell() & matched.both & self.compared.mask)
        # Labels furthest apart first: support against not support is where a rule or a judge is wrong, not a doubt.
        apart = np.abs(matched.left[places].astype(np.int64) - matched.right[places])
        order = np.lexsort((places, matched.run[places], matched.topic[places], -apart))
        ordered: Ints = places[order]
        return ordered

    def around(self, key: Key) -> tuple[int, Key | None, Key | None]:
        """Return a pair's place in the list, from 1 (0: nowhere), and the keys of those before and after it."""
        place = int(self.compared.places(np.array([key], dtype=np.int64))[0])
        (at,) = np.nonzero(self.places == place)
        if not len(at):
            return 0, None, None
        here = int(at[0])
        return here + 1, self._key_at(here - 1), self._key_at(here + 1)

    def label_codes(self, number: int) -> tuple[int, int]:
        matched, place = self.compared.matched, int(self.places[number - 1])
        return matched.codes[matched.left[place]], matched.codes[matched.right[place]]

    @property
    def open_numbers(self) -> list[int]:
        return [number for number, place in enumerate(self.places.tolist(), 1) if place not in self.verdicts]

    def next_open(self, after: int) -> Key | None:
        numbers = self.open_numbers
        number = next((number for number in numbers if number > after), next(iter(numbers), None))
        return None if number is None else self._key_at(number - 1)

    @property
    def first(self) -> Key | None:
        return self._key_at(0)

    def last_verdict_by(self, actor: User) -> Adjudication | None:
        listed = set(self.places.tolist())
        counting = (verdict for place, verdict in self.verdicts.items() if place in listed)
        own = (verdict for verdict in counting if verdict.actor_id == actor.pk)
        return max(own, key=lambda verdict: verdict.pk, default=None)

    def _key_at(self, number: int) -> Key | None:
        if not 0 <= number < len(self.places):
            return None
        first, second = self.compared.keys(self.places[number : number + 1])[0].tolist()
        return first, second

    def _in_cell(self) -> Booleans:
        left, right = self.compared.matched.left, self.compared.matched.right
        if self.cell == "differ":
            differ: Booleans = left != right
            return differ
        if self.cell == "harsh":
            return harsh_conflicts(left, right, len(self.compared.matched.labels))
        if self.cell == "judged":
            return self._with_verdict(list(self.verdicts))
        if self.category is not None:
            of_category = [place for place, verdict in self.verdicts.items() if verdict.category == self.category]
            of_it: Booleans = self._with_verdict(of_category) & (left != right)
            return of_it
        row, column = map(int, self.cell.split("-"))
        cell: Booleans = (left == row) & (right == column)
        return cell

    def _with_verdict(self, places: list[int]) -> Booleans:
        mask = np.zeros(len(self.compared.matched.left), dtype=np.bool_)
        mask[places] = True
        return mask


def read_pairs(
    pairs: PairList, listed: Sequence[int], answers: QuerySet[AnswerProvenance]
) -> list[dict[str, Any]]:
    """Return some pairs with their texts, in a fixed number of queries; `answers` are those the viewer may see.

    `item` is the nugget, the sentence or the topic; `texts` stand beside it.
    """
    compared, places = pairs.compared, np.array(listed, dtype=np.int64)
    left, right = compared.matched.left, compared.matched.right
    codes, words = compared.matched.codes, compared.matched.labels
    keys = [(first, second) for first, second in compared.keys(places).tolist()]
    # Each reads all pairs of the page at once: twenty pairs must not cost twenty times the queries.
    reader = {
        ItemKind.NUGGETS: _nuggets,
        ItemKind.CITATIONS: _citations,
        ItemKind.GRADES: _grades,
        ItemKind.ANSWERS: _answers,
    }
    rows = reader[compared.matched.kind](keys, answers)
    harsh = harsh_conflicts(left, right, len(words))
    return [
        row
        | {
            "key": key,
            "left": codes[left[place]],
            "right": codes[right[place]],
            "words": [words[left[place]].replace("_", " "), words[right[place]].replace("_", " ")],
            "rows_by": judge_of(compared.rows, row["topic"].pk),
            "columns_by": judge_of(compared.columns, row["topic"].pk),
            "harsh": bool(harsh[place]),
            "verdict": pairs.verdicts.get(place),
        }
        for key, place, row in zip(keys, listed, rows, strict=True)
    ]


def judge_of(side: Any, topic: int) -> str:
    """Return the judge that counts for a topic on a side: people who share a campaign's topics are one side."""
    if not isinstance(side, Choice):
        return side_label(side)
    parts = (part for part in side.parts if part.topics is None or topic in part.topics)
    return ", ".join(dict.fromkeys(part.judge.name for part in parts if part.judge))


def _nuggets(keys: Sequence[Key], answers: QuerySet[AnswerProvenance]) -> list[dict[str, Any]]:
    wordings = NuggetVersion.objects.in_bulk([wording for _, wording in keys])
    return [
        row | {"item": wordings[wording].text}
        for row, (_, wording) in zip(_answers(keys, answers), keys, strict=True)
    ]


def _citations(keys: Sequence[Key], answers: QuerySet[AnswerProvenance]) -> list[dict[str, Any]]:
    sentences = Sentence.objects.in_bulk([sentence for sentence, _ in keys])
    segments = Segment.objects.in_bulk([segment for _, segment in keys])
    provenance = _provenance(answers, [sentence.answer_id for sentence in sentences.values()])
    return [
        _of_answer(provenance[sentence.answer_id], sentence.text) | _passage(segment)
        for sentence, segment in ((sentences[first], segments[second]) for first, second in keys)
    ]


def _grades(keys: Sequence[Key], _answers: QuerySet[AnswerProvenance]) -> list[dict[str, Any]]:
    topics = Topic.objects.in_bulk([topic for topic, _ in keys])
    segments = Segment.objects.in_bulk([segment for _, segment in keys])
    return [
        {"topic": topics[topic], "run": None, "item": topics[topic].text} | _passage(segments[segment])
        for topic, segment in keys
    ]


def _answers(keys: Sequence[Key], answers: QuerySet[AnswerProvenance]) -> list[dict[str, Any]]:
    provenance = _provenance(answers, [answer for answer, _ in keys])
    sentences = _texts(Sentence.objects.filter(answer__in=provenance))
    return [
        _of_answer(provenance[answer], provenance[answer].topic.text)
        | {"texts": sentences.get(answer, ()), "segment": None}
        for answer, _ in keys
    ]


def _of_answer(provenance: AnswerProvenance, item: str) -> dict[str, Any]:
    return {"topic": provenance.topic, "run": provenance.run, "sample": provenance.sample, "item": item}


def _passage(segment: Segment) -> dict[str, Any]:
    return {"texts": (segment.text,) if segment.has_text else (), "segment": segment}


def _provenance(answers: QuerySet[AnswerProvenance], pks: Sequence[int]) -> dict[int, AnswerProvenance]:
    return answers.select_related("run", "topic").in_bulk(pks)


def _texts(sentences: QuerySet[Sentence]) -> dict[int, list[str]]:
    texts: dict[int, list[str]] = {}
    for answer, text in sentences.order_by("answer", "index").values_list("answer", "text"):
        texts.setdefault(answer, []).append(text)
    return texts
