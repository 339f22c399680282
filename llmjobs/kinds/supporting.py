"""Support by an LLM: one sentence and one cited segment an item."""

from collections.abc import Sequence

from evaluation.models import Segment, Sentence
from evaluation.services.labelling import GivenSupport, give_support
from evaluation.terms import SupportCondition
from jobs.models import WorkItem
from llmjobs.kinds.base import ItemOutcome, Stepping, by_judge, ids_of
from llmjobs.steps.support import SupportInput, support
from llmjobs.ways import PromptSet


class Supporting:
    """Items name a `sentence` and a `segment`."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        sentences = dict(Sentence.objects.filter(pk__in=ids_of(items, "sentence")).values_list("pk", "text"))
        segments = dict(Segment.objects.filter(pk__in=ids_of(items, "segment")).values_list("pk", "text"))
        return [
            support(
                SupportInput(
                    statement=sentences[item.payload["sentence"]],
                    passage=segments[item.payload["segment"]],
                    template=way.templates["support"],
                )
            )
            for item, way in zip(items, ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        for judge, some in by_judge(ended):
            give_support(judge, SupportCondition.LLM, [_label(one) for one in some])


def _label(one: ItemOutcome) -> GivenSupport:
    payload, outcome = one.item.payload, one.outcome
    return GivenSupport(payload["sentence"], payload["segment"], outcome.label, "", one.event(outcome.ask))
