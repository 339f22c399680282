"""Which passages a desk shows, in which order, and that nothing says why they are there."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext

from assessor.blind.cited import cited_passage
from assessor.blind.passages import Passage, PassagesToRead, passages_of, reading_of
from evaluation.models import Protocol, Qrel, Segment, Task
from tests.worlds.desk import DeskWorld, docid_of

Numbers = Callable[[Task], list[int]]


@pytest.fixture
def numbers(world: DeskWorld) -> Numbers:
    docids = {docid_of("t1", number): number for number in range(1, 7)}
    known = {segment.public_id: docids[segment.docid] for segment in world.segments()}
    return lambda task: [known[passage.public_id] for passage in passages_of(fresh(task))]


def fresh(task: Task) -> Task:
    return Task.objects.select_related("topic", "protocol").get(pk=task.pk)


def protocol(world: DeskWorld, **settings: object) -> None:
    Protocol.objects.filter(campaign=world.campaign).update(**settings)


def test_the_best_graded_come_first_each_with_its_document(world: DeskWorld, numbers: Numbers) -> None:
    protocol(world, group_overlaps=False)
    assert numbers(world.post_edit) == [1, 4, 2, 5, 3, 6]
    protocol(world, group_overlaps=True)
    assert numbers(world.post_edit) == [1, 2, 3, 4, 5, 6]


def test_what_is_graded_below_the_threshold_is_not_read(world: DeskWorld, numbers: Numbers) -> None:
    protocol(world, grade_threshold=3, group_overlaps=False)
    assert numbers(world.post_edit) == [1, 4]


def test_a_shuffle_is_the_same_for_everybody_and_every_time(world: DeskWorld, numbers: Numbers) -> None:
    protocol(world, passage_order="shuffle", group_overlaps=False)
    first = numbers(world.post_edit)
    assert sorted(first) == [1, 2, 3, 4, 5, 6]
    Task.objects.filter(pk=world.post_edit.pk).update(assessor=world.people["ben"])
    assert numbers(world.post_edit) == first


def test_passages_without_text_are_counted(world: DeskWorld) -> None:
    Segment.objects.filter(docid=docid_of("t1", 1)).update(has_text=False, text="")
    reading = reading_of(fresh(world.post_edit))
    assert (len(reading.passages), reading.without_text) == (5, 1)
    assert [passage.number for passage in reading.passages] == [1, 2, 3, 4, 5]
    assert "1 passage of this topic cannot be shown" in page(reading)


def test_a_topic_with_nothing_to_read_says_so(world: DeskWorld) -> None:
    Qrel.objects.all().delete()
    assert "There is no passage to read" in page(reading_of(fresh(world.post_edit)))


def test_reading_takes_one_query(world: DeskWorld) -> None:
    task = fresh(world.post_edit)
    with CaptureQueriesContext(connection) as context:
        passages_of(task)
    assert len(context) == 1


def test_the_text_is_shown_as_it_is(world: DeskWorld) -> None:
    text = "  Dr. Smith left. <b>He</b> came back!\n\n- one\n- two "
    Segment.objects.filter(docid=docid_of("t1", 1)).update(text=text)
    passage = passages_of(fresh(world.post_edit))[0]
    assert [sentence.text for sentence in passage.sentences] == [
        "Dr. Smith left.",
        "<b>He</b> came back!",
        "- one",
        "- two",
    ]
    assert "".join(sentence.text + sentence.gap for sentence in passage.sentences) == text.strip()
    assert passage.words == 10
    assert "&lt;b&gt;He&lt;/b&gt; came back!</span>\n\n<span" in page(reading_of(fresh(world.post_edit)))


def test_words_are_counted_where_no_blank_parts_them(world: DeskWorld) -> None:
    Segment.objects.filter(has_text=True).update(text="海平面上升。")
    assert {passage.words for passage in passages_of(fresh(world.post_edit))} == {5}
    assert [cited_passage("p", "流" * words).is_long for words in (400, 401)] == [False, True]


@pytest.mark.parametrize("grouped", [True, False])
def test_sentences_of_a_document_are_greyed_where_they_repeat(world: DeskWorld, grouped: bool) -> None:
    protocol(world, group_overlaps=grouped)
    for number, text in {1: "One. Two. Three.", 2: "Two. Three. Four.", 3: "Two."}.items():
        Segment.objects.filter(docid=docid_of("t1", number)).update(text=text)
    first, second, third, *_ = passages_of(fresh(world.post_edit))
    if not grouped:
        assert not any(sentence.repeated for passage in (first, second, third) for sentence in passage.sentences)
        return
    assert repeated(first) == repeated(third) == []
    assert repeated(second) == ["Two.", "Three."]
    assert [sentence.note for sentence in second.sentences] == ["2 sentences of P1 again", "", ""]


def repeated(passage: Passage) -> list[str]:
    return [sentence.text for sentence in passage.sentences if sentence.repeated]


def test_nothing_tells_why_a_passage_is_there(world: DeskWorld) -> None:
    html = page(reading_of(fresh(world.post_edit)))
    assert world.segments()[0].public_id in html
    assert [secret for secret in ("t1-00", "NIST", "grade", "drafting-machine") if secret in html] == []


def page(reading: PassagesToRead) -> str:
    desk = {"passages": reading.passages, "without_text": reading.without_text, "head": {"by_hand": False}}
    return render_to_string("assessor/passages.html", {"desk": desk})
