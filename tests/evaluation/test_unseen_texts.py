"""A text in which nothing can be seen is empty, at desks, in files, forms and the API; nobody sees such edges."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.utils.timezone import now
from pydantic import TypeAdapter

from accounts.invitations import make_account
from accounts.tokens import Scope, make_token
from evaluation.campaigns.create import create_campaign
from evaluation.errors import BadInput, Refused
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.lines import Text
from evaluation.formats.nuggets import parse_nuggets
from evaluation.judges import add_judge
from evaluation.tasks.changes import check_reason
from evaluation.tasks.remarks import remark
from evaluation.terms import JudgeKind, RemarkKind
from llmjobs.steps.parsing import ReplyProblem
from llmjobs.steps.parsing import parse_nuggets as parse_reply
from tests.assessor.desk_client import Window
from tests.worlds.cast import write_source
from tests.worlds.desk import DeskWorld, make_desk_world
from tests.worlds.judging_desk import make_judge_world
from web.middleware import RuleRefusal
from web.text import UNSEEN, trimmed

UNSEEN_TEXTS = [
    *(
        "\u200b",
        "\u2060\ufeff",
        "\u00ad",
        "\u202e",
        "\u3164",
        "\u2800",
        "\ufe0f",
        "\U000e0041",
        "\u00a0 ",
        "\u115f",
    ),
    "\u180e",
    "\u2066\u2069",
    "\u034f",
    "\ufff9",
    "\U000e0101",
    " \u200d\t",
    "\u17b4",
    "\uffa0",
    "\u061c",
]


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path)


@pytest.mark.parametrize("text", UNSEEN_TEXTS)
def test_nothing_to_see_is_no_text(text: str) -> None:
    assert trimmed(text) == ""
    assert trimmed(f"{text}a fact{text}") == "a fact"
    with pytest.raises(ValueError, match="pattern"):
        TypeAdapter(Text).validate_python(text)


def test_the_pattern_of_files_knows_the_same_characters() -> None:
    read = TypeAdapter(Text).validator.isinstance_python
    every = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert {letter for letter in every if not read(letter)} == UNSEEN


@pytest.mark.parametrize(
    "text",
    ["I \u2764\ufe0f", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "葛\U000e0100", "a\u200db", "न्\u200dष", "³"],
)
def test_what_shapes_a_character_that_is_seen_stays(text: str) -> None:
    assert trimmed(f"\u200b{text}\n") == text


@pytest.mark.parametrize("text", UNSEEN_TEXTS)
def test_a_desk_takes_no_nugget_without_a_text(desk: DeskWorld, text: str) -> None:
    ann = Window(desk.client(), desk.post_edit).open()
    before = len(ann.state()["rows"])
    assert ann.do("add", key="own", text=text, importance=2, evidence=[], after=None)["code"] == "empty_text"
    assert ann.do("edit", key="d1", text=text)["code"] == "empty_text"
    assert len(ann.state()["rows"]) == before
    assert ann.do("edit", key="d1", text=f"{text}rivers bend{text}")["rows"]["d1"]["text"] == "rivers bend"


def test_reasons_and_remarks_need_something_to_read(desk: DeskWorld) -> None:
    ann = desk.people["ann"]
    Window(desk.client(), desk.post_edit).open()
    for text in UNSEEN_TEXTS:
        with pytest.raises(Refused, match="Say why"):
            check_reason(text)
        with pytest.raises(Refused, match="Write what"):
            remark(task=desk.post_edit.public_id, user=ann, kind=RemarkKind.FLAG, text=text)


def test_cant_judge_needs_a_reason_that_can_be_read(db: None, tmp_path: Path) -> None:
    world = make_judge_world(tmp_path, runs=2)
    ann = Window(world.client("ann"), world.assign).open()
    state = ann.state()
    key = f"{state['answers'][0]['id']}/{state['nuggets'][0]['key']}"
    assert ann.do("label", key=key, label="cant_judge", reason="\u200b\u3164")["code"] == "no_reason"
    given = ann.do("label", key=key, label="cant_judge", reason="\ufeffin Klingon\u2060")
    assert given["rows"][key]["reason"] == "in Klingon"


@pytest.mark.parametrize("name", ["\u3164", "\u2800", "\u200b", "Ann\u200b", "\ufeffAnn"])
def test_names_are_what_one_sees(db: None, name: str) -> None:
    with pytest.raises(Refused, match="name"):
        add_judge(name=name, kind=JudgeKind.LLM, model="m")
    with pytest.raises(ValidationError):
        make_account(username=name, password="a long enough pass phrase")
    if not trimmed(name):
        with pytest.raises(Refused):
            create_campaign(slug="c", name=name)
        owner = make_account(username="olga", password="a long enough pass phrase", full_name=name)
        assert owner.name == "olga"
        with pytest.raises(RuleRefusal, match="needs a name"):
            make_token(user=owner, name=name, scopes=[Scope.READ], expires_at=now() + timedelta(days=1))


@pytest.mark.parametrize("text", UNSEEN_TEXTS)
def test_files_and_replies_hold_no_nugget_without_a_text(tmp_path: Path, text: str) -> None:
    listed = {"qid": "1", "query": "q", "nuggets": [{"text": text, "importance": "vital"}]}
    with pytest.raises(BadInput):
        list(parse_nuggets(write_source(tmp_path, "n.jsonl", json.dumps(listed) + "\n")))
    row = {"qid": "1", "run_id": "r", "nuggets": [{"text": text, "assignment": "support"}]}
    with pytest.raises(BadInput):
        list(parse_assignments(write_source(tmp_path, "l.jsonl", json.dumps(row) + "\n")))
    assert isinstance(parse_reply(json.dumps([text]), 5), ReplyProblem)


def test_two_nuggets_that_look_the_same_are_one_text(tmp_path: Path) -> None:
    nuggets = [{"text": "a fact", "importance": "vital"}, {"text": "a fact\u200b", "importance": "okay"}]
    source = write_source(tmp_path, "n.jsonl", json.dumps({"qid": "1", "query": "q", "nuggets": nuggets}) + "\n")
    (row,) = parse_nuggets(source)
    assert [nugget.text for nugget in row.nuggets] == ["a fact", "a fact"]
