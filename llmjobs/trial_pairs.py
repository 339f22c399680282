"""What the pairs of a trial are about, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import User
from evaluation.models import AnswerProvenance, Campaign, NuggetVersion, Segment, Sentence
from evaluation.queries.answers import provenance_for
from jobs.models import WorkItem
from llmjobs.models import Trial, TrialJob


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A nugget and whose answer it is looked for in; or a sentence, and the cited segment's id in `cited`."""

    text: str
    cited: str
    given: AnswerProvenance


def shown_pairs(viewer: User, campaign: Campaign, trial: Trial) -> list[ShownPair | None]:
    """Return the pairs of a trial that was read for the viewer, in their order; None for what is not there any more."""
    first = TrialJob.objects.filter(trial=trial).order_by("llm").first()
    items = list(WorkItem.objects.filter(job=first.llm_id).order_by("pk")) if first else []
    answers = provenance_for(viewer, campaign).select_related("run", "topic")
    return _assigned(items, answers) if trial.task == "assign" else _supported(items, answers)


def _assigned(items: Sequence[WorkItem], answers: QuerySet[AnswerProvenance]) -> list[ShownPair | None]:
    pairs = [(item.payload["answer"], nugget) for item in items for nugget in item.payload["nuggets"]]
    given = answers.in_bulk([answer for answer, _ in pairs])
    texts = dict(NuggetVersion.objects.filter(pk__in={nugget for _, nugget in pairs}).values_list("pk", "text"))
    return [
        ShownPair(texts[nugget], "", given[answer]) if answer in given and nugget in texts else None
        for answer, nugget in pairs
    ]


def _supported(items: Sequence[WorkItem], answers: QuerySet[AnswerProvenance]) -> list[ShownPair | None]:
    pairs = [(item.payload["sentence"], item.payload["segment"]) for item in items]
    sentences = Sentence.objects.in_bulk([sentence for sentence, _ in pairs])
    given = answers.in_bulk([one.answer_id for one in sentences.values()])
    docids = dict(Segment.objects.filter(pk__in=[one for _, one in pairs]).values_list("pk", "docid"))
    return [
        ShownPair(sentences[sentence].text, docids[segment], given[sentences[sentence].answer_id])
        if sentence in sentences and segment in docids and sentences[sentence].answer_id in given
        else None
        for sentence, segment in pairs
    ]
