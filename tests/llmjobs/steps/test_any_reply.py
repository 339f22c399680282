"""Whatever an LLM replies, a step ends, with one outcome per nugget and no label of its own invention."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.terms import Importance
from llmjobs.steps.asking import Ask, LlmReply
from llmjobs.steps.assign import assign
from llmjobs.steps.nuggetize import DraftsInput, NuggetizeInput, nuggetize
from llmjobs.steps.single import relevance, support
from tests.llmjobs.steps.scripted import GONE, parts, play, play_with

WORDS = [
    "support",
    "partial_support",
    "not_support",
    "Vital",
    "okay",
    "okey",
    "no_support",
    "2",
    "fact a",
    "fact b",
]
word_lists = st.lists(st.sampled_from(WORDS), max_size=4).map(repr)
garbage = st.text(max_size=20) | st.sampled_from(WORDS) | word_lists | st.just(GONE)
scripts = st.lists(garbage, min_size=1, max_size=12)
ROOM = settings(deadline=None)


class Cycle:
    """Replies taken from a list in a seeded, repeatable order."""

    def __init__(self, replies: list[str | LlmReply]) -> None:
        self.replies, self.chance = replies, random.Random(7)  # noqa: S311 - no secret

    def __call__(self, _: Ask) -> str | LlmReply:
        return self.chance.choice(self.replies)


@ROOM
@given(scripts, st.integers(0, 7), st.integers(1, 4))
def test_every_nugget_has_one_outcome(replies: list[str | LlmReply], count: int, size: int) -> None:
    work = ("q", "an answer", tuple(map(str, range(count))), size)
    outcome, requests = play_with(assign(*work), Cycle(replies))
    assert len(outcome.labels) == count
    for label in outcome.labels:
        assert label.label in {*AssignmentLabel} - {AssignmentLabel.CANT_JUDGE}
        assert (label.label == AssignmentLabel.FAILED) == bool(label.failure)
        assert label.ask is not None
        assert 0 <= label.ask < len(requests)


@ROOM
@given(scripts, st.integers(0, 6), st.integers(1, 4))
def test_a_topic_has_nuggets_or_a_reason(replies: list[str | LlmReply], count: int, size: int) -> None:
    work = NuggetizeInput(DraftsInput("q", ("text",) * count, size, draft_cap=4), nugget_cap=3, batch_size=size)
    outcome, requests = play_with(nuggetize(work), Cycle(replies))
    assert bool(outcome.nuggets) != bool(outcome.failure)
    assert len(outcome.nuggets) <= 3
    assert len(outcome.nuggets) + len(outcome.left_out) == len(outcome.drafts.drafts) <= 4
    assert all((nugget.importance == Importance.UNKNOWN) == bool(nugget.failure) for nugget in outcome.nuggets)
    assert len({*parts(requests)}) == len(requests)


@ROOM
@given(scripts)
def test_single_labels_are_of_their_vocabulary(replies: list[str | LlmReply]) -> None:
    pair, _ = play_with(support("s", "p"), Cycle(replies))
    assert (pair.label == SupportLabel.FAILED) == bool(pair.failure)
    passage, _ = play_with(relevance("q", "p"), Cycle(replies))
    assert passage.grade in {None, 0, 1, 2, 3}
    assert (passage.grade is None) == bool(passage.failure)


@ROOM
@given(scripts, st.integers(1, 7))
def test_a_replay_goes_the_same_way(replies: list[str | LlmReply], count: int) -> None:
    work = ("q", "an answer", tuple(map(str, range(count))), 3)
    given_replies: list[str | LlmReply] = []
    cycle = Cycle(replies)

    def recorded(request: Ask) -> str | LlmReply:
        given_replies.append(cycle(request))
        return given_replies[-1]

    assert play_with(assign(*work), recorded) == play(assign(*work), given_replies)
