"""The forms in which the field writes its files, and what comes from a file or from an option."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.models import (
    Candidate,
    Citation,
    Judge,
    ListedNugget,
    NuggetSet,
    Run,
    Segment,
    SupportJudgment,
    Topic,
)
from evaluation.terms import JudgeKind, SupportCondition
from tests.worlds.imported import (
    AUTO,
    SUPPORT,
    Rows,
    answer,
    load,
    nuggets,
    refuse,
    segment,
    sentence,
    write,
)


def run_2025(**metadata: object) -> dict[str, object]:
    """A line of the 2025 form: a numbered narrative, citations of both kinds."""
    head = {"team_id": "hill", "run_id": "delta", "type": "automatic", "narrative_id": 7, "narrative": "seven"}
    body = [sentence("One.", 1), sentence("Two.", "y1", 0)]
    return {"metadata": head | metadata, "references": ["y1", "y2"], "answer": body}


def cited() -> list[tuple[str, int, str | None]]:
    rows = Citation.objects.order_by("sentence__index", "position")
    return list(rows.values_list("sentence__text", "position", "segment__docid"))


def test_the_2025_form_of_a_run(corpus: Path) -> None:
    load("import_topics", write(corpus, "seven.jsonl", [{"narrative_id": 7, "narrative": "seven"}]))
    load("import_run", write(corpus, "delta.jsonl", [run_2025()]))
    assert cited() == [("One.", 0, "y2"), ("Two.", 0, "y1"), ("Two.", 1, "y1")]
    assert Topic.objects.get(topic_id="7").text == "seven"


def test_the_ragtime_form_of_a_run(corpus: Path) -> None:
    body = [{"text": "One.", "citations": {"y2": 0.9, "y1": 0.3}}]
    load("import_run", write(corpus, "r", [{"run_id": "delta", "topic_id": "t1", "responses": body}]))
    assert cited() == [("One.", 0, "y2"), ("One.", 1, "y1")]


@pytest.mark.parametrize(
    ("options", "group", "task"),
    [
        ((), "hill", "RAG"),
        (("--group", "dale", "--task", "AG"), "dale", "AG"),
    ],
    ids=["from the file", "from the options"],
)
def test_group_and_task_of_a_run(corpus: Path, options: tuple[str, ...], group: str, task: str) -> None:
    line = run_2025(narrative_id="t1", type="automatic-rag")
    load("import_run", *options, write(corpus, "delta.jsonl", [line]))
    found = Run.objects.get()
    assert (found.group, found.task) == (group, task)


def test_priority_control_and_pool_of_a_run(corpus: Path) -> None:
    load("import_run", "--priority", 2, "--control", "--pool", write(corpus, "g", [answer("g", "t1")]))
    found = Run.objects.get()
    assert (found.priority, found.control, found.pool, found.task) == (2, True, True, "")


def test_topics_in_jsonl_with_tags_and_unknown_keys(corpus: Path) -> None:
    line = {"qid": "t5", "query": "five", "tags": ["b", "a"], "difficulty": 3}
    load("import_topics", write(corpus, "five.jsonl", [line]))
    topic = Topic.objects.get(topic_id="t5")
    assert ([tag.name for tag in topic.tags.all()], topic.extra) == (["a", "b"], {"difficulty": 3})


def test_segments_needed_only(corpus: Path) -> None:
    load("import_run", write(corpus, "g", [answer("g", "t1", sentence("A.", 0), references=["x1"])]))
    message = load("import_segments", "--needed-only", write(corpus, "s", [segment("x1"), segment("x2")])).err
    assert "1 passage added" in message
    assert not Segment.objects.filter(docid="x2").exists()


def test_segments_of_candidates(corpus: Path) -> None:
    line = {"query": {"qid": "t1"}, "candidates": [{"docid": "x1", "doc": {"segment": "One."}, "score": 1}]}
    load("import_segments", write(corpus, "c", [line]))
    assert Segment.objects.get(docid="x1").text == "One."


def candidates(topic: str, *docids: str) -> dict[str, Any]:
    found = [{"docid": docid, "doc": {"segment": f"Text {docid}."}} for docid in docids]
    return {"query": {"qid": topic}, "candidates": found}


def candidates_loaded() -> set[tuple[str, str]]:
    return set(Candidate.objects.values_list("topic__topic_id", "segment__docid"))


def test_candidates_are_kept_with_their_topics(corpus: Path) -> None:
    path = write(corpus, "c", [candidates("t1", "x1", "x2"), candidates("t2", "x2", "x2"), candidates("t9", "x1")])
    said = load("import_segments", path).err
    assert said == "2 passages added. 3 candidates; 1 candidates of topics that are not loaded.\n"
    assert candidates_loaded() == {("t1", "x1"), ("t1", "x2"), ("t2", "x2")}
    assert load("import_segments", path).err.startswith("Nothing changed: 2 passages already loaded.")


@pytest.mark.parametrize("query", [{"query": "why"}, {"query": {"text": "why"}}, {"query": {"qid": ""}}, {}])
def test_the_topic_of_candidates_may_stand_beside_their_query(corpus: Path, query: Rows) -> None:
    rows = [{"qid": "t1", **query, "candidates": [segment("x1")]}, segment("x2") | {"qid": "no topic"}]
    load("import_segments", write(corpus, "c", rows))
    assert candidates_loaded() == {("t1", "x1")}


def test_candidates_whose_texts_are_there_come_later(corpus: Path) -> None:
    load("import_segments", write(corpus, "s", [{"docid": "x1", "segment": "Text x1."}]))
    said = load("import_segments", write(corpus, "c", [candidates("t1", "x1")])).err
    assert said == "0 passages added, 1 already loaded. 1 candidate.\n"
    assert candidates_loaded() == {("t1", "x1")}


def test_a_query_that_names_no_topic_has_its_texts_loaded_alone(corpus: Path) -> None:
    load("import_segments", write(corpus, "c", [candidates("t1", "x1") | {"query": "why"}]))
    assert Segment.objects.filter(docid="x1").exists()
    assert candidates_loaded() == set()


def test_judgment_files_of_six_columns(corpus: Path) -> None:
    assert "1 grade added" in load("import_qrels", "--source", "LLM", write(corpus, "q", "t1 Q0 d3 2 0.9 m\n")).err


def test_a_set_is_named_after_origin_and_judge(lists: Path) -> None:
    load("import_nuggets", *AUTO, "--set", "second", write(lists, "n", [nuggets("t1")]))
    assert [nugget_set.name for nugget_set in NuggetSet.objects.all()] == ["auto-m", "second"]


@pytest.mark.parametrize(
    ("origin", "more", "kind"),
    [
        ("auto", (), JudgeKind.LLM),
        ("draft", (), JudgeKind.LLM),
        ("edited", (), JudgeKind.HUMAN),
        ("manual", (), JudgeKind.HUMAN),
        ("manual", ("--by", "llm"), JudgeKind.LLM),
    ],
)
def test_a_judge_that_is_unknown_is_made(
    corpus: Path, origin: str, more: tuple[str, ...], kind: JudgeKind
) -> None:
    load("import_nuggets", "--origin", origin, "--judge", "Eve", *more, write(corpus, "n", [nuggets("t1")]))
    assert Judge.objects.get(name="Eve").kind == kind


def test_a_person_is_not_taken_for_an_llm(lists: Path) -> None:
    message = refuse("import_nuggets", "--origin", "edited", "--judge", "m", write(lists, "n", [nuggets("t1")]))
    assert "m is an LLM, not a person" in message


def test_an_edited_set_says_what_it_was_made_from(lists: Path) -> None:
    load(
        "import_nuggets",
        "--origin",
        "edited",
        "--judge",
        "Ann",
        "--drafts",
        "auto-m",
        write(lists, "n", [nuggets("t1")]),
    )
    edited = NuggetSet.objects.get(name="edited-Ann")
    assert str(edited.drafts) == "auto-m"


def test_the_2025_nuggets_keep_their_group_and_lineage_word(corpus: Path) -> None:
    item = {"text": "bends", "importance": "vital", "mapped_sub_narrative": "shape", "source": "post-edit"}
    load(
        "import_nuggets",
        "--origin",
        "edited",
        "--judge",
        "Ann",
        write(corpus, "n", [{"qid": "t1", "nuggets": [item]}]),
    )
    listed = ListedNugget.objects.get()
    assert (listed.group, listed.extra) == ("shape", {"source": "post-edit"})


def test_a_support_condition_comes_from_the_rows(lists: Path) -> None:
    rows = [row | {"condition": "post-edit", "judge": "Ben"} for row in SUPPORT]
    load("import_support", "--judge", "Ben", "--by", "human", write(lists, "s", rows))
    assert SupportJudgment.objects.filter(condition="post-edit", judge__name="Ben").count() == 2


def test_people_s_support_labels_need_a_condition(lists: Path) -> None:
    message = refuse("import_support", "--judge", "Ben", "--by", "human", write(lists, "s", SUPPORT), code=2)
    assert message == "Say how people judged: condition scratch or post-edit. Option: --condition.\n"


@pytest.mark.parametrize(("by", "condition"), [("llm", SupportCondition.SCRATCH), ("human", SupportCondition.LLM)])
def test_a_support_condition_goes_with_its_judge(lists: Path, by: str, condition: str) -> None:
    words = ("--judge", "Zoe", "--by", by, "--condition", condition)
    message = refuse("import_support", *words, write(lists, "s", SUPPORT), code=2)
    assert f"does not go with labels by {'an LLM' if by == 'llm' else 'a person'}" in message
    assert message.endswith("Option: --by.\n")
