"""Pairs of a judging task: the nuggets of its list, or its sentences with their citations."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import QuerySet

from assessor.desk.context import DeskContext
from assessor.rules.label_ops import NO_MACHINE_LABEL
from evaluation.domain.counted_pairs import first_different
from evaluation.domain.labels import CITATION_LABELS
from evaluation.models import Citation, ListedNugget, NuggetList, StudyPair, SupportJudgment, TaskAnswer
from evaluation.rules.text import shuffled
from evaluation.terms import Stage, SupportCondition, SupportLabel

Rest = TypeVar("Rest")


@dataclass(frozen=True, slots=True)
class AskedNugget:
    """A nugget of the list that is assigned: its lasting id, and the wording in force."""

    key: str
    wording: int
    text: str
    importance: int


@dataclass(frozen=True, slots=True)
class AskedPair:
    """A cited segment of one sentence. `number`: as the screen numbers the answer's citations, from 1.

    `machine`: the label that is shown with it; None where the condition shows none, or the machine gave none yet.
    """

    key: str
    answer: str
    sentence: int
    number: int
    sentence_pk: int
    segment_pk: int | None
    passage: str | None
    judgeable: bool
    machine: str | None


def nuggets_of(place: DeskContext) -> list[AskedNugget]:
    """Return the nuggets of the newest submitted list, in an order that tells neither importance nor place.

    Of a study only those that were drawn for some answer, as they were worded then.
    """
    items = (
        _drawn_nuggets(place) if place.study else ListedNugget.objects.filter(nugget_list__in=newest_list(place))
    )
    items = items.select_related("nugget_version__nugget")
    asked = {
        item.nugget_version.nugget.public_id: AskedNugget(
            item.nugget_version.nugget.public_id, item.nugget_version_id, item.nugget_version.text, item.importance
        )
        for item in items
    }
    return [asked[key] for key in shuffled(f"topic {place.topic}", list(asked))]


def drawn_pairs(place: DeskContext) -> QuerySet[StudyPair]:
    """Return the pairs that a study's desk keeps to. Only what they are about may be read: never their labels."""
    return StudyPair.objects.filter(study=place.study, topic=place.topic)


def _drawn_nuggets(place: DeskContext) -> QuerySet[ListedNugget]:
    """Return the nuggets that were drawn in all lists that have them, the newest last."""
    lists = NuggetList.objects.filter(nugget_set=place.nugget_set, topic=place.topic)
    drawn = drawn_pairs(place).values("nugget_version")
    found = ListedNugget.objects.filter(nugget_list__in=lists, nugget_version__in=drawn)
    return found.order_by("nugget_list__version")


def nuggets_by_answer(place: DeskContext) -> dict[str, list[str]] | None:
    """Return the nuggets to label in each answer, in their order; None where every answer has all of them."""
    if not place.study:
        return None
    rows = drawn_pairs(place).values_list("answer__public_id", "nugget_version__nugget__public_id")
    order = {nugget.key: number for number, nugget in enumerate(nuggets_of(place))}
    asked: dict[str, list[str]] = {}
    for answer, nugget in sorted(rows, key=lambda row: order[row[1]]):
        asked.setdefault(answer, []).append(nugget)
    return asked


def newest_list(place: DeskContext) -> QuerySet[NuggetList]:
    """Return the list that is assigned: the newest submitted one. None or one row."""
    return NuggetList.objects.newest_submitted().filter(nugget_set=place.nugget_set, topic=place.topic)


def pairs_of(place: DeskContext, answer: str = "") -> list[AskedPair]:
    """Return the pairs of sentence and citation in the order in which they are judged: by answer and sentence.

    `answer`: only those of one answer, by public id.
    """
    places = TaskAnswer.objects.filter(task=place.task, same_as=None)
    if answer:
        places = places.filter(answer__public_id=answer)
    position = dict(places.values_list("answer", "position"))
    cited = list(_citations().filter(sentence__answer__in=position))
    cited.sort(
        key=lambda citation: (position[citation.sentence.answer_id], citation.sentence.index, citation.position)
    )
    return _pairs(place, cited)


def _citations() -> QuerySet[Citation]:
    cited = Citation.objects.select_related("sentence__answer", "segment")
    return cited.defer("sentence__text", "segment__text").order_by("sentence", "position")


def _pairs(place: DeskContext, cited: Sequence[Citation]) -> list[AskedPair]:
    """Return each sentence's first different citations, as many as the campaign counts; or those that were drawn."""
    machine = machine_labels(place, {citation.sentence_id for citation in cited})
    numbers: dict[int, dict[object, int]] = {}
    numbered = [
        (
            citation.sentence_id,
            citation.segment_id,
            (citation, number_of(numbers.setdefault(citation.sentence.answer_id, {}), citation)),
        )
        for citation in cited
    ]
    return [_pair(citation, number, machine) for _, _, (citation, number) in task_citations(place, numbered)]


def task_citations(
    place: DeskContext, citations: Iterable[tuple[int, int | None, Rest]]
) -> Iterator[tuple[int, int | None, Rest]]:
    """Yield the citations that a task asks, of rows as `first_different` takes them; a study asks what was drawn."""
    if not place.study:
        yield from first_different(citations, place.first_citations)
        return
    drawn = set(drawn_pairs(place).values_list("sentence", "segment"))
    for sentence, segment, rest in first_different(citations, None):
        if (sentence, segment) in drawn:
            yield sentence, segment, rest


def number_of(numbers: dict[object, int], citation: Citation) -> int:
    """Return a citation's number in its answer, by first appearance: what its run calls it is not shown."""
    return numbers.setdefault(citation.segment_id or citation.raw, len(numbers) + 1)


def _pair(citation: Citation, number: int, machine: Mapping[tuple[int, int], str] | None) -> AskedPair:
    segment = citation.segment
    return AskedPair(
        key=citation.public_id,
        answer=citation.sentence.answer.public_id,
        sentence=citation.sentence.index,
        number=number,
        sentence_pk=citation.sentence_id,
        segment_pk=citation.segment_id,
        passage=segment.public_id if segment else None,
        judgeable=segment is not None and segment.has_text,
        machine=None if machine is None else machine.get((citation.sentence_id, citation.segment_id or 0)),
    )


def machine_labels(place: DeskContext, sentences: Collection[int]) -> dict[tuple[int, int], str] | None:
    """Return the labels that this condition shows; None, and nothing is read, where it shows none."""
    if place.stage != Stage.SUPPORT_POST_EDIT:
        return None
    rows = SupportJudgment.objects.current().filter(
        judge=place.machine, condition=SupportCondition.LLM, sentence__in=sentences
    )
    return {
        (sentence, segment): machine_word(label)
        for sentence, segment, label in rows.values_list("sentence", "segment", "label")
    }


def machine_word(code: int) -> str:
    return NO_MACHINE_LABEL if code not in CITATION_LABELS.codes else SupportLabel(code).name.lower()
