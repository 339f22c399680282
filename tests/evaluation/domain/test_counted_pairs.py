"""Counted pairs of sentence and citation: desks, hand-out, LLM jobs and reports count the same ones."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from assessor.desk.citation_labels import pairs_of
from assessor.desk.context import context_of
from evaluation.domain.conditions import CitationCondition, resolve_citations
from evaluation.domain.counted_pairs import counted_citations, first_different
from evaluation.judges import add_judge
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Campaign,
    Citation,
    Event,
    Judge,
    Protocol,
    Run,
    Segment,
    Sentence,
    Topic,
)
from evaluation.stages import SUPPORT_SCRATCH
from evaluation.tasks.asking import asking_of
from evaluation.terms import JudgeKind, SupportCondition
from llmjobs.job_plan import support_items
from reports.frames import forget_sheets, support_keys, support_sheet
from reports.metrics.label_matrix import UNJUDGED
from tests.worlds.judging import JudgingWorld, current_task, make_judging_world

UNRESOLVED, TEXTLESS = None, 3
CITED = st.lists(st.sampled_from([UNRESOLVED, 0, 1, 2, TEXTLESS]), max_size=7)
SENTENCES = st.lists(CITED, min_size=1, max_size=5)
FIRST = st.none() | st.integers(1, 4)


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


@contextmanager
def made(
    world: JudgingWorld,
    sentences: Sequence[Sequence[int | None]],
    first: int | None,
    *,
    has_candidates: bool = False,
) -> Iterator[Topic]:
    """Make a topic with one answer whose sentences cite segments, TEXTLESS without a text, for the block alone."""
    campaign = world.campaign
    forget_sheets()
    with transaction.atomic():
        Protocol.objects.update(first_citations=first)
        Campaign.objects.update(revision=campaign.revision + 1)
        topic = Topic.objects.create(campaign=campaign, topic_id="made", text="made", position=9)
        event = Event.objects.create(kind="made")
        run = Run.objects.create(campaign=campaign, run_id="made", event=event, has_candidates=has_candidates)
        answer = Answer.objects.create(topic=topic, words=1)
        AnswerProvenance.objects.create(answer=answer, run=run, topic=topic)
        segments = [
            Segment.objects.create(
                campaign=campaign,
                docid=f"m{n}",
                document="m",
                has_text=n != TEXTLESS,
                text="Text." * (n != TEXTLESS),
            )
            for n in range(TEXTLESS + 1)
        ]
        for index, cited in enumerate(sentences):
            sentence = Sentence.objects.create(answer=answer, index=index, text="It bends.")
            for position, number in enumerate(cited):
                segment = None if number is None else segments[number]
                Citation.objects.create(sentence=sentence, position=position, segment=segment, raw=str(number))
        yield topic
        transaction.set_rollback(True)
    forget_sheets()


def at_desk(world: JudgingWorld, topic: Topic) -> set[tuple[int, int | None]]:
    task = current_task(world.hand(SUPPORT_SCRATCH, "ann", topic.topic_id).public_id)
    return {(pair.sentence_pk, pair.segment_pk) for pair in pairs_of(context_of(task)) if pair.judgeable}


def handed_out(world: JudgingWorld, topic: Topic, first: int | None) -> int:
    return sum(
        answer.units for answer in asking_of(SUPPORT_SCRATCH).pool(world.campaign, [topic.pk], first)[topic.pk]
    )


def planned(topic: Topic, judge: Judge) -> set[tuple[int, int | None]]:
    campaign = Campaign.objects.get(pk=topic.campaign_id)
    runs = Run.objects.filter(run_id="made").values_list("pk", flat=True)
    items = support_items(campaign, judge, [topic.pk], list(runs)).items
    return {(item.payload["sentence"], item.payload["segment"]) for item in items}


def reported(topic: Topic) -> set[tuple[int, int | None]]:
    """Return the pairs in which a report would count a label, by the sheet that its scores are computed from."""
    choice: CitationCondition = resolve_citations(
        Campaign.objects.get(pk=topic.campaign_id), SupportCondition.SCRATCH
    )
    keys, sheet = support_keys(choice), support_sheet(choice)
    mine = set(Sentence.objects.filter(answer__topic=topic).values_list("pk", flat=True))
    return {
        (sentence, segment)
        for (sentence, segment), label in zip(keys.tolist(), sheet.unit_label.tolist(), strict=True)
        if sentence in mine and label == UNJUDGED
    }


@given(SENTENCES, FIRST)
@example([[UNRESOLVED, 0]], 1)
@example([[UNRESOLVED, 0, UNRESOLVED, 0, 1]], 2)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_desks_hand_out_jobs_and_reports_count_the_same_pairs(
    world: JudgingWorld, sentences: list[list[int | None]], first: int | None
) -> None:
    judge = add_judge(name="robot", kind=JudgeKind.LLM, model="robot")[0]
    with made(world, sentences, first) as topic:
        counted = reported(topic)
        assert planned(topic, judge) == counted
        assert handed_out(world, topic, first) == len(counted)
        assert not counted or at_desk(world, topic) == counted


@given(SENTENCES, st.integers(1, 3))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_of_a_run_with_candidates_desks_hand_out_and_jobs_count_them_all(
    world: JudgingWorld, sentences: list[list[int | None]], first: int
) -> None:
    judge = add_judge(name="robot", kind=JudgeKind.LLM, model="robot")[0]
    with made(world, sentences, None) as topic:
        counted = planned(topic, judge)
    with made(world, sentences, first, has_candidates=True) as topic:
        assert len(planned(topic, judge)) == handed_out(world, topic, first) == len(counted)
        assert not counted or at_desk(world, topic) == planned(topic, judge)
        assert not reported(topic)


@given(SENTENCES, FIRST)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_query_and_the_plain_function_count_the_same(
    world: JudgingWorld, sentences: list[list[int | None]], first: int | None
) -> None:
    with made(world, sentences, first) as topic:
        mine = Citation.objects.filter(sentence__answer__topic=topic).order_by("sentence", "position")
        rows = mine.values_list("sentence", "segment", "segment__has_text")
        plain = [(sentence, segment) for sentence, segment, has_text in first_different(rows, first) if has_text]
        queried = counted_citations(first).filter(sentence__answer__topic=topic).order_by("sentence", "position")
        assert list(queried.values_list("sentence", "segment")) == plain


def test_an_unresolved_first_citation_leaves_nothing_to_ask(world: JudgingWorld) -> None:
    judge = add_judge(name="robot", kind=JudgeKind.LLM, model="robot")[0]
    with made(world, [[UNRESOLVED, 0]], 1) as topic:
        assert planned(topic, judge) == set()
    with made(world, [[UNRESOLVED, 0]], 2) as topic:
        assert len(planned(topic, judge)) == handed_out(world, topic, 2) == len(reported(topic)) == 1
        assert at_desk(world, topic) == reported(topic)


def test_a_first_citation_without_a_text_takes_its_place() -> None:
    cited = [(1, None, "a"), (1, None, "b"), (1, 5, "c"), (2, 5, "d"), (2, 5, "e"), (2, 6, "f"), (2, 7, "g")]
    assert [mark for *_, mark in first_different(cited, 2)] == ["a", "c", "d", "f"]
    assert [mark for *_, mark in first_different(cited, None)] == ["a", "c", "d", "f", "g"]
