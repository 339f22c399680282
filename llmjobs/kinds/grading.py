"""Relevance by an LLM: one topic and one segment an item."""

from collections.abc import Sequence

from evaluation.models import Segment
from evaluation.services.labelling import GivenGrade, give_grades
from jobs.models import WorkItem
from llmjobs.kinds.base import ItemOutcome, Stepping, ids_of, topic_prompts
from llmjobs.steps.relevance import RelevanceInput, relevance
from llmjobs.ways import PromptSet


class Grading:
    """Items name a `topic`, a `segment`, the `top` of the scale and the `source` their grades go to."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        topics = topic_prompts(ids_of(items, "topic"))
        segments = dict(Segment.objects.filter(pk__in=ids_of(items, "segment")).values_list("pk", "text"))
        return [
            relevance(
                RelevanceInput(
                    query=topics[item.payload["topic"]].query,
                    passage=segments[item.payload["segment"]],
                    top=item.payload["top"],
                    template=way.template("relevance", topics[item.payload["topic"]].texts),
                    texts=topics[item.payload["topic"]].texts,
                )
            )
            for item, way in zip(items, ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        """Write the grades; an item without one is failed, and never 0."""
        for one in ended:
            if one.outcome.grade is not None:
                payload = one.item.payload
                grade = GivenGrade(
                    payload["topic"], payload["segment"], one.outcome.grade, one.event(one.outcome.ask)
                )
                give_grades(one.llm.campaign, payload["source"], [grade])
