"""Rows that hang on data which an import would replace: labels, given or in the making, and nuggets.

What imports brought that were taken back holds nothing: it is history, and goes with what it is about.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import Exists, Max, Model, OuterRef, Q, QuerySet

from evaluation.errors import Refused
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Battle,
    Event,
    Judgment,
    ListedNugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    RandomCheckPair,
    Run,
    SampledBattle,
    Segment,
    StudyPair,
    SupportJudgment,
    TaskAnswer,
    Topic,
    Verdict,
)
from evaluation.models.querysets import CurrentQuerySet, in_parts_of
from web.text import plural

TAKEN_BACK: Final = "import.taken_back"
LEFT_OVER: Final = (Assignment, SupportJudgment, Verdict, Battle)
"""What imports leave that are taken back."""
Part = Collection[int] | QuerySet[Any, Any]


@dataclass(frozen=True, slots=True)
class Dependent:
    """Rows that hang on loaded data. Each field is the path to it, several apart by spaces.

    It is empty where they hang on none of that kind.
    """

    model: type[Model]
    answer: str = ""
    segment: str = ""
    wording: str = ""


# Rooms above register their tables: imports of this room may not name them.
_dependents = {
    dependent.model: dependent
    for dependent in (
        Dependent(Assignment, answer="answer", wording="nugget_version"),
        Dependent(SupportJudgment, answer="sentence__answer", segment="segment"),
        Dependent(Judgment, answer="answer", segment="segment"),
        Dependent(Battle, answer="left right"),
        Dependent(StudyPair, answer="answer", segment="segment", wording="nugget_version"),
        Dependent(RandomCheckPair, answer="answer", segment="segment", wording="nugget_version"),
        Dependent(NuggetEvidence, segment="segment"),
        Dependent(NuggetLineage, wording="parent"),
    )
}


def register(model: type[Model], *, answer: str = "", segment: str = "", wording: str = "") -> None:
    """Have imports count the rows of a room above among what hangs on loaded data."""
    _dependents[model] = Dependent(model, answer, segment, wording)


def labels_on_topics(topics: Collection[Topic]) -> int:
    return _count("answer", [Answer.objects.filter(topic__in=topics).values("pk")])


def labels_on_run(run: Run) -> int:
    return _count("answer", [AnswerProvenance.objects.filter(run=run).values("answer")])


def labels_on_answers(answers: Collection[int]) -> int:
    return _count("answer", list(in_parts_of(answers)))


def labels_on_segments(segments: Collection[Segment]) -> int:
    return _count("segment", list(in_parts_of([segment.pk for segment in segments])))


def labels_on_lists(lists: Collection[NuggetList]) -> int:
    """Count assignments of these lists' wordings, and wordings of other lists made from them."""
    parts = in_parts_of([nugget_list.pk for nugget_list in lists])
    wordings = [ListedNugget.objects.filter(nugget_list__in=part).values("nugget_version") for part in parts]
    return _count("wording", wordings)


def left_over(model: type[Model]) -> QuerySet[Any]:
    """Return the rows of `LEFT_OVER` that imports brought which were taken back, and nobody else uses."""
    undone = Event.objects.filter(kind=TAKEN_BACK).values_list("payload", flat=True)
    events = [payload["import"] for payload in undone]
    rows = model._default_manager.filter(event__in=events)
    if model is not Battle:
        return rows.filter(stands=False)
    of_battle = Verdict.objects.filter(battle=OuterRef("pk"))
    judged = Exists(of_battle.exclude(event__in=events, stands=False))
    for model_that_uses in (TaskAnswer, SampledBattle):
        rows = rows.exclude(Exists(model_that_uses._default_manager.filter(battle=OuterRef("pk"))))
    return rows.exclude(judged)


def forget_left_over(kind: str, part: Part) -> None:
    """Delete what imports left that were taken back, on rows that are about to go: answers, segments or wordings."""
    for dependent in _dependents.values():
        paths = getattr(dependent, kind).split()
        if paths and dependent.model in LEFT_OVER:
            gone = list(left_over(dependent.model).filter(_any_in(paths, part)).values_list("pk", flat=True))
            for keys in in_parts_of(gone):
                if dependent.model is Battle:
                    Verdict.objects.filter(battle__in=keys).delete()
                dependent.model._default_manager.filter(pk__in=keys).delete()


def _count(kind: str, parts: Sequence[Part]) -> int:
    return sum(
        _counting(dependent.model).filter(_any_in(paths, part)).count()
        for dependent in _dependents.values()
        if (paths := getattr(dependent, kind).split())
        for part in parts
    )


def _counting(model: type[Model]) -> QuerySet[Any]:
    rows = model._default_manager.all()
    return rows.exclude(pk__in=left_over(model).values("pk")) if model in LEFT_OVER else rows


def _any_in(paths: Sequence[str], part: Part) -> Q:
    return reduce(or_, (Q(**{f"{path}__in": part}) for path in paths))


def refuse_if_judged_here(labels: CurrentQuerySet[Any], keys: Collection[tuple[int, int]], *item: str) -> None:
    """Raise `Refused` for labels that were submitted at a desk: a submission is frozen."""
    frozen = set(labels.current().filter(event__kind="task.submitted").values_list(*item)) & set(keys)
    if frozen:
        raise Refused(
            "judged_here",
            f"{len(frozen):,} of these labels {plural(len(frozen), 'was', 'were')} submitted here; "
            f"reopen the task to change {plural(len(frozen), 'it', 'them')}.",
        )


def no_longer_stand(labels: CurrentQuerySet[Any], keys: Collection[tuple[int, int]], *item: str) -> None:
    """Take labels out of what counts; they are kept, as those of a task that is withdrawn."""
    there = labels.current().values_list("pk", *item)
    pks = [pk for pk, *key in there if tuple(key) in keys] if keys else []
    for part in in_parts_of(pks):
        labels.filter(pk__in=part).update(stands=False)


def numbers_after(labels: CurrentQuerySet[Any], *item: str) -> dict[tuple[int, int], int]:
    """Return the next submission number of items whose labels were all withdrawn or replaced: those are kept."""
    newest = labels.order_by().values_list(*item).annotate(Max("submission"))
    current = labels.current().filter(**{name: OuterRef(name) for name in item})
    kept = newest.filter(stands=False).exclude(Exists(current))
    return {(first, other): number + 1 for first, other, number in kept}
