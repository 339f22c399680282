"""AutoAssign: one answer and a batch of nuggets an item."""

from collections.abc import Sequence

from evaluation.models import Answer, NuggetVersion
from evaluation.services.importing.answers import answer_texts
from evaluation.services.labelling import GivenAssignment, give_assignments
from jobs.models import WorkItem
from llmjobs.kinds.base import ItemOutcome, Stepping, by_judge, ids_of, texts_in_order, topic_prompts
from llmjobs.steps.assign import AssignInput, assign
from llmjobs.ways import PromptSet


class Assigning:
    """Items name an `answer` and its `nuggets`, wordings in list order."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        answers = ids_of(items, "answer")
        texts = answer_texts(answers)
        topic_of = dict(Answer.objects.filter(pk__in=answers).values_list("pk", "topic__pk"))
        topics = topic_prompts(set(topic_of.values()))
        prompt_of = {answer: topics[topic] for answer, topic in topic_of.items()}
        wordings = {pk for item in items for pk in item.payload["nuggets"]}
        nuggets = dict(NuggetVersion.objects.filter(pk__in=wordings).values_list("pk", "text"))
        return [
            assign(
                AssignInput(
                    query=prompt_of[item.payload["answer"]].query,
                    answer=texts[item.payload["answer"]],
                    nuggets=texts_in_order(nuggets, item.payload["nuggets"]),
                    batch_size=len(item.payload["nuggets"]),
                    template=way.template("assign", prompt_of[item.payload["answer"]].texts),
                    texts=prompt_of[item.payload["answer"]].texts,
                )
            )
            for item, way in zip(items, ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        """Write a label per nugget, with the event of its call."""
        for judge, some in by_judge(ended):
            give_assignments(judge, [label for one in some for label in _labels(one)])


def _labels(one: ItemOutcome) -> list[GivenAssignment]:
    return [
        GivenAssignment(one.item.payload["answer"], wording, given.label, "", one.event(given.ask))
        for wording, given in zip(one.item.payload["nuggets"], one.outcome.labels, strict=True)
        if given.ask is not None
    ]
