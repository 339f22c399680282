"""Support and relevance: one pair or passage a call, one label."""

from dataclasses import replace

import pytest

from evaluation.labels import SupportLabel
from llmjobs.prompts.template import Template
from llmjobs.prompts.texts import SUPPORT, SUPPORT_QUOTE
from llmjobs.steps.single import PassageLimit, relevance, scale, support
from tests.llmjobs.steps.scripted import GONE, between, parts, play

PAIR = ("Cats purr when content.", "Content cats purr.")


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("full_support", SupportLabel.FULL_SUPPORT),
        ("Partial Support", SupportLabel.PARTIAL_SUPPORT),
        ("**no support**", SupportLabel.NO_SUPPORT),
    ],
)
def test_one_pair_gets_one_label(reply: str, label: SupportLabel) -> None:
    outcome, (request,) = play(support(*PAIR), [reply])
    assert (outcome.label, outcome.ask, outcome.failure) == (label, 0, "")
    assert (between(request, "statement"), between(request, "passage")) == PAIR
    assert (request.task, request.part) == ("support", "pair")


def test_a_pair_is_asked_again_and_never_split() -> None:
    outcome, requests = play(support(*PAIR), ["not full support", "support", "unsure"])
    assert parts(requests) == ["pair", "pair, re-ask 1", "pair, re-ask 2"]
    assert outcome.label == SupportLabel.FAILED
    assert outcome.failure.startswith("the reply is 'unsure'; it must be one of full_support")


def test_a_pair_without_a_reply_fails_with_the_reason() -> None:
    outcome, _ = play(support(*PAIR), [GONE])
    assert (outcome.label, outcome.failure) == (SupportLabel.FAILED, GONE.failure)


def test_a_campaigns_own_text_is_used() -> None:
    own = Template("support", "strict", 4, SUPPORT.system, "{statement} {passage}")
    _, (request,) = play(support("s", "p", own), ["full_support"])
    assert (request.template, request.version, request.template_sha256) == ("strict", 4, own.sha256)
    assert request.messages[1].content == "<statement>\ns\n</statement> <passage>\np\n</passage>"


@pytest.mark.parametrize(("reply", "grade"), [("0", 0), ("Grade: 3", 3), ("##final score: 2", 2)])
def test_a_passage_gets_a_grade_of_the_scale(reply: str, grade: int) -> None:
    outcome, (request,) = play(relevance("q", "p"), [reply])
    assert (outcome.grade, outcome.failure) == (grade, "")
    assert "on a scale from 0 to 3" in request.messages[0].content
    assert (between(request, "query"), between(request, "passage")) == ("q", "p")


def test_a_grade_off_the_scale_fails_and_is_not_zero() -> None:
    outcome, _ = play(relevance("q", "p"), ["4", "-1", "2.5"])
    assert outcome.grade is None
    assert "it must be one of 0, 1, 2, 3" in outcome.failure


def test_the_scale_is_a_setting() -> None:
    outcome, (request,) = play(relevance("q", "p", top=4), ["4"])
    assert outcome.grade == 4
    assert "whole number from 0 to 4" in request.messages[1].content


def test_a_passage_without_a_reply_fails() -> None:
    outcome, _ = play(relevance("q", "p"), [GONE])
    assert (outcome.grade, outcome.failure) == (None, GONE.failure)


@pytest.mark.parametrize("top", [1, 2, 3, 4, 9])
def test_every_grade_has_a_meaning(top: int) -> None:
    lines = scale(top).split("\n")
    assert [line.split(":")[0] for line in lines] == [str(grade) for grade in range(top + 1)]
    assert "nothing to do" in lines[0]
    assert "exact answer" in lines[-1]


def test_a_scale_of_one_grade_is_refused() -> None:
    with pytest.raises(ValueError, match="top"):
        next(relevance("q", "p", top=0))


LONG = "Dogs bark all night.\n\nContent cats purr.\n\nCows moo in the meadow."


def test_of_a_passage_over_the_limit_the_best_paragraphs_are_sent_and_the_call_says_so() -> None:
    limit = PassageLimit(5, "en")
    judged, (of_pair,) = play(support(PAIR[0], LONG, limit=limit), ["full_support"])
    graded, (of_passage,) = play(relevance(PAIR[0], LONG, limit=limit), ["3"])
    for request in (of_pair, of_passage):
        assert between(request, "passage") == "[...]\n\nContent cats purr.\n\n[...]"
    for notes in (judged.notes, graded.notes):
        assert [(note.ask, note.kind) for note in notes] == [(0, "shortened")]


def test_a_passage_within_the_limit_is_sent_whole() -> None:
    outcome, (request,) = play(support(PAIR[0], LONG, limit=PassageLimit(12, "en")), ["full_support"])
    assert (between(request, "passage"), outcome.notes) == (LONG, ())


@pytest.mark.parametrize(
    ("reply", "label", "evidence", "notes"),
    [
        ('["full_support", "Content  cats\\npurr."]', SupportLabel.FULL_SUPPORT, 1, []),
        ('["full_support", "cats purr"]', SupportLabel.FULL_SUPPORT, 1, []),
        ('["no_support", ""]', SupportLabel.NO_SUPPORT, None, []),
        ('["full_support", "Cats always purr."]', SupportLabel.FULL_SUPPORT, None, ["dropped"]),
        ("full_support", SupportLabel.FULL_SUPPORT, None, ["tolerated"]),
    ],
)
def test_a_quote_is_looked_up_in_the_passage(
    reply: str, label: SupportLabel, evidence: int | None, notes: list[str]
) -> None:
    outcome, (request,) = play(support(PAIR[0], LONG, SUPPORT_QUOTE), [reply])
    assert (outcome.label, outcome.evidence, outcome.failure) == (label, evidence, "")
    assert [note.kind for note in outcome.notes] == notes
    assert request.template == "support-quote"


def test_a_quote_without_a_label_is_asked_for_again() -> None:
    replies = ['["Content cats purr."]', '["maybe", "Content cats purr."]', '["no_support", ""]']
    outcome, requests = play(support(PAIR[0], LONG, SUPPORT_QUOTE), replies)
    assert (outcome.label, len(requests)) == (SupportLabel.NO_SUPPORT, 3)


def test_a_quote_comes_as_json_where_that_is_asked_for() -> None:
    reply = '{"label_and_quote": ["full_support", "Content cats purr."]}'
    outcome, (request,) = play(support(PAIR[0], LONG, replace(SUPPORT_QUOTE, structured=True)), [reply])
    assert (outcome.label, outcome.evidence) == (SupportLabel.FULL_SUPPORT, 1)
    assert '{"label_and_quote": ["...", ...]}' in request.messages[1].content
