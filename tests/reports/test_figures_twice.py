"""Figures of random campaigns, computed a second time from exported labels by the formulas as they are written down."""

import json
import random
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import pytest
from django.test import Client

from tests.reports.surfaces import admin
from tests.worlds.imported import answer, load, report, run, segment, sentence, write

pytestmark = pytest.mark.django_db
Figure = Fraction | None
HALF = Fraction(1, 2)
TOPICS, RUNS, DOCIDS = ("t1", "t2", "t3", "t4"), ("alpha", "beta", "gamma"), ("d1", "d2", "d3", "d4")
VERDICTS = {"satisfied": Fraction(1), "partially_satisfied": HALF, "not_satisfied": Fraction(0)}
SUPPORT = {"2": Fraction(1), "1": HALF, "0": Fraction(0)}
SCORES = ("rubric", "rubric_strict", "violations", "mandatory_missed")
PARTS = ("weighted_precision", "weighted_recall", "precision_strict", "recall_strict")
MEASURES = ("first", "sentence", "pooled")


class Drawn(NamedTuple):
    """A campaign by chance: its answers by run and topic, each sentence its citations, and how many of them count."""

    answers: dict[tuple[str, str], list[list[str]]]
    first: int


def draw(dice: random.Random, folder: Path) -> Drawn:
    answers = {
        (run_id, topic): [dice.choices(DOCIDS, k=dice.randint(0, 3)) for _ in range(dice.randint(1, 4))]
        for run_id in RUNS
        for topic in TOPICS
        if dice.random() < 0.85
    }
    first = dice.choice([0, 0, 1, 2])
    settings = write(folder, "campaign.toml", f"[protocol]\nfirst_citations = {first}\n")
    assert run("create_campaign", "river", "--from", settings).code == 0
    load("import_topics", write(folder, "topics.tsv", "".join(f"{topic}\tWhy {topic}?\n" for topic in TOPICS)))
    load("import_segments", write(folder, "segments", [segment(docid) for docid in DOCIDS]))
    for run_id in RUNS:
        rows = [
            answer(run_id, topic, *sentences_of(run_id, sentences), references=list(DOCIDS))
            for (own, topic), sentences in answers.items()
            if own == run_id
        ]
        if rows:
            load("import_run", write(folder, run_id, rows))
    load_labels(dice, folder, answers)
    load_judgments(dice, folder, answers)
    return Drawn(answers, first)


def sentences_of(run_id: str, sentences: list[list[str]]) -> list[dict[str, Any]]:
    return [sentence(f"Part {number} by {run_id}.", *cited) for number, cited in enumerate(sentences)]


def load_labels(dice: random.Random, folder: Path, answers: Iterable[tuple[str, str]]) -> None:
    weights = [-5, -3, -1.5, 0, 0.125, 1, 2.5, 5]
    rubrics = {
        topic: [
            {"text": f"Criterion {n}", "weight": dice.choice(weights)}
            | ({"tier": tier} if (tier := dice.choice(["mandatory", "optional", ""])) else {})
            for n in range(dice.randint(1, 5))
        ]
        for topic in TOPICS[: dice.randint(2, 4)]
    }
    lines = [{"qid": topic, "criteria": criteria} for topic, criteria in rubrics.items()]
    load("import_nuggets", "--origin", "manual", "--judge", "x", "--set", "rubric", write(folder, "rubric", lines))
    words = [*VERDICTS, *VERDICTS, *VERDICTS, *VERDICTS, None, "perhaps"]
    graded = [
        {
            "qid": topic,
            "run_id": run_id,
            "criteria": [row | {"verdict": dice.choice(words)} for row in rubrics[topic]],
        }
        for run_id, topic in answers
        if topic in rubrics
    ]
    by = ("--origin", "manual", "--nuggets", "rubric", "--judge", "grader", "--by", "llm")
    load("import_assignments", *by, write(folder, "graded", graded))


def load_judgments(dice: random.Random, folder: Path, answers: dict[tuple[str, str], list[list[str]]]) -> None:
    def citations(cited: list[str]) -> list[dict[str, Any]]:
        return [{"reference": docid, "support": dice.choice([2, 1, 0, -1])} for docid in dict.fromkeys(cited)]

    lines = [
        {
            "topic_id": topic,
            "run_id": run_id,
            "sentences": [{"sentenceID": n, "citations": citations(cited)} for n, cited in enumerate(sentences)],
        }
        for (run_id, topic), sentences in answers.items()
        if dice.random() < 0.85
    ]
    load("import_support", "--judge", "Eve", "--by", "human", "--condition", "scratch", write(folder, "j", lines))


def exported(kind: str, *options: str) -> list[dict[str, Any]]:
    outcome = run("export", kind, "--campaign", "river", *options)
    assert outcome.code == 0, outcome.err
    return [json.loads(line) for line in outcome.out.splitlines()]


def average(figures: Iterable[Figure]) -> Figure:
    defined = [figure for figure in figures if figure is not None]
    return mean(defined) if defined else None


def ratio(above: Fraction | int, below: Fraction | int) -> Figure:
    return Fraction(above) / below if below else None


def rubric_of(criteria: list[dict[str, Any]], met: list[Fraction]) -> dict[str, Figure]:
    """Scores of an answer by the share in which it meets each criterion."""
    weights = [Fraction(str(row["weight"])) for row in criteria]
    whole = sum(weight for weight in weights if weight > 0)
    pairs = list(zip(weights, met, strict=True))
    mandatory = [
        share
        for row, share in zip(criteria, met, strict=True)
        if row.get("tier") == "mandatory" and row["weight"] > 0
    ]
    return {
        "rubric": ratio(sum(weight * share for weight, share in pairs), whole),
        "rubric_strict": ratio(sum(weight for weight, share in pairs if share == 1), whole),
        "violations": Fraction(sum(weight < 0 and share == 1 for weight, share in pairs)),
        "mandatory_missed": Fraction(sum(share < 1 for share in mandatory)),
    }


def rubric_figures(drawn: Drawn, missing: str, unjudged: str) -> dict[tuple[str, str], dict[str, Figure]]:
    """Scores by run and topic; None where a run has none there."""
    rubrics = {
        line["qid"]: line["criteria"] for line in exported("nuggets", "--nuggets", "rubric", "--form", "rubric")
    }
    graded = exported("assignments", "--condition", "M/A", "--judge", "grader", "--form", "graded")
    verdicts = {
        (line["run_id"], line["qid"], row["text"]): VERDICTS.get(row.get("verdict") or "")
        for line in graded
        for row in line["criteria"]
    }
    labelled = {run_id for (run_id, _, _), share in verdicts.items() if share is not None}
    nothing = dict.fromkeys(SCORES)
    figures = {}
    for topic, criteria in rubrics.items():
        for run_id in RUNS:
            shares = [verdicts.get((run_id, topic, row["text"])) for row in criteria]
            if (run_id, topic) not in drawn.answers:
                met = [Fraction(0)] * len(criteria) if missing == "zero" else None
            elif None in shares and unjudged == "exclude":
                met = None
            else:
                met = [share or Fraction(0) for share in shares]
            is_scored = met is not None and run_id in labelled
            figures[run_id, topic] = rubric_of(criteria, met or []) if is_scored else nothing
    return figures


def support_of(sentences: list[list[Figure]], measure: str, no_cited: str) -> tuple[Figure, Figure]:
    """Precision and recall of an answer; each sentence has the points of its counted citations, None for unjudged."""
    if measure == "first":
        sentences = [points[:1] for points in sentences]
    judged = [[point for point in points if point is not None] for points in sentences]
    with_label = [points for points in judged if points]
    below = len(with_label) + sum(not points for points in sentences)
    above = sum((mean(points) for points in with_label), Fraction(0))
    if measure == "pooled":
        precision = ratio(sum(map(sum, with_label)), sum(map(len, with_label)))
        recall = ratio(sum(map(max, with_label)), below)
    else:
        precision, recall = ratio(above, len(with_label)), ratio(above, below)
    if no_cited == "zero" and not any(sentences):
        precision = Fraction(0)
    return precision, recall


def support_figures(
    drawn: Drawn, measure: str, missing: str, no_cited: str
) -> dict[tuple[str, str], dict[str, Figure]]:
    lines = exported("support", "--condition", "scratch", "--judge", "Eve", "--form", "citations")
    labels = {
        (line["run_id"], line["topic_id"], item["sentenceID"], citation["reference"]): citation["support"]
        for line in lines
        for item in line["sentences"]
        for citation in item["citations"]
    }
    points = {
        (run_id, topic): [
            [SUPPORT.get(labels.get((run_id, topic, n, docid), "-1")) for docid in counted(cited, drawn.first)]
            for n, cited in enumerate(sentences)
        ]
        for (run_id, topic), sentences in drawn.answers.items()
    }
    width = 1 if measure == "first" else None
    judged = {
        key for key, sentences in points.items() if any(p is not None for row in sentences for p in row[:width])
    }
    topics = {topic for _, topic in judged}
    figures = {}
    for run_id in RUNS:
        own = [points[run_id, topic] for topic in topics if (run_id, topic) in points]
        never_cites = bool(own) and not any(any(sentences) for sentences in own)
        has_scores = never_cites or any(key[0] == run_id for key in judged)
        for topic in topics:
            both = [dict.fromkeys(PARTS)]
            if has_scores and (run_id, topic) in points:
                both = list(lenient_and_strict(points[run_id, topic], measure, no_cited))
            elif has_scores and missing == "zero":
                both = [dict.fromkeys(PARTS, Fraction(0))]
            figures[run_id, topic] = {name: figure for part in both for name, figure in part.items()}
    return figures


def lenient_and_strict(sentences: list[list[Figure]], measure: str, no_cited: str) -> Iterator[dict[str, Figure]]:
    yield dict(zip(PARTS[:2], support_of(sentences, measure, no_cited), strict=True))
    full = [[point if point is None else Fraction(point == 1) for point in points] for points in sentences]
    yield dict(zip(PARTS[2:], support_of(full, measure, no_cited), strict=True))


def counted(cited: list[str], first: int) -> list[str]:
    return list(dict.fromkeys(cited))[: first or None]


def means(figures: dict[tuple[str, str], dict[str, Figure]], names: Iterable[str]) -> dict[tuple[str, str], Any]:
    return {
        (run_id, name): close(average(row[name] for (own, _), row in figures.items() if own == run_id))
        for run_id in RUNS
        for name in names
    }


def close(figure: Figure) -> Any:
    return None if figure is None else pytest.approx(float(figure), abs=1e-12)


def in_rows(rows: list[dict[str, Any]], names: Iterable[str]) -> dict[tuple[str, str], float | None]:
    return {(row["run_id"], name): row[name] for row in rows for name in names}


def api(client: Client, **query: str) -> list[dict[str, Any]]:
    response = client.get("/api/v1/scores/", {"campaign": "river", **query})
    assert response.status_code == 200, response.content
    rows: list[dict[str, Any]] = response.json()["results"]
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_report_export_and_api_have_the_figures_of_the_formulas(seed: int, tmp_path: Path) -> None:
    drawn, client = draw(random.Random(seed), tmp_path), admin()  # noqa: S311  # the same seed, the same campaign
    for missing in ("zero", "skip"):
        for unjudged in ("exclude", "zero"):
            figures = rubric_figures(drawn, missing, unjudged)
            choice = ("--condition", "M/A", "--profile", "rubric", "--missing", missing, "--unjudged", unjudged)
            assert in_rows(report("scores", *choice)["runs"], SCORES) == means(figures, SCORES)
            query = {"condition": "M/A", "profile": "rubric", "missing": missing, "unjudged": unjudged}
            assert in_rows(api(client, **query), SCORES) == means(figures, SCORES)
            lines = [row for row in exported("scores", *choice) if row["qid"] != "all"]
            by_topic = {(row["run_id"], row["qid"], name): row[name] for row in lines for name in SCORES}
            expected = {(*key, name): close(row[name]) for key, row in figures.items() for name in SCORES}
            # Of an answer that is left out there may be no line.
            assert by_topic == {
                key: value for key, value in expected.items() if key in by_topic or value is not None
            }
        for measure in MEASURES:
            for no_cited in ("skip", "zero"):
                figures = support_figures(drawn, measure, missing, no_cited)
                policies = ("--measure", measure, "--missing", missing, "--no-cited", no_cited)
                rows = report("support", "--condition", "scratch", *policies)["runs"]
                assert in_rows(rows, PARTS) == means(figures, PARTS)
                query = {"condition": "scratch", "measure": measure, "missing": missing, "no_cited": no_cited}
                assert in_rows(api(client, **query), PARTS) == means(figures, PARTS)
