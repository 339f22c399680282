"""AutoNuggets against replies written by hand: which windows, which lists, which order, which cut."""

import json

import pytest

from evaluation.terms import Importance
from llmjobs.steps.asking import LlmReply
from llmjobs.steps.nuggetize import DraftsInput, NuggetizeInput, NuggetizeOutcome, nuggetize, over_generated_drafts
from tests.llmjobs.steps.scripted import GONE, between, parts, play, user_text

REPEATS = ["", ", re-ask 1", ", re-ask 2"]
VITAL, OKAY, UNKNOWN = Importance.VITAL, Importance.OKAY, Importance.UNKNOWN


def segments(count: int) -> tuple[str, ...]:
    return tuple(f"Text of segment {number}." for number in range(1, count + 1))


def names(count: int, prefix: str = "fact") -> list[str]:
    return [f"{prefix} {number}" for number in range(1, count + 1)]


def drafts(count: int, window_size: int = 10, draft_cap: int = 30) -> DraftsInput:
    return DraftsInput("why do cats purr", segments(count), window_size, draft_cap)


def labels(letters: str) -> str:
    return json.dumps([{"v": "vital", "o": "okay"}[letter] for letter in letters])


def summary(outcome: NuggetizeOutcome) -> list[tuple[str, Importance]]:
    return [(nugget.text, nugget.importance) for nugget in outcome.nuggets]


@pytest.mark.parametrize("word", ["avoid", "must_avoid", "Must avoid"])
def test_an_llm_cannot_say_that_a_nugget_is_to_be_avoided(word: str) -> None:
    work = NuggetizeInput(drafts(1))
    outcome, requests = play(nuggetize(work), ['["a"]', *[json.dumps([word])] * 3])
    assert summary(outcome) == [("a", UNKNOWN)]
    assert f"label 1 is '{word}'; allowed are vital, okay" in requests[2].messages[-1].content


def test_windows_of_ten_carry_the_list_forward() -> None:
    lists = [["a", "b"], ["c", "a", "b"], ["c", "d", "a"]]
    outcome, requests = play(over_generated_drafts(drafts(23)), map(json.dumps, lists))
    assert parts(requests) == ["window 1", "window 2", "window 3"]
    assert [user_text(request).count("<segment ") for request in requests] == [10, 10, 3]
    assert [json.loads(between(request, "nuggets")) for request in requests] == [[], *lists[:2]]
    assert [draft.text for draft in outcome.drafts] == ["c", "d", "a"]
    assert (outcome.failure, outcome.notes) == ("", ())


def test_segments_are_read_first_to_last() -> None:
    _, requests = play(over_generated_drafts(drafts(23)), ['["a"]'] * 3)
    read = [
        line
        for request in requests
        for line in user_text(request).split("\n")
        if line.startswith("Text of segment")
    ]
    assert tuple(read) == segments(23)
    assert '<segment n="3">\nText of segment 23.\n</segment>' in user_text(requests[2])


def test_each_call_tells_the_length_of_the_current_list_and_the_cap() -> None:
    _, requests = play(over_generated_drafts(drafts(20, draft_cap=40)), ['["a", "b", "c"]'] * 2)
    assert ["holds 0 nuggets" in user_text(requests[0]), "holds 3 nuggets" in user_text(requests[1])] == [
        True,
        True,
    ]
    assert "at most 40 nuggets" in user_text(requests[1])


def test_a_nugget_names_the_ask_that_first_had_it_in_these_words() -> None:
    outcome, _ = play(over_generated_drafts(drafts(30)), ['["a", "b"]', '["c", "a"]', '["A!", "c", "b"]'])
    assert [(draft.text, draft.text_ask) for draft in outcome.drafts] == [("A!", 2), ("c", 1), ("b", 2)]


def test_drafts_may_reach_the_cap_and_get_no_importance() -> None:
    outcome, requests = play(over_generated_drafts(drafts(10)), [json.dumps(names(30))])
    assert [draft.text for draft in outcome.drafts] == names(30)
    assert {request.task for request in requests} == {"nuggetize"}


def test_a_list_beyond_the_cap_is_a_wrong_reply() -> None:
    outcome, requests = play(over_generated_drafts(drafts(10)), [json.dumps(names(31)), json.dumps(names(30))])
    assert parts(requests) == ["window 1", "window 1, re-ask 1"]
    assert "the list has 31 nuggets; at most 30 are allowed" in requests[1].messages[-1].content
    assert len(outcome.drafts) == 30


def test_importance_is_asked_in_batches_of_ten() -> None:
    replies = [json.dumps(names(25)), labels("v" * 10), labels("o" * 10), labels("v" * 5)]
    _, requests = play(nuggetize(NuggetizeInput(drafts(3))), replies)
    assert parts(requests)[1:] == ["importance batch 1 of 3", "importance batch 2 of 3", "importance batch 3 of 3"]
    assert [json.loads(between(request, "nuggets")) for request in requests[1:]] == [
        names(25)[:10],
        names(25)[10:20],
        names(25)[20:],
    ]


def test_nuggets_are_sorted_vital_first_in_the_order_of_the_list() -> None:
    replies = ['["a", "b", "c", "d", "e"]', labels("ovovo")]
    outcome, _ = play(nuggetize(NuggetizeInput(drafts(3))), replies)
    assert summary(outcome) == [("b", VITAL), ("d", VITAL), ("a", OKAY), ("c", OKAY), ("e", OKAY)]


def test_the_first_twenty_are_kept_after_sorting() -> None:
    replies = [json.dumps(names(25)), labels("o" * 10), labels("o" * 10), labels("vvvvo")]
    outcome, _ = play(nuggetize(NuggetizeInput(drafts(3))), replies)
    vital = [(f"fact {number}", VITAL) for number in (21, 22, 23, 24)]
    assert summary(outcome) == vital + [(name, OKAY) for name in names(16)]
    assert [nugget.text for nugget in outcome.left_out] == ["fact 17", "fact 18", "fact 19", "fact 20", "fact 25"]
    assert [note.text for note in outcome.notes] == ["5 of 25 nuggets are beyond the first 20"]


def test_settings_of_the_campaign_are_followed() -> None:
    work = NuggetizeInput(drafts(5, window_size=2, draft_cap=4), nugget_cap=1, batch_size=2)
    replies = ['["a"]', '["a"]', '["a", "b", "c"]', labels("ov"), labels("v")]
    outcome, requests = play(nuggetize(work), replies)
    assert [user_text(request).count("<segment ") for request in requests[:3]] == [2, 2, 1]
    assert summary(outcome) == [("b", VITAL)]


def test_each_nugget_names_the_asks_of_its_text_and_importance() -> None:
    replies = ['["a"]', '["b", "a"]', labels("ov")]
    outcome, _ = play(nuggetize(NuggetizeInput(drafts(11))), replies)
    assert [(n.text, n.text_ask, n.importance_ask) for n in outcome.nuggets] == [("a", 0, 2), ("b", 1, 2)]


def test_an_importance_that_failed_stays_unknown_and_stands_last() -> None:
    batch, halved, single = ["no"] * 3, ["no"] * 3, ['["okey"]'] * 3
    replies = ['["a", "b", "c"]', *batch, *halved, *single, labels("v"), "okay"]
    outcome, requests = play(nuggetize(NuggetizeInput(drafts(3))), replies)
    assert parts(requests)[-5:-2] == [f"importance batch 1 of 1, nuggets 1-1{repeat}" for repeat in REPEATS]
    assert summary(outcome) == [("b", VITAL), ("c", OKAY), ("a", UNKNOWN)]
    assert "allowed are vital, okay" in outcome.nuggets[-1].failure
    assert outcome.notes[-1].text == "1 nuggets of unknown importance stand behind vital and okay ones"


def test_without_a_connection_importance_stays_unknown() -> None:
    outcome, requests = play(nuggetize(NuggetizeInput(drafts(3))), ['["a", "b"]', GONE])
    assert summary(outcome) == [("a", UNKNOWN), ("b", UNKNOWN)]
    assert {nugget.failure for nugget in outcome.nuggets} == {GONE.failure}
    assert len(requests) == 2


@pytest.mark.parametrize("empty", ["[]", "[ ]", ""])
def test_an_empty_list_is_a_wrong_reply(empty: str) -> None:
    outcome, requests = play(over_generated_drafts(drafts(2)), [empty, '["a"]'])
    assert "empty" in requests[1].messages[-1].content
    assert [draft.text for draft in outcome.drafts] == ["a"]


def test_a_later_window_cannot_empty_the_list() -> None:
    outcome, requests = play(over_generated_drafts(drafts(11)), ['["a"]', "[]", '["a"]'])
    assert parts(requests) == ["window 1", "window 2", "window 2, re-ask 1"]
    assert [draft.text for draft in outcome.drafts] == ["a"]


def test_a_window_is_split_and_its_halves_carry_the_list() -> None:
    outcome, requests = play(
        over_generated_drafts(drafts(13)), ['["a"]', *["?"] * 3, '["a", "b"]', '["a", "b", "c"]']
    )
    halves = ["window 2, segments 11-12", "window 2, segments 13-13"]
    assert parts(requests) == ["window 1", *[f"window 2{repeat}" for repeat in REPEATS], *halves]
    assert json.loads(between(requests[-1], "nuggets")) == ["a", "b"]
    assert [draft.text for draft in outcome.drafts] == ["a", "b", "c"]
    assert [note.kind for note in outcome.notes] == ["wrong", "wrong", "wrong", "split"]


def test_a_segment_without_a_usable_reply_stays_unread() -> None:
    outcome, _ = play(over_generated_drafts(drafts(2)), [*["?"] * 3, *["?"] * 3, '["a"]'])
    assert (outcome.unread, outcome.failure) == ((0,), "")
    assert [draft.text for draft in outcome.drafts] == ["a"]


def test_a_window_that_fails_entirely_fails_the_topic() -> None:
    outcome, requests = play(nuggetize(NuggetizeInput(drafts(12))), ['["a"]', *["?"] * 9])
    assert outcome.failure == "window 2: the reply has no list of strings"
    assert (outcome.nuggets, outcome.drafts.drafts, outcome.drafts.unread) == ((), (), (10, 11))
    assert len(requests) == 10


def test_without_a_connection_the_topic_fails_at_once() -> None:
    outcome, requests = play(nuggetize(NuggetizeInput(drafts(23))), ['["a"]', GONE])
    assert outcome.failure == f"window 2: {GONE.failure}"
    assert (outcome.nuggets, len(requests)) == ((), 2)


def test_a_half_without_a_connection_fails_the_topic() -> None:
    outcome, _ = play(over_generated_drafts(drafts(4)), [*["?"] * 3, '["a"]', LlmReply(None)])
    assert outcome.failure == "window 1, segments 3-4: no reply"
    assert outcome.drafts == ()


def test_a_topic_without_segments_fails() -> None:
    outcome, requests = play(nuggetize(NuggetizeInput(drafts(0))), [])
    assert (outcome.failure, requests) == ("there are no passages to read", [])


def test_sizes_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="window_size"):
        drafts(1, window_size=0)
    with pytest.raises(ValueError, match="draft_cap"):
        drafts(1, draft_cap=0)
    with pytest.raises(ValueError, match="nugget_cap"):
        NuggetizeInput(drafts(1), nugget_cap=0)
