"""The campaign of the soak of LLM jobs, as large as its time allows, and the faults that its LLM has."""

import random
from collections.abc import Sequence
from typing import Any

from evaluation.campaigns.create import create_campaign
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Campaign,
    Event,
    Qrel,
    QrelSource,
    Run,
    Segment,
    Sentence,
    Topic,
)
from evaluation.terms import Condition
from jobs.models import Job
from llmjobs.budget import Budget
from llmjobs.job_service import JobRequest, judge_for, plan_evaluation, start
from loadtest.servers.faults import FAULT_KINDS

SEGMENTS = 50
# Calls a second that two workers get answered while all this happens to them: so many are there to be made.
PACE = 8.0
CALLS_A_TOPIC, CALLS_AN_ANSWER = 15, 2
MOST_RUNS = 60
# A bad request is final; it is met by one answer, each time, and not at random.
AT_RANDOM = [kind for kind in FAULT_KINDS if kind != "bad_request"]
FAULT_RATE = 0.1
# What stands, before the name of a fault, in a text that meets this fault each time: in one answer to each of the first
# topics, and in the last topic itself.
SPOILT = "Spoilt with"
SPOILT_ANSWERS = ("out_of_vocabulary", "bad_request", "server_error")
SPOILT_TOPIC = "out_of_vocabulary"
FAULTS: dict[str, Any] = {
    "rates": {kind: FAULT_RATE / len(AT_RANDOM) for kind in AT_RANDOM},
    "retry_after": 0.5,
    "hang_s": 4.0,
    "always": {f"{SPOILT} {fault}": fault for fault in {*SPOILT_ANSWERS, SPOILT_TOPIC}},
}


def size_for(seconds: float) -> tuple[int, int]:
    """Return how many topics and runs keep two workers busy for so long."""
    topics = max(4, round(seconds / 20))
    runs = round((seconds * PACE / topics - CALLS_A_TOPIC) / CALLS_AN_ANSWER)
    return topics, max(4, min(MOST_RUNS, runs))


def queue_everything(topics: int, runs: int, budget: Budget) -> Job:
    campaign = create_campaign(slug="soak", name="Soak")[0]
    event = Event.objects.create(campaign=campaign, kind="made")
    source = QrelSource.objects.create(campaign=campaign, name="UMBRELA")
    made = [Run.objects.create(campaign=campaign, run_id=f"run{n}", event=event) for n in range(runs)]
    for number in range(topics):
        _make_topic(campaign, source, made, number, spoilt=number == topics - 1)
    request = JobRequest(campaign, judge_for(""), budget=budget)
    return start(request, "AutoAssign A/A", plan_evaluation(request, Condition.AA))


def _make_topic(campaign: Campaign, source: QrelSource, runs: Sequence[Run], number: int, *, spoilt: bool) -> None:
    """Make a topic with segments of two facts each, and answers that hold some of them, each in its own words."""
    about = f"river{number} delta{number}"
    text = f"What of {about}? {SPOILT} {SPOILT_TOPIC}." if spoilt else f"What of {about}?"
    topic = Topic.objects.create(campaign=campaign, topic_id=f"topic{number}", text=text, position=number + 1)
    facts = [f"The {about} holds stone{number}x{n} and sand{number}x{n}." for n in range(2 * SEGMENTS)]
    for n in range(SEGMENTS):
        docid = f"doc{number}_{n:02}"
        text = " ".join(facts[2 * n : 2 * n + 2])
        segment = Segment.objects.create(campaign=campaign, docid=docid, document=docid, has_text=True, text=text)
        Qrel.objects.create(source=source, topic=topic, segment=segment, grade=1 + n % 3)
    draw = random.Random(number)  # noqa: S311
    for run_ in runs:
        sentences = [f"{run_.run_id} writes on {about}.", *draw.sample(facts, 10)]
        if run_ == runs[0] and number < len(SPOILT_ANSWERS):
            sentences.append(f"{SPOILT} {SPOILT_ANSWERS[number]}.")
        answer = Answer.objects.create(topic=topic, words=sum(len(sentence.split()) for sentence in sentences))
        AnswerProvenance.objects.create(answer=answer, run=run_, topic=topic)
        Sentence.objects.bulk_create(
            [Sentence(answer=answer, index=n, text=text) for n, text in enumerate(sentences)]
        )
