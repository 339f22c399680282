"""Practice files: refused with line and field, loaded once, replaced without touching what was answered."""

from pathlib import Path

import pytest

from assessor.models import PracticeAnswer, PracticeItem
from evaluation.models import Campaign, Event
from evaluation.terms import PracticeKind
from tests.worlds.cast import make_user
from tests.worlds.imported import everything, load, refuse, run, write
from tests.worlds.practice import ALL, IMPORTANCE, SUPPORT, Row, item

NAME = "import_practice"
I1, I2 = IMPORTANCE


@pytest.fixture(autouse=True)
def _campaign(db: None) -> None:
    run("create_campaign", "river", "--name", "River study")


def standing() -> list[str]:
    return list(PracticeItem.objects.filter(stands=True).values_list("statement", flat=True))


def answered(row: Row) -> PracticeAnswer:
    practice_item = PracticeItem.objects.get(statement=row["statement"])
    return PracticeAnswer.objects.create(
        item=practice_item, user=make_user("ann"), label=1, given_at="2026-05-04T10:00:00Z"
    )


def without(row: Row, key: str) -> Row:
    return {name: value for name, value in row.items() if name != key}


BAD: list[tuple[Row, str, str]] = [
    (I1 | {"kind": "relevance"}, "kind", "importance or grade or battle, found 'relevance'"),
    (I1 | {"label": "support"}, "label", "vital or okay, found 'support'"),
    (item("assign", "x", "full_support"), "label", "support or partial_support or not_support"),
    (item("support", "x", "cant_judge"), "label", "full_support or partial_support or no_support"),
    (I1 | {"text": "a passage"}, "text", "nothing"),
    (without(item("assign", "x", "support"), "question"), "question", "assign needs one"),
    (without(item("support", "x", "no_support"), "text"), "text", "support needs one"),
    (item("assign", "x", "support", shown_label="support"), "shown_label", "for support only"),
    (item("support", "x", "no_support", shown_label="not_support"), "shown_label", "full_support or"),
    (item("battle", "x", "cant_judge"), "label", "left or tie or right or bad"),
    (without(item("battle", "x", "left"), "text"), "text", "battle needs one"),
    (without(I1, "explanation"), "explanation", "the field is missing"),
    (I1 | {"statement": " "}, "statement", "not empty"),
    (I1 | {"label": 2}, "label", "a string, found an integer"),
]


@pytest.mark.parametrize(("row", "field", "words"), BAD, ids=[f"{field} {words[:12]}" for _, field, words in BAD])
def test_a_bad_line_is_refused_with_its_field(tmp_path: Path, row: Row, field: str, words: str) -> None:
    path = write(tmp_path, "practice.jsonl", [I2, row])
    message = refuse(NAME, path)
    assert message.startswith(f"{path}:2: {field}: ")
    assert words in message


def test_one_item_with_two_labels_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "practice.jsonl", [I1, I1, I1 | {"label": "okay"}])
    assert refuse(NAME, path).startswith(f"{path}:3: label: one row for 'statement i1', a conflicting duplicate")


def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "practice.jsonl", ALL)
    assert f"{len(ALL)} practice items added." in load(NAME, path).err
    before = everything()
    for more in ((), ("--replace",)):
        assert f"Nothing changed: {len(ALL)} practice items already loaded." in load(NAME, *more, path).err
        assert everything() == before


def test_items_of_another_file_come_after_those_that_are_there(tmp_path: Path) -> None:
    load(NAME, write(tmp_path, "a.jsonl", [I2]))
    assert "1 practice item added, 1 already loaded." in load(NAME, write(tmp_path, "b.jsonl", [I1, I2])).err
    assert standing() == ["statement i2", "statement i1"]


def test_another_label_or_reason_is_refused_without_replace(tmp_path: Path) -> None:
    load(NAME, write(tmp_path, "a.jsonl", IMPORTANCE))
    answered(I1)
    for change in ({"label": "okay"}, {"explanation": "because"}):
        path = write(tmp_path, "b.jsonl", [I2, I1 | change])
        message = refuse(NAME, path)
        assert message.startswith(
            f"{path}:2: label: what is already loaded for 'statement i1'; --replace changes it"
        )


def test_replaced_is_a_new_item_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    load(NAME, write(tmp_path, "a.jsonl", [*IMPORTANCE, *SUPPORT]))
    answer = answered(I1)
    message = load(NAME, "--replace", write(tmp_path, "b.jsonl", [I1 | {"label": "okay"}, I2])).err
    assert "0 practice items added, 1 changed, 1 already loaded." in message
    assert standing() == ["statement i1", "statement i2", "statement s1", "statement s2"]
    old, new = PracticeItem.objects.filter(statement=I1["statement"]).order_by("pk")
    assert (old.stands, old.label, new.stands, new.label) == (False, 2, True, 1)
    answer.refresh_from_db()
    assert (answer.item_id, answer.label) == (old.pk, 1)


def test_replace_takes_the_file_as_all_items_of_its_kinds_in_order(tmp_path: Path) -> None:
    load(NAME, write(tmp_path, "a.jsonl", [*IMPORTANCE, item("importance", "i3", "okay"), *SUPPORT]))
    message = load(NAME, "--replace", write(tmp_path, "b.jsonl", [item("importance", "i3", "okay"), I1])).err
    assert "0 practice items added, 3 changed. 1 of the changed taken out; 2 of the changed moved." in message
    assert standing() == ["statement i3", "statement i1", "statement s1", "statement s2"]
    assert PracticeItem.objects.filter(stands=False).count() == 0  # nobody had answered it


def test_an_import_is_one_event(tmp_path: Path) -> None:
    load(NAME, write(tmp_path, "a.jsonl", ALL))
    [event] = Event.objects.filter(kind="import.practice")
    assert (event.payload["added"], event.payload["of"]) == (len(ALL), "practice items")
    assert set(PracticeItem.objects.values_list("event", flat=True)) == {event.pk}


def test_practice_is_switched_off_in_the_campaign_file(tmp_path: Path) -> None:
    path = write(tmp_path, "c.toml", "[protocol]\npractice = false\n")
    assert run("create_campaign", "river", "--name", "River study", "--from", path, "--replace").code == 0
    assert Campaign.objects.get(slug="river").protocol.practice is False


def test_every_kind_is_loaded(tmp_path: Path) -> None:
    load(NAME, write(tmp_path, "a.jsonl", ALL))
    assert set(PracticeItem.objects.values_list("kind", flat=True)) == set(PracticeKind)
