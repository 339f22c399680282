"""Prompts on trial: asked as any other, but what they say goes into no table of labels.

Items also say what `people` said, in the order of what they ask about.
"""

from collections.abc import Iterable, Sequence

from evaluation.models import NuggetVersion
from evaluation.terms import Importance
from jobs.models import WorkItem
from llmjobs.kinds.assigning import Assigning
from llmjobs.kinds.base import ItemOutcome, Stepping, ids_of, texts_in_order, topic_prompts
from llmjobs.kinds.grading import Grading
from llmjobs.kinds.supporting import Supporting
from llmjobs.models import TriedLabels
from llmjobs.steps.importance import ImportanceInput, importance
from llmjobs.trial_drawing import WEIGHED
from llmjobs.ways import PromptSet

FAILED = -1
"""The code of what has no usable reply, where the labels themselves have none for it."""


class TryingAssign(Assigning):
    """As assigning."""

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        _keep((one, [int(given.label) for given in one.outcome.labels]) for one in ended)


class TryingSupport(Supporting):
    """As supporting."""

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        _keep((one, [int(one.outcome.label)]) for one in ended)


class TryingImportance:
    """As AutoNuggets asks how much nuggets matter. Items name a `topic` and `nuggets`, wordings in list order."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        topics = topic_prompts(ids_of(items, "topic"))
        wordings = {pk for item in items for pk in item.payload["nuggets"]}
        nuggets = dict(NuggetVersion.objects.filter(pk__in=wordings).values_list("pk", "text"))
        return [
            importance(
                ImportanceInput(
                    query=topics[item.payload["topic"]].query,
                    nuggets=texts_in_order(nuggets, item.payload["nuggets"]),
                    batch_size=len(item.payload["nuggets"]),
                    template=way.template("importance", topics[item.payload["topic"]].texts),
                    texts=topics[item.payload["topic"]].texts,
                )
            )
            for item, way in zip(items, ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        _keep((one, [_weight(value) for value in one.outcome.importances]) for one in ended)


class TryingRelevance(Grading):
    """As grading."""

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        _keep((one, [FAILED if one.outcome.grade is None else one.outcome.grade]) for one in ended)


def _weight(value: Importance) -> int:
    return FAILED if value is Importance.UNKNOWN else WEIGHED.index(value)


def _keep(rows: Iterable[tuple[ItemOutcome, list[int]]]) -> None:
    TriedLabels.objects.bulk_create(
        [TriedLabels(item=one.item, labels=labels) for one, labels in rows],
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["labels"],
    )
