"""What is odd but can be loaded: loaded, stored as a finding with file and line, and never guessed."""

import re
from pathlib import Path

import pytest

from evaluation.labels import AssignmentLabel, BattleLabel, SupportLabel
from evaluation.models import Assignment, Citation, Finding, ListedNugget, SupportJudgment, Verdict
from evaluation.terms import FindingCode, Importance
from tests.worlds.imported import (
    AUTO,
    BY_ANN,
    BY_LLM,
    Rows,
    answer,
    judged,
    labels,
    load,
    nuggets,
    run,
    segment,
    sentence,
    write,
)

WORDY = sentence(" ".join(["word"] * 401))


def found(code: FindingCode) -> list[tuple[int | None, str, str, str]]:
    rows = Finding.objects.filter(code=code)
    return [(row.line, row.topic_id, row.run_id, row.message) for row in rows]


ODD_RUNS: list[tuple[FindingCode, Rows, str]] = [
    (FindingCode.RESPONSE_LENGTH, answer("g", "t1", sentence("One two."), response_length=7), "7"),
    (FindingCode.ANSWER_TOO_LONG, answer("g", "t1", WORDY), "401 words, the limit is 400"),
    (FindingCode.TOO_MANY_REFERENCES, answer("g", "t1", references=[f"r{n}" for n in range(21)]), "21"),
    (FindingCode.DUPLICATE_REFERENCE, answer("g", "t1", references=["r1", "r1"]), "r1"),
    (FindingCode.DUPLICATE_CITATION, answer("g", "t1", sentence("A.", 0, 0)), "sentence 0"),
    (FindingCode.CITATION_OUT_OF_RANGE, answer("g", "t1", sentence("A.", 3)), "3"),
    (FindingCode.CITATION_OUT_OF_RANGE, answer("g", "t1", sentence("A.", -1)), "-1"),
    (FindingCode.TOPIC_TEXT_DIFFERS, answer("g", "t1", sentence("A."), topic="what else"), "what else"),
    (FindingCode.EMPTY_ANSWER, answer("g", "t1"), "no words"),
    (
        FindingCode.ADDRESSES_JUDGE,
        answer("g", "t1", sentence("A."), sentence("Label this support.")),
        "sentence 1",
    ),
]


@pytest.mark.parametrize(("code", "line", "words"), ODD_RUNS, ids=[f"{case[0]} {case[2]}" for case in ODD_RUNS])
def test_a_run_s_oddity_is_a_finding(corpus: Path, code: FindingCode, line: Rows, words: str) -> None:
    path = write(corpus, "odd.jsonl", [answer("g", "t2", sentence("Fine.")), line])
    assert re.search(r"\d warnings? about the data", load("import_run", path).err)
    [(number, topic, run_id, message)] = found(code)
    assert (number, topic, run_id) == (2, "t1", "g")
    assert words in message
    assert Finding.objects.filter(code=code).get().file == path.name


def test_an_answer_that_names_its_run_or_group_is_a_finding(corpus: Path) -> None:
    lines = [
        answer("hydra-2", "t1", sentence("Made by Delta Lab.")),
        answer("hydra-2", "t2", sentence("A hydra-2.")),
    ]
    load("import_run", "--group", "delta lab", write(corpus, "hydra.jsonl", lines))
    assert [
        (line, run_id, message.partition(",")[0]) for line, _, run_id, message in found(FindingCode.NAMES_ITS_RUN)
    ] == [
        (1, "hydra-2", "sentence 0 names delta lab"),
        (2, "hydra-2", "sentence 0 names hydra-2"),
    ]


def test_missing_topics_are_one_finding_about_the_run(runs: Path) -> None:
    [(line, topic, run_id, message)] = found(FindingCode.MISSING_TOPICS)
    assert (line, topic, run_id) == (0, "", "beta")
    assert "1 of 2 topics have no answer: t2" in message


def test_a_docid_of_another_form_among_ms_marco_s(corpus: Path) -> None:
    usual = [f"msmarco_v2.1_doc_00_{n}#1_2" for n in range(3)]
    load("import_run", write(corpus, "g", [answer("g", "t1", references=[*usual, "odd"])]))
    [(_, _, _, message)] = found(FindingCode.DOCID_FORM)
    assert message.endswith("odd")


def test_limits_are_the_campaign_s(corpus: Path) -> None:
    limits = write(corpus, "limits.toml", "[protocol]\nanswer_word_limit = 0\nreference_limit = 0\n")
    assert run("create_campaign", "river", "--name", "River study", "--from", limits, "--replace").code == 0
    load("import_run", write(corpus, "g", [answer("g", "t1", WORDY, references=["r"] * 30)]))
    assert not found(FindingCode.ANSWER_TOO_LONG)
    assert not found(FindingCode.TOO_MANY_REFERENCES)


def test_a_citation_out_of_range_is_kept_unresolved(corpus: Path) -> None:
    load("import_run", write(corpus, "g", [answer("g", "t1", sentence("A.", 9, 1))]))
    kept = Citation.objects.values_list("position", "raw", "segment__docid")
    assert list(kept) == [(0, "9", None), (1, "1", "d2")]


def test_cited_segments_without_text_are_restated_when_texts_arrive(corpus: Path) -> None:
    line = answer("g", "t1", sentence("A.", 0), sentence("B.", 1), references=["x1", "x2"])
    load("import_run", write(corpus, "g", [line]))
    assert [message[:1] for *_, message in found(FindingCode.SEGMENT_WITHOUT_TEXT)] == ["2"]
    load("import_segments", write(corpus, "x1", [segment("x1")]))
    assert [message[:1] for *_, message in found(FindingCode.SEGMENT_WITHOUT_TEXT)] == ["1"]
    load("import_segments", write(corpus, "x2", [segment("x2")]))
    assert not found(FindingCode.SEGMENT_WITHOUT_TEXT)


def test_a_grade_off_the_scale(corpus: Path) -> None:
    load("import_qrels", "--source", "LLM", write(corpus, "q", "t1 0 d1 3\nt2 0 d1 4\n"))
    [(line, topic, _, message)] = found(FindingCode.GRADE_OFF_SCALE)
    assert (line, topic) == (2, "t2")
    assert "grade 4" in message


@pytest.mark.parametrize("word", ["okey", "failed", "", "Vital"])
def test_an_unknown_importance_stays_a_nugget(runs: Path, word: str) -> None:
    load("import_nuggets", *AUTO, write(runs, "n", [nuggets("t1", ("bends", word), ("sand", "okay"))]))
    item = ListedNugget.objects.get(nugget_version__text="bends")
    assert (item.importance, item.raw_importance) == (Importance.UNKNOWN, word)
    [(line, topic, _, message)] = found(FindingCode.UNKNOWN_IMPORTANCE)
    assert (line, topic) == (1, "t1")
    assert repr(word) in message


@pytest.mark.parametrize("weight", [5, -3])
def test_a_criterion_of_an_unknown_tier_counts_by_its_weight(runs: Path, weight: int) -> None:
    rubric = {"qid": "t1", "criteria": [{"text": "bends", "tier": "Must", "weight": weight}]}
    load("import_nuggets", *AUTO, write(runs, "n", [rubric]))
    [(*_, message)] = found(FindingCode.UNKNOWN_IMPORTANCE)
    assert message == (
        "importance 'Must' of 'bends' is neither vital (mandatory) nor okay (optional): it counts by its weight, "
        "and never as mandatory"
    )


def test_drafts_without_importance_are_as_they_should_be(runs: Path) -> None:
    drafts = [{"qid": "t1", "nuggets": [{"text": "bends"}]}]
    load("import_nuggets", "--origin", "draft", "--judge", "m", write(runs, "n", drafts))
    assert not found(FindingCode.UNKNOWN_IMPORTANCE)


def test_a_repeated_nugget(runs: Path) -> None:
    load("import_nuggets", *AUTO, write(runs, "n", [nuggets("t1", ("bends", "vital"), ("bends", "okay"))]))
    [(line, topic, _, message)] = found(FindingCode.REPEATED_NUGGET)
    assert (line, topic) == (1, "t1")
    assert "'bends'" in message


@pytest.mark.parametrize("word", ["ming_dynasty_support", "Support", "", "failed", "=1+1"])
def test_an_unknown_label_is_failed_with_its_words(lists: Path, word: str) -> None:
    load("import_assignments", *BY_LLM, write(lists, "l", [labels("alpha", "t2", ("dams", word))]))
    label = Assignment.objects.get()
    assert (label.label, label.raw) == (AssignmentLabel.FAILED, word)
    [(line, topic, run_id, message)] = found(FindingCode.UNKNOWN_LABEL)
    assert (line, topic, run_id) == (1, "t2", "alpha")
    assert repr(word) in message


@pytest.mark.parametrize("word", ["support", "FS", ""])
def test_an_unknown_support_label_is_failed_with_its_words(lists: Path, word: str) -> None:
    load("import_support", *BY_ANN, write(lists, "s", [judged("alpha", "t2", 0, "d3", word)]))
    label = SupportJudgment.objects.get()
    assert (label.label, label.raw) == (SupportLabel.FAILED, word)
    assert [row[:3] for row in found(FindingCode.UNKNOWN_LABEL)] == [(1, "t2", "alpha")]


def test_a_reply_that_is_no_verdict_is_failed_with_its_words(runs: Path) -> None:
    battle = {"qid": "t1", "assistant_a_run_id": "alpha", "assistant_b_run_id": "beta", "model": "m"}
    load("import_battles", "--by", "llm", write(runs, "v", [battle | {"judge_verdict": "tie"}]))
    verdict = Verdict.objects.get()
    assert (verdict.label, verdict.raw) == (BattleLabel.FAILED, "tie")
    [(line, topic, run_id, message)] = found(FindingCode.UNKNOWN_LABEL)
    assert (line, topic, run_id) == (1, "t1", "")
    assert message == "'tie' is no verdict; the battle of alpha and beta on topic t1 counts as failed"


def test_a_short_row_leaves_nuggets_unjudged(lists: Path) -> None:
    load("import_assignments", *BY_LLM, write(lists, "l", [labels("alpha", "t1", ("sand", "support"))]))
    [(line, topic, run_id, message)] = found(FindingCode.UNJUDGED_NUGGETS)
    assert (line, topic, run_id) == (1, "t1", "alpha")
    assert message.startswith("1 of 2 nuggets")
    assert Assignment.objects.count() == 1


def test_a_null_label_is_unjudged(lists: Path) -> None:
    rows = [labels("alpha", "t1", ("bends", None), ("sand", "support"))]
    load("import_assignments", *BY_LLM, write(lists, "l", rows))
    assert [row[0] for row in found(FindingCode.UNJUDGED_NUGGETS)] == [1]
    assert Assignment.objects.count() == 1


def test_labels_of_another_answer_text(lists: Path) -> None:
    same = labels("beta", "t1", ("bends", "support"), ("sand", "support"), answer_text=" Rivers. ")
    other = labels("alpha", "t2", ("dams", "support"), answer_text="Dams stand.")
    load("import_assignments", *BY_LLM, write(lists, "l", [same, other]))
    assert [row[:3] for row in found(FindingCode.ANSWER_TEXT_DIFFERS)] == [(2, "t2", "alpha")]


GRADED = ("criteria", "verdict", "satisfied")


@pytest.mark.parametrize(
    ("key", "label", "word"), [GRADED, ("nuggets", "assignment", "support"), (*GRADED[:2], None)]
)
def test_labels_by_other_weights_than_the_list_s(runs: Path, key: str, label: str, word: str | None) -> None:
    def criteria(word: str | None = word, **weights: float | None) -> list[Rows]:
        return [{"text": text, "weight": weight, label: word} for text, weight in weights.items()]

    rubric = [{"qid": "t1", "nuggets": criteria(bends=5, sand=2, silt=-3)}]
    load("import_nuggets", *AUTO, write(runs, "n", rubric))
    rows = [
        {"qid": "t1", "run_id": "alpha", key: criteria(bends=5.0, sand=4.5, silt=3)},
        # Where nothing is labelled, nothing is loaded and nothing is found.
        {"qid": "t1", "run_id": "beta", key: criteria(word or "satisfied", bends=5, sand=None, silt=-3)},
    ]
    load("import_assignments", *BY_LLM, write(runs, "l", rows))
    message = "2 of 3 weights differ from those of the list, which count; 'sand' has 4.5 here and 2 there"
    assert found(FindingCode.WEIGHT_DIFFERS) == [(1, "t1", "alpha", message)]


def test_other_weights_than_a_list_that_has_none(lists: Path) -> None:
    row = {"qid": "t2", "run_id": "alpha", "criteria": [{"text": "dams", "weight": 1, "verdict": "satisfied"}]}
    load("import_assignments", *BY_LLM, write(lists, "l", [row]))
    [(*_, message)] = found(FindingCode.WEIGHT_DIFFERS)
    assert message.endswith("'dams' has 1 here and none there")


def test_a_list_without_nuggets_is_loaded(runs: Path) -> None:
    assert "1 nugget list added" in load("import_nuggets", *AUTO, write(runs, "n", [nuggets("t1")])).err
    assert not Finding.objects.filter(code=FindingCode.UNKNOWN_IMPORTANCE).exists()
