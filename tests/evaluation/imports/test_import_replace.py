"""--replace changes what is loaded, and is refused where labels hang on it, saying how many."""

from pathlib import Path

import pytest

from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import (
    Answer,
    Assignment,
    Campaign,
    Finding,
    ListedNugget,
    Nugget,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Qrel,
    Run,
    Segment,
    Sentence,
    SupportJudgment,
    Topic,
)
from tests.worlds.imported import (
    AUTO,
    BY_ANN,
    BY_LLM,
    LISTS,
    SUPPORT,
    Rows,
    answer,
    labels,
    load,
    nuggets,
    refuse,
    segment,
    sentence,
    write,
)


def test_a_topic_s_text_changes(runs: Path) -> None:
    load("import_topics", "--replace", write(runs, "new.tsv", "t1\twhy streams bend\n"))
    assert Topic.objects.get(topic_id="t1").text == "why streams bend"


def test_a_segment_s_text_changes(runs: Path) -> None:
    load("import_segments", "--replace", write(runs, "new.jsonl", [segment("d1", "New text.")]))
    assert Segment.objects.get(docid="d1").text == "New text."


def test_a_grade_changes_even_where_labels_exist(labelled: Path) -> None:
    message = load("import_qrels", "--source", "NIST", "--replace", write(labelled, "new", "t1 0 d1 3\n")).err
    assert "1 changed" in message
    assert Qrel.objects.get(segment__docid="d1").grade == 3


def test_a_run_s_answers_change(runs: Path) -> None:
    load(
        "import_run", "--replace", write(runs, "new.jsonl", [answer("alpha", "t1", sentence("One new sentence."))])
    )
    assert Answer.objects.count() == 2
    assert list(Sentence.objects.order_by("text").values_list("text", flat=True)) == [
        "One new sentence.",
        "Rivers.",
    ]


def test_a_run_s_group_alone_changes_under_labels(labelled: Path) -> None:
    load("import_run", "--group", "dale", "--replace", labelled / "alpha.jsonl")
    assert Run.objects.get(run_id="alpha").group == "dale"
    assert Assignment.objects.count() == 5


def test_findings_of_a_replaced_run_go_with_it(runs: Path) -> None:
    wrong = [answer("alpha", "t1", sentence("New words.", 7), response_length=5)]
    load("import_run", "--replace", write(runs, "wrong.jsonl", wrong))
    codes = Finding.objects.filter(run_id="alpha").values_list("code", flat=True)
    assert set(codes) == {"response_length", "citation_out_of_range", "missing_topics"}
    load("import_run", "--replace", runs / "alpha.jsonl")
    assert not Finding.objects.filter(run_id="alpha").exists()


def test_a_list_changes_and_leaves_nothing_of_the_old_one(lists: Path) -> None:
    load("import_nuggets", *AUTO, "--replace", write(lists, "new.jsonl", [nuggets("t1", ("bars", "okay"))]))
    assert [nugget.text for nugget in NuggetVersion.objects.order_by("text")] == ["bars", "dams"]
    assert (Nugget.objects.count(), NuggetList.objects.count()) == (2, 2)


def test_labels_change(labelled: Path) -> None:
    changed = [labels("alpha", "t2", ("dams", "support"))]
    load("import_assignments", *BY_LLM, "--replace", write(labelled, "new.jsonl", changed))
    label = Assignment.objects.get(nugget_version__text="dams")
    assert label.label == AssignmentLabel.SUPPORT
    assert Assignment.objects.count() == 5


def test_support_labels_change(labelled: Path) -> None:
    changed = [SUPPORT[0] | {"label": "no_support"}]
    load("import_support", *BY_ANN, "--replace", write(labelled, "new.jsonl", changed))
    assert SupportJudgment.objects.get(segment__docid="d1").label == SupportLabel.NO_SUPPORT


def test_rows_point_to_the_import_that_changed_them(labelled: Path) -> None:
    changed = [labels("alpha", "t2", ("dams", "support"))]
    load("import_assignments", *BY_LLM, "--replace", write(labelled, "new.jsonl", changed))
    events = {
        assignment.nugget_version.text: assignment.event
        for assignment in Assignment.objects.filter(answer__topic__topic_id="t2")
    }
    assert events["dams"] is not None
    assert events["dams"].payload["changed"] == 1


HANGING: list[tuple[tuple[str, ...], str | list[Rows], int]] = [
    (("import_topics",), "t1\tanother text\n", 6),
    (("import_segments",), [segment("d1", "Other.")], 1),
    (("import_run",), [answer("alpha", "t1", sentence("Else."))], 5),
    (("import_nuggets", *AUTO), [nuggets("t1", ("bars", "vital"))], 4),
]


@pytest.mark.parametrize(("command", "content", "count"), HANGING, ids=[case[0][0] for case in HANGING])
def test_what_labels_hang_on_stays(
    labelled: Path, command: tuple[str, ...], content: str | list[Rows], count: int
) -> None:
    message = refuse(*command, "--replace", write(labelled, "changed", content))
    assert f"cannot be replaced: {count} labels hang on it" in message


def test_a_topic_s_tags_change_under_labels(labelled: Path) -> None:
    tagged = [{"id": "t1", "title": "why rivers bend", "tags": ["river"]}]
    load("import_topics", "--replace", write(labelled, "tags.jsonl", tagged))
    assert [tag.name for tag in Topic.objects.get(topic_id="t1").tags.all()] == ["river"]


def test_a_list_that_was_worked_on_here_is_not_replaced(lists: Path) -> None:
    nugget_set = NuggetSet.objects.get()
    first = NuggetList.objects.get(topic__topic_id="t1")
    second = NuggetList.objects.create(nugget_set=nugget_set, topic=first.topic, version=2)
    kept = first.items.get(position=0)
    ListedNugget.objects.create(
        nugget_list=second, nugget_version=kept.nugget_version, position=0, importance=kept.importance
    )
    assert "2 versions" in refuse("import_nuggets", *AUTO, "--replace", write(lists, "same.jsonl", LISTS))


def test_every_change_raises_the_campaign_s_revision(runs: Path) -> None:
    before = Campaign.objects.get().revision
    load("import_topics", runs / "topics.tsv")
    assert Campaign.objects.get().revision == before
    load("import_topics", "--replace", write(runs, "new.tsv", "t1\twhy streams bend\n"))
    assert Campaign.objects.get().revision == before + 1


def test_findings_of_a_replaced_list_go_with_it(lists: Path) -> None:
    load("import_nuggets", *AUTO, "--replace", write(lists, "dirty.jsonl", [nuggets("t1", ("bars", "okey"))]))
    assert Finding.objects.filter(code="unknown_importance").count() == 1
    load("import_nuggets", *AUTO, "--replace", write(lists, "clean.jsonl", [nuggets("t1", ("bars", "okay"))]))
    assert not Finding.objects.filter(code="unknown_importance").exists()
