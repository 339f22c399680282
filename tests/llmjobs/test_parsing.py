"""Replies read leniently and checked strictly: a form may be odd, the content is never guessed."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmjobs.prompts.template import FORMS
from llmjobs.steps.parsing import (
    LONGEST_REPLY,
    Parsed,
    ReplyProblem,
    parse_label,
    parse_labels,
    parse_list,
    parse_nuggets,
    parse_verdict,
)
from tests.speed import at_most

Write = Callable[[list[str]], str]
ASSIGN = ("support", "partial_support", "not_support")
SUPPORT = ("full_support", "partial_support", "no_support")
GRADES = ("0", "1", "2", "3")

texts = st.lists(st.text(max_size=30) | st.sampled_from(["it's", 'a "b"', "[x]", "```", "a, b", "\\", "]", "'"]))
prose = st.text(st.characters(exclude_characters="[<", exclude_categories=["Cs"]), max_size=40)


def reason(result: object) -> str:
    assert isinstance(result, ReplyProblem), result
    return result.reason


def items(result: object) -> list[str]:
    assert isinstance(result, Parsed), result
    return list(result.items)


@given(texts, st.sampled_from([repr, json.dumps, lambda each: json.dumps(each, ensure_ascii=False, indent=1)]))
def test_a_list_comes_back_as_written(wanted: list[str], write: Write) -> None:
    assert parse_list(write(wanted)) == Parsed(tuple(wanted))


@given(texts, st.sampled_from([repr, json.dumps]), st.sampled_from(["", "python", "json"]))
def test_a_list_in_a_code_fence_comes_back(wanted: list[str], write: Write, language: str) -> None:
    assert parse_list(f"```{language}\n{write(wanted)}\n```") == Parsed(tuple(wanted), ("code fence",))


@given(texts, st.sampled_from([repr, json.dumps]), prose, prose)
def test_a_list_in_prose_comes_back(wanted: list[str], write: Write, before: str, after: str) -> None:
    assert items(parse_list(f"{before}\n{write(wanted)}\n{after}")) == wanted


@given(texts.filter(bool), st.sampled_from([repr, json.dumps]), st.data())
def test_a_list_that_is_cut_off_is_never_a_list(wanted: list[str], write: Write, data: st.DataObject) -> None:
    whole = write(wanted)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    assert isinstance(parse_list(cut), ReplyProblem)


@given(st.text() | prose.map(lambda text: f'["{text}'))
def test_no_reply_breaks_the_reading(reply: str) -> None:
    for result in (parse_nuggets(reply, 30), parse_labels(reply, ASSIGN, 2), parse_label(reply, GRADES)):
        assert isinstance(result, Parsed | ReplyProblem)


@pytest.mark.parametrize(
    ("reply", "wanted", "notes"),
    [
        ("""['a', "it's", 'b']""", ["a", "it's", "b"], ()),
        ("['a', 'b',]", ["a", "b"], ("trailing comma",)),
        ("['it's here', 'b']", ["it's here", "b"], ("unescaped quotes",)),
        ('["the "best", really", "b"]', ['the "best", really', "b"], ("unescaped quotes",)),
        ("[“a”, “b”]", ["a", "b"], ("typographic quotes",)),
        ('{"nuggets": ["a"]}', ["a"], ("text around the list",)),
        ('As segment [3] says:\n["a"]', ["a"], ("text around the list",)),
        ('<think>["x"]</think>["a"]', ["a"], ("a block of reasoning",)),
        ('maybe ["x"]\n</think>\n["a"]', ["a"], ("a block of reasoning",)),
        ("1. a\n2. 'b',\n", ["a", "b"], ("lines instead of a list",)),
        ("The list:\n- **a**\n\n- b", ["a", "b"], ("lines instead of a list", "text around the list")),
        (r'["a\/b \u00e9 \ud83d\ude00 \d"]', ["a/b é 😀 \\d"], ()),
    ],
)
def test_odd_forms_are_tolerated_and_noted(reply: str, wanted: list[str], notes: tuple[str, ...]) -> None:
    assert parse_list(reply) == Parsed(tuple(wanted), notes)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("I cannot do this.", "no list"),
        ("['a' 'b']", "not a valid list"),
        ('["a"\n"b"]', "not a valid list"),
        ('["a", ...]', "not a valid list"),
        ('["a", null]', "not a valid list"),
        ('[{"text": "a", "tags": ["x"]}]', "not a valid list"),
        ('["a [x]", "b', "cut off"),
        ('["a"] or ["b"]', "more than one list"),
        ("- a\nbut also\n- b", "no list"),
        ("1. a\n3. c", "no list"),
        ('<think>["a"]', "ends before its answer"),
        ("[" * 50_000, "no list"),
        ('["a", ' + "[" * 50_000, "not a valid list"),
        ("x" * (LONGEST_REPLY + 1), "too long"),
    ],
)
def test_doubtful_lists_are_refused(reply: str, message: str) -> None:
    assert message in reason(parse_list(reply))


@pytest.mark.parametrize("unit", ["['", '["a",', "'a', ", '" ', "[", "]", "\\", "<think>", "**", "label ", "``` "])
def test_a_long_hostile_reply_is_read_in_linear_time(unit: str) -> None:
    reply = "['a'" + unit * (LONGEST_REPLY // len(unit) - 2)
    with at_most(5):
        for read in (reply, unit * (LONGEST_REPLY // len(unit))):
            parse_labels(read, ASSIGN, 1)
            parse_label(read, SUPPORT)


def test_nuggets_are_one_line_each() -> None:
    assert items(parse_nuggets('["  a\\n b ", "c"]', 30)) == ["a b", "c"]


LATEX = [
    r"the $\beta$ of $\frac{1}{2}$",
    r"5 \times 3 is $\nabla f$",
    r"$\rho$, \text{so} \neq \bar x \forall \tau",
]


@pytest.mark.parametrize("escaped", [False, True])
def test_latex_stays_latex_however_it_is_escaped(escaped: bool) -> None:
    written = json.dumps(LATEX) if escaped else json.dumps(LATEX).replace("\\\\", "\\")
    assert items(parse_nuggets(written, 9)) == LATEX
    form = FORMS["nuggetize"]({})
    plain = form.plain(f'{{"nuggets": {written}}}')
    if plain is not None:
        assert items(parse_nuggets(plain, 9)) == LATEX
    only_letters_of_escapes = [r"$\beta$ and $\frac{1}{2}$", r"5 \times \nabla f \rho"]
    plain = form.plain(json.dumps({"nuggets": only_letters_of_escapes}).replace("\\\\", "\\"))
    assert items(parse_nuggets(plain or "", 9)) == only_letters_of_escapes


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("[]", "empty"),
        ('["a", "b", "c", "d"]', "4 nuggets; at most 3"),
        ('["a", " "]', "item 2 of the list has no words"),
        ('["a", "..."]', "item 2 of the list has no words"),
        ('["a", "b", " A "]', "items 1 and 3 of the list are the same"),
        ('["a\\u0000b"]', "not text"),
        ('["a\\ud800"]', "not text"),
        ('["\\u001b[31mred"]', "item 1 of the list has characters that are not text"),
        ('["a", "b\\u0007"]', "item 2 of the list has characters that are not text"),
        ('["a\\u009bm"]', "not text"),
        ("- a\x1b[31m", "not text"),
    ],
)
def test_a_nugget_list_is_checked(reply: str, message: str) -> None:
    assert message in reason(parse_nuggets(reply, 3))


@pytest.mark.parametrize(
    "reply",
    [
        '["support", "not_support"]',
        "['Support', 'Not Support']",
        '["SUPPORT", "not-support"]',
        "[support, not_support]",
        "[\n  support,\n  not support\n]",
        "1. support\n2. not_support",
        "- `support`\n- `not_support`",
    ],
)
def test_labels_are_read_in_any_spelling_of_their_words(reply: str) -> None:
    assert items(parse_labels(reply, ASSIGN, 2)) == ["support", "not_support"]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ('["support"]', "length 1; it must have 2"),
        ('["support", "support", "support"]', "length 3; it must have 2"),
        ('["support", "ming_dynasty_support"]', "label 2 is 'ming_dynasty_support'; allowed are support"),
        ('["support", ""]', "label 2 is ''"),
        ('["supported", "support"]', "label 1"),
        ('["vital", "okey"]', "label 1"),
        ("support, support", "no list"),
    ],
)
def test_labels_are_checked(reply: str, message: str) -> None:
    assert message in reason(parse_labels(reply, ASSIGN, 2))


def test_one_label_will_do_for_a_list_of_one() -> None:
    assert parse_labels("support", ASSIGN, 1) == Parsed(("support",), ("no list",))
    assert isinstance(parse_labels("support", ASSIGN, 2), ReplyProblem)


@pytest.mark.parametrize(
    "reply",
    [
        "partial_support",
        "Partial Support.",
        '"partial-support"',
        "**Partial support**",
        "Label: partial_support",
        "**Label:** Partial Support",
        "The label is 'partial support'.",
        '{"label": "partial_support"}',
        '["partial_support"]',
        "```\npartial_support\n```",
        "```partial_support```",
        "partial_support\n\nThe passage names the king but not the year.",
        "<think>full_support?</think>\npartial_support",
    ],
)
def test_a_label_is_read_in_many_forms(reply: str) -> None:
    result = parse_label(reply, SUPPORT)
    assert isinstance(result, Parsed)
    assert result.items == ("partial_support",)


def test_a_tolerated_label_form_is_noted() -> None:
    notes = ("'Full Support' for full_support",)
    assert parse_label("Full Support", SUPPORT) == Parsed(("full_support",), notes)
    assert parse_label("full_support", SUPPORT) == Parsed(("full_support",))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "support",
        "not full support",
        "This is not full support.",
        "I would say full support",
        "Full support\nActually, no support",
        "full_support or partial_support",
        "full_support?",
        "unsupported",
    ],
)
def test_a_doubtful_label_is_refused(reply: str) -> None:
    assert isinstance(parse_label(reply, SUPPORT), ReplyProblem)


@pytest.mark.parametrize(
    ("reply", "grade"),
    [("2", "2"), ("Grade: 3", "3"), ("##final score: 0", "0"), ("(1)", "1"), ("3.", "3"), ("**Score** = 2", "2")],
)
def test_grades_are_read(reply: str, grade: str) -> None:
    result = parse_label(reply, GRADES)
    assert isinstance(result, Parsed)
    assert result.items == (grade,)


@pytest.mark.parametrize("reply", ["-1", "2.5", ".2", "4", "2/3", "two", "<3", "2\n3", "Score: 2\nof 3", "\uff12"])
def test_what_is_not_one_grade_of_the_scale_is_refused(reply: str) -> None:
    assert isinstance(parse_label(reply, GRADES), ReplyProblem)


@given(st.text(), st.sampled_from([ASSIGN, SUPPORT, GRADES]))
def test_a_label_is_always_one_of_the_vocabulary(reply: str, vocabulary: tuple[str, ...]) -> None:
    result = parse_label(reply, vocabulary)
    assert isinstance(result, ReplyProblem) or result.items[0] in vocabulary


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("left", "left"),
        ("Right.", "right"),
        ("Both bad", "both bad"),
        ("both_bad", "both bad"),
        ("A", "left"),
        ("**B**", "right"),
        ("`A`", "left"),
        ("[[A]]", "left"),
        ("[[ B ]]", "right"),
        ("[[Tie]]", "tie"),
        ("[[Tie (Both Bad)]]", "both bad"),
        ("Tie (both bad)", "both bad"),
        ("Verdict: B", "right"),
        ("Winner: left", "left"),
        ("My final verdict is **tie**.", "tie"),
        ("The left answer is wrong on a date, the right one is not.\n\n[[B]]", "right"),
        ('{"verdict": "both bad"}', "both bad"),
        ('{"winner": "A"}', "left"),
        ('```json\n{"verdict": "tie"}\n```', "tie"),
        ("<think>[[A]]? The left is longer.</think>\nright", "right"),
    ],
)
def test_a_verdict_is_read_in_many_forms(reply: str, verdict: str) -> None:
    assert items(parse_verdict(reply)) == [verdict]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "bad",
        "C",
        "a",
        "A or B",
        "The left answer is better",
        "left\nright",
        "A\nB",
        "left\n\nThe right one misses the date.",
        "[[A]] then [[B]]",
        "[[C]]",
        "I cannot judge these answers.",
        "<think>left",
    ],
)
def test_a_doubtful_verdict_is_refused(reply: str) -> None:
    assert isinstance(parse_verdict(reply), ReplyProblem)
