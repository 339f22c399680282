"""What the pairs of a trial are about, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.db.models.functions import Left

from accounts.models import User
from evaluation.models import AnswerProvenance, Campaign, NuggetVersion, Segment, Sentence, Topic
from evaluation.queries.answers import provenance_for
from evaluation.queries.topics import SNIPPET, topics_for
from jobs.models import WorkItem
from llmjobs.models import Trial, TrialJob


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A nugget and whose answer it is looked for in; a sentence, and the cited segment's id in `docid`; or a nugget, or
    the beginning of a segment, and its topic, without an answer.
    """

    text: str
    docid: str
    topic: Topic
    given: AnswerProvenance | None = None


def shown_pairs(viewer: User, campaign: Campaign, trial: Trial) -> list[ShownPair | None]:
    first = TrialJob.objects.filter(trial=trial).order_by("llm").first()
    items = list(WorkItem.objects.filter(job=first.llm_id).order_by("pk")) if first else []
    answers = provenance_for(viewer, campaign).select_related("run", "topic")
    topics = topics_for(viewer, campaign)
    match trial.task:
        case "assign":
            return _assigned(items, answers)
        case "support":
            return _supported(items, answers)
        case "importance":
            return _weighed(items, topics)
        case _:
            return _graded(items, topics)


def _assigned(items: Sequence[WorkItem], answers: QuerySet[AnswerProvenance]) -> list[ShownPair | None]:
    pairs = [(item.payload["answer"], nugget) for item in items for nugget in item.payload["nuggets"]]
    given = answers.in_bulk([answer for answer, _ in pairs])
    texts = dict(NuggetVersion.objects.filter(pk__in={nugget for _, nugget in pairs}).values_list("pk", "text"))
    return [
        ShownPair(texts[nugget], "", given[answer].topic, given[answer])
        if answer in given and nugget in texts
        else None
        for answer, nugget in pairs
    ]


def _supported(items: Sequence[WorkItem], answers: QuerySet[AnswerProvenance]) -> list[ShownPair | None]:
    pairs = [(item.payload["sentence"], item.payload["segment"]) for item in items]
    sentences = Sentence.objects.in_bulk([sentence for sentence, _ in pairs])
    given = answers.in_bulk([one.answer_id for one in sentences.values()])
    docids = dict(Segment.objects.filter(pk__in=[one for _, one in pairs]).values_list("pk", "docid"))
    found: list[ShownPair | None] = []
    for sentence, segment in pairs:
        shown_sentence = sentences.get(sentence)
        answer = given.get(shown_sentence.answer_id) if shown_sentence else None
        if shown_sentence and answer and segment in docids:
            found.append(ShownPair(shown_sentence.text, docids[segment], answer.topic, answer))
        else:
            found.append(None)
    return found


def _weighed(items: Sequence[WorkItem], topics: QuerySet[Topic]) -> list[ShownPair | None]:
    pairs = [(item.payload["topic"], nugget) for item in items for nugget in item.payload["nuggets"]]
    about = topics.in_bulk([topic for topic, _ in pairs])
    texts = dict(NuggetVersion.objects.filter(pk__in={nugget for _, nugget in pairs}).values_list("pk", "text"))
    return [
        ShownPair(texts[nugget], "", about[topic]) if topic in about and nugget in texts else None
        for topic, nugget in pairs
    ]


def _graded(items: Sequence[WorkItem], topics: QuerySet[Topic]) -> list[ShownPair | None]:
    pairs = [(item.payload["topic"], item.payload["segment"]) for item in items]
    about = topics.in_bulk([topic for topic, _ in pairs])
    segments = Segment.objects.annotate(start=Left("text", SNIPPET)).only("docid")
    found = segments.in_bulk([segment for _, segment in pairs])
    return [
        ShownPair(found[segment].start, found[segment].docid, about[topic])
        if topic in about and segment in found
        else None
        for topic, segment in pairs
    ]
