"""Traces of one's own system are loaded in the browser: columns are named, and the first answers shown before."""

import pytest
from django.test import Client

from evaluation.models import AnswerProvenance, Segment
from tests.organizer.data.test_import_wizard import _own_folder, loaded, page_of, sent, world
from tests.worlds.campaign import World

__all__ = ["_own_folder", "world"]

pytestmark = pytest.mark.postgresql


@pytest.fixture
def olga(world: World) -> Client:
    return world.client("olga")


SHEET = 'Question,Bot answer,Sources\nCan a group reserve?,"Yes [2]. Ask, <b>us</b>.","Quiet.|Groups may."\n'
NAMES = {"question": "Question", "answer": "Bot answer", "contexts": "Sources", "contexts_split": "|"}


def test_the_first_answers_of_a_sheet_are_shown_as_sentences_and_then_loaded(olga: Client) -> None:
    attempt = sent(olga, "traces", ("sheet.csv", SHEET), run="bot", keep="Question, Sources", **NAMES)
    page = page_of(olga, attempt)
    assert "First answers, as assessors will see them" in page
    assert "Ask, &lt;b&gt;us&lt;/b&gt;." in page
    assert "Groups may." in page
    assert not AnswerProvenance.objects.filter(run__run_id="bot").exists()
    assert "1 run added" in loaded(olga, attempt)
    kept = AnswerProvenance.objects.get(run__run_id="bot").extra["trace"]["kept"]
    assert kept == {"Question": "Can a group reserve?", "Sources": "Quiet.|Groups may."}
    assert Segment.objects.filter(text="Groups may.").exists()


def test_a_divider_may_be_lines(olga: Client) -> None:
    sheet = 'q,a,c\nWhy?,So [2].,"One.\n---\nTwo."\n'
    names = {"question": "q", "answer": "a", "contexts": "c", "contexts_split": r"\n---\n"}
    page = page_of(olga, sent(olga, "traces", ("s.csv", sheet), run="bot", **names))
    assert "[2]</span>" in page


def test_a_column_that_is_not_there_is_refused_with_those_that_are(olga: Client) -> None:
    page = page_of(olga, sent(olga, "traces", ("s.csv", SHEET), run="bot", **NAMES | {"contexts": "Source"}))
    assert "no column &#x27;Source&#x27; (columns: Question, Bot answer, Sources)" in page


def test_a_file_of_ragas_needs_no_columns(olga: Client) -> None:
    line = '{"user_input": "Why?", "response": "So [1].", "retrieved_contexts": ["Water."]}\n'
    assert "First answers" in page_of(olga, sent(olga, "traces", ("t.jsonl", line), run="bot"))
