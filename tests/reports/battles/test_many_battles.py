"""The report of a track's battles: 83 runs, 119 topics, four rounds."""

import random

import pytest
from django.utils import timezone

from evaluation.battles import BattleOrder, draw_battles
from evaluation.campaigns.create import create_campaign
from evaluation.models import Answer, AnswerProvenance, Campaign, Event, Judge, Run, Topic, Verdict
from evaluation.terms import JudgeKind
from tests.speed import at_most
from tests.worlds.imported import report

SECONDS = 3.0


def fill(runs: int, topics: int) -> Campaign:
    campaign, _ = create_campaign(slug="river", name="River")
    event = Event.objects.create(campaign=campaign, kind="test")
    drawn = random.Random(1)  # noqa: S311
    of_runs = Run.objects.bulk_create(
        Run(campaign=campaign, run_id=f"r{place:02}", event=event) for place in range(runs)
    )
    of_topics = Topic.objects.bulk_create(
        Topic(campaign=campaign, topic_id=f"t{place:03}", text="?", position=place, event=event)
        for place in range(topics)
    )
    pairs = [(topic, run) for topic in of_topics for run in of_runs]
    answers = Answer.objects.bulk_create(Answer(topic=topic, words=drawn.randint(50, 800)) for topic, _ in pairs)
    AnswerProvenance.objects.bulk_create(
        AnswerProvenance(answer=answer, run=run, topic=topic, line=1)
        for answer, (topic, run) in zip(answers, pairs, strict=True)
    )
    return campaign


@pytest.mark.slow
@pytest.mark.django_db
def test_a_track_is_reported_in_three_seconds() -> None:
    campaign = fill(83, 119)
    draw = draw_battles(campaign=campaign, order=BattleOrder(rounds=4))
    judge = Judge.objects.create(name="ann", kind=JudgeKind.HUMAN)
    drawn, now = random.Random(2), timezone.now()  # noqa: S311
    Verdict.objects.bulk_create(
        Verdict(battle=battle, judge=judge, left_id=battle.left_id, label=drawn.choice((0, 1, 2, 3)), given_at=now)
        for battle in draw.battle_set.battles.all()
    )
    with at_most(SECONDS):
        document = report("battles", "--condition", "B/M")
    assert sum(run["battles"] for run in document["runs"]) == 2 * 19_516
