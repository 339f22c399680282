"""Support of citations: precision and recall per run, topic and answer; labels; citing too much and too little.

Of runs that cite nothing: how far what was retrieved supports each sentence (docs/metrics.md#grounded).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from django.http import QueryDict

from evaluation.domain.conditions import CitationCondition, readings_of_citations, told_apart
from evaluation.errors import Refused
from evaluation.labels import CITATION_LABELS
from evaluation.models import Campaign, Run
from evaluation.terms import StudyKind, SupportCondition, SupportMeasure
from reports import charts, needs
from reports.cache import cached_report
from reports.document import (
    Document,
    chosen_labels,
    condition_options,
    policy_line,
    policy_options,
    support_policies,
)
from reports.files import as_table
from reports.forms import SupportForm
from reports.frames import rows_of, support_sheet, tagged_support, topics_by_tag
from reports.leaderboard.scores import highest_first, run_head, runs_by_id
from reports.metrics.arrays import Booleans, Floats, column_means, defined
from reports.metrics.intervals import documents_of, mean_intervals
from reports.metrics.label_matrix import SupportSheet
from reports.metrics.policies import SupportPolicies, policies_document
from reports.metrics.registry import BY_NAME
from reports.metrics.support import (
    MEASURES,
    PRECISION,
    RECALL,
    STRICT,
    SUPPORT_SCORES,
    AnswerSupport,
    Citing,
    RunSupport,
    answer_support,
    citing,
    run_support,
)
from reports.nuggets.descriptives import labels_alt
from reports.random_checks.page import CheckedReport, corrected_checks
from reports.registry import Choices, document, report_page
from reports.report import (
    CITATION_LABEL,
    OVERVIEW,
    WRONG_CHOICE,
    Chart,
    ColumnKind,
    Report,
    ReportContent,
    Row,
    Rows,
    Section,
    choice_text,
    columns,
    counted,
    of_kind,
    policies_text,
    sentences,
    tag_text,
)
from web.consistent_read import consistent_read

SupportRow = dict[str, Any]
"""One run as files have it: scores in [0, 1], None where undefined; `judged` and the next three count pairs.

A pair is a sentence and a segment. `intervals` has those of precision and recall, as documents.
"""
TITLE = "Citation support"
WORDS = {condition.value: condition.words for condition in SupportCondition}
SPOKEN = {label.word: label.spoken for label in CITATION_LABELS.degrees}
CAPTIONS = {name: BY_NAME[name].words.removeprefix("Citation ").capitalize() for name in SUPPORT_SCORES}
SCORES = of_kind(ColumnKind.SCORE, **CAPTIONS)
LABEL_COUNTS = of_kind(ColumnKind.COUNT, **CITATION_LABELS.headings)
COUNTS = (
    *LABEL_COUNTS,
    *of_kind(ColumnKind.SHARE, over="Over-citation", under="Under-citation"),
    *of_kind(ColumnKind.COUNT, unjudged="Unjudged", failed="Failed", unjudgeable="Unjudgeable"),
)
ASIDE = "unjudged failed unjudgeable"

RETRIEVED = "retrieved"
GROUNDED = {RECALL: "grounded", "recall_strict": "grounded_strict"}
"""Recall over candidates: a sentence has the label of its best one."""


def support_rows(choice: CitationCondition, policies: SupportPolicies, tag: str = "") -> list[SupportRow]:
    """Score the citations of every run, best first (docs/metrics.md#support); of the topics with a tag, or of all."""
    return _scored(tagged_support(choice, tag), choice.campaign, policies)


def support_document(choice: CitationCondition, policies: SupportPolicies) -> dict[str, Any]:
    sheet, judged = support_sheet(choice), choice.campaign.protocol.first_citations
    return {
        "condition": str(choice),
        "judge": choice.judges_text,
        "policies": policies_document(policies),
        "first_citations": judged,
        # Of one citation a sentence all measures are the published one (docs/metrics.md#support).
        "published_measure": judged == 1 or policies.measure == SupportMeasure.FIRST,
        "topics": int(answer_support(sheet, policies).topics.sum()),
        "runs": _scored(sheet, choice.campaign, policies),
        "grounded": grounded_rows(choice, policies),
    }


def _scored(sheet: SupportSheet, campaign: Campaign, policies: SupportPolicies) -> list[SupportRow]:
    scores, runs, ends = run_support(sheet, policies), runs_by_id(campaign), support_intervals(sheet, policies)
    rows = (_scores_of(runs[run_id], scores, place, ends[place]) for place, run_id in enumerate(scores.run_ids))
    return sorted(rows, key=highest_first(PRECISION))


def support_intervals(
    sheet: SupportSheet, policies: SupportPolicies, topics: Booleans | None = None
) -> list[dict[str, dict[str, Any]]]:
    """Return the intervals of each run's scores as documents, R; only answers that count are in them."""
    answers = answer_support(sheet, policies)
    rows = answers.topics if topics is None else answers.topics & topics
    by_score = [mean_intervals(values[rows]) for values in answers.scores.values()]
    return [documents_of(dict(zip(answers.scores, ends, strict=True))) for ends in zip(*by_score, strict=True)]


def _scores_of(run: Run, scores: RunSupport, place: int, ends: dict[str, dict[str, Any]]) -> SupportRow:
    counts = ("sentences_total", "sentences_uncited", "judged", "unjudged", "failed", "unjudgeable")
    return {
        **run_head(run),
        **_means(scores, place),
        **{f"{part}_topics": int(number[place]) for part, number in scores.counted.items()},
        "sentences": defined(scores.sentences[place]),
        **{name: int(getattr(scores, name)[place]) for name in counts},
        "intervals": ends,
    }


def _means(scores: RunSupport, place: int) -> dict[str, float | None]:
    return {name: defined(means[place]) for name, means in scores.means.items()}


@report_page(
    "support",
    title=TITLE,
    form=SupportForm,
    caption="Citations",
    template="reports/checked.html",
    menu="Results",
    order=90,
    needs=(needs.RUNS,),
)
def support_page(campaign: Campaign, query: QueryDict) -> Report:
    form = SupportForm(query, campaign)
    if not form.is_valid():
        return SupportReport(form=form, title=TITLE, refused=WRONG_CHOICE)
    try:
        choice = form.resolve()
    except Refused as refused:
        return SupportReport(form=form, title=TITLE, refused=refused)
    tag, score = form.chosen["tag"], form.chosen["score"]
    content = _content(choice, form.policies, tag)
    # A check is of all its topics.
    checks = (
        ()
        if tag
        else corrected_checks(
            choice, form.policies, score if score in SUPPORT_SCORES else PRECISION, form.chosen["target"]
        )
    )
    return SupportReport(form=form, title=TITLE, content=content, query=query, checks=checks)


@document(
    "support",
    "Runs by weighted precision and recall of their citations.",
    (*condition_options(SupportCondition), *policy_options(SupportCondition)),
)
def support_report(campaign: Campaign, choices: Choices) -> Document:
    condition = cast(CitationCondition, chosen_labels(campaign, choices))
    policies = support_policies(choices, campaign.protocol.measure)
    content = support_document(condition, policies)
    text = citations_text(content["first_citations"], policies.measure)
    grounded = f"\n\nCandidates: retrieved.\n{as_table(content['grounded'])}" if content["grounded"] else ""
    # A file is one table, in which no run that cites stands beside one that does not.
    rows = content["runs"] or content["grounded"]
    return Document(content, rows, f"{policy_line(content)} {text}{grounded}", content["runs"])


@dataclass(frozen=True, kw_only=True)
class SupportReport(CheckedReport):
    kind_of_labels: StudyKind = StudyKind.SUPPORT

    @property
    def corrected_scores(self) -> list[tuple[str, str, bool]]:
        report = self.corrected
        return [(name, caption, name == report.score) for name, caption, _ in SCORES] if report else []

    @property
    def _sections(self) -> list[Section]:
        return [*super()._sections, *self.corrected_sections]


@cached_report(size=16)
def _content(choice: CitationCondition, policies: SupportPolicies, tag: str) -> ReportContent:
    with consistent_read():
        sheet = tagged_support(choice, tag)
        runs = runs_by_id(choice.campaign)
        tags = topics_by_tag(choice.campaign)
        judged = choice.campaign.protocol.first_citations
        conditions = _conditions(choice, tag)
        grounded = grounded_rows(choice, policies, tag)
    answers, counts = answer_support(sheet, policies), citing(sheet)
    sections = [
        _runs(sheet, policies, runs, answers, counts),
        *([grounded_section(grounded)] if grounded else []),
        conditions,
        _topics(sheet, answers, counts),
        *([_tags(sheet, policies, tags)] if tags else []),
        _answers(sheet, answers, counts),
    ]
    labelled = int(answers.topics.sum())
    facts = sentences(
        choice_text(choice),
        f"{counted(labelled, 'topic')} with a label, or all where nobody has judged.",
        policies_text(policies_document(policies), choice.campaign),
        citations_text(judged, policies.measure),
        tag_text(tag),
    )
    return ReportContent(facts, sections)


def citations_text(judged: int | None, measure: SupportMeasure) -> str:
    if judged == 1:
        return "First citation of each sentence."
    which = f"The first {judged}" if judged else "All"
    return f"{which} citations of each sentence are judged. {MEASURES[measure].text}"


def _runs(
    sheet: SupportSheet, policies: SupportPolicies, runs: dict[str, Run], answers: AnswerSupport, counts: Citing
) -> Section:
    scores, by_run = run_support(sheet, policies), counts.summed(0, answers.topics)
    ends = support_intervals(sheet, policies)
    rows = [
        {
            **run_head(runs[run]),
            **_means(scores, place),
            "topics": int(scores.counted["recall"][place]),
            "sentences": defined(scores.sentences[place]),
            "all_sentences": int(by_run.sentences[place]),
            "uncited": int(by_run.uncited[place]),
        }
        | _counted(by_run, place)
        | {"intervals": ends[place]}
        for place, run in enumerate(sheet.run_ids)
    ]
    rows.sort(key=highest_first(PRECISION))
    return Section(
        name=OVERVIEW,
        title="Runs",
        labels=CITATION_LABEL,
        columns=columns(
            ("run_id", "Run", ColumnKind.RUN),
            ("group", "Group"),
            ("task", "Task"),
            *SCORES,
            ("topics", "Topics", ColumnKind.COUNT),
            ("sentences", "Sentences", ColumnKind.MEAN),
            *of_kind(ColumnKind.COUNT, all_sentences="In all", uncited="Uncited"),
            *COUNTS,
            primary=PRECISION,
            screen=f"{ASIDE} all_sentences uncited",
        ),
        rows=rows,
        note="Below precision and recall: 95 % interval, t over the answers that count. Sentences: mean per answer. "
        "Over-citation: share of judged citations that give no support. "
        "Under-citation: share of sentences that cite nothing.",
        chart=_plane(rows, _topic_points(answers, sheet)),
        # Without any label a row holds only counts of answers, which rest on every topic.
        topics="topics" if scores.counted["recall"].any() else int(answers.topics.sum()),
    )


def _plane(rows: list[dict[str, Any]], topics: list[dict[str, Any]]) -> Chart | None:
    points = [
        {"name": row["run_id"], "task": charts.task_of(row["task"]), "x": row[PRECISION], "y": row[RECALL]}
        for row in rows
        if row[PRECISION] is not None and row[RECALL] is not None
    ]
    if not points:
        return None
    titles = (BY_NAME[PRECISION].spoken, BY_NAME[RECALL].spoken)
    return Chart(
        alt=f"Precision and recall of {counted(len(points), 'run')}, and averages of {counted(len(topics), 'topic')}.",
        draw=lambda palette: charts.plane(palette, points, titles, small=topics),
        note="Large: runs, by task. Small: topics, mean over runs.",
    )


def _topic_means(values: Floats) -> Floats:
    """Mean over runs of each topic, T, nan where no run has a value."""
    return column_means(values.T, np.ones(values.shape[1], dtype=np.bool_))


def _topic_points(answers: AnswerSupport, sheet: SupportSheet) -> list[dict[str, Any]]:
    axes = (_topic_means(answers.scores[name]) for name in (PRECISION, RECALL))
    pairs = zip(*axes, sheet.topic_ids, strict=True)
    points = [{"name": name, "task": "topic", "x": defined(x), "y": defined(y)} for x, y, name in pairs]
    return [point for point in points if point["x"] is not None and point["y"] is not None]


def _topics(sheet: SupportSheet, answers: AnswerSupport, counts: Citing) -> Section:
    by_topic = counts.summed(1, np.ones(len(sheet.topic_ids), dtype=np.bool_))
    means = {name: _topic_means(values) for name, values in answers.scores.items()}
    rows = [
        {
            "topic_id": topic,
            PRECISION: defined(means[PRECISION][place]),
            **_ends("precision", answers.scores[PRECISION][place]),
            RECALL: defined(means[RECALL][place]),
            **_ends("recall", answers.scores[RECALL][place]),
            **{name: defined(means[name][place]) for name in STRICT},
            "answers": int(sheet.answered[place].sum()),
        }
        | _counted(by_topic, place)
        for place, topic in enumerate(sheet.topic_ids)
        if answers.topics[place]
    ]
    topic_columns = columns(
        ("topic_id", "Topic", ColumnKind.TOPIC),
        SCORES[0],
        *of_kind(ColumnKind.SCORE, precision_min="Min", precision_max="Max"),
        SCORES[1],
        *of_kind(ColumnKind.SCORE, recall_min="Min", recall_max="Max"),
        *SCORES[2:],
        ("answers", "Answers", ColumnKind.COUNT),
        *COUNTS,
        screen=ASIDE,
    )
    return Section("topics", "Topics, mean over runs", topic_columns, rows, labels=CITATION_LABEL)


def _ends(name: str, values: Floats) -> dict[str, float | None]:
    scores = values[~np.isnan(values)]
    low, high = (float(scores.min()), float(scores.max())) if len(scores) else (None, None)
    return {f"{name}_min": low, f"{name}_max": high}


def _answers(sheet: SupportSheet, answers: AnswerSupport, counts: Citing) -> Section:
    places = np.argwhere((sheet.samples > 0) & answers.topics[:, np.newaxis])

    def row_at(place: int) -> dict[str, Any]:
        topic, run = places[place].tolist()
        return {
            "topic_id": sheet.topic_ids[topic],
            "run_id": sheet.run_ids[run],
            **{name: defined(values[topic, run]) for name, values in answers.scores.items()},
            "sentences": int(counts.sentences[topic, run]),
            "uncited": int(counts.uncited[topic, run]),
            **_by_label(counts, (topic, run)),
        }

    answer_columns = columns(
        ("topic_id", "Topic", ColumnKind.TOPIC),
        ("run_id", "Run", ColumnKind.RUN),
        *SCORES,
        *of_kind(ColumnKind.COUNT, sentences="Sentences", uncited="Uncited"),
        *LABEL_COUNTS,
    )
    return Section("answers", "Every answer", answer_columns, Rows(len(places), row_at), labels=CITATION_LABEL)


def _tags(sheet: SupportSheet, policies: SupportPolicies, tags: dict[str, frozenset[str]]) -> Section:
    rows = []
    for tag, topics in tags.items():
        mask = rows_of(sheet.topic_ids, topics)
        scores, ends = run_support(sheet, policies, mask), support_intervals(sheet, policies, mask)
        rows += [
            {
                "tag": tag,
                "run_id": run,
                **_means(scores, place),
                "topics": int(scores.counted["recall"][place]),
                "intervals": ends[place],
            }
            for place, run in enumerate(sheet.run_ids)
        ]
    tag_columns = columns(
        ("tag", "Tag"), ("run_id", "Run", ColumnKind.RUN), *SCORES, ("topics", "Topics", ColumnKind.COUNT)
    )
    return Section("tags", "By topic tag", tag_columns, rows, topics="topics", labels=CITATION_LABEL)


def _conditions(choice: CitationCondition, tag: str) -> Section:
    """Return the labels of every condition; the chosen one by the chosen judge."""
    every = told_apart([*_every_condition(choice)])
    rows = [_condition_row(each, tag) for each, _ in every]
    # Of two judges under one condition each has a bar of its own.
    bar_rows = [
        (f"{each}, {name}" if name else str(each), row) for (each, name), row in zip(every, rows, strict=True)
    ]
    bars = [
        {"name": name, "part": spoken, "share": row[word] / row["pairs"]}
        for name, row in bar_rows
        if row["pairs"]
        for word, spoken in SPOKEN.items()
    ]
    condition_columns = columns(
        ("condition", "Condition", ColumnKind.CONDITION),
        ("judge", "Labels by"),
        *of_kind(ColumnKind.COUNT, topics="Topics", pairs="Judged pairs"),
        *COUNTS,
        screen=f"judge {ASIDE}",
    )
    titles = (list(SPOKEN.values()), "share of citation labels")
    chart = Chart(
        alt=labels_alt("citation labels", sum(row["pairs"] > 0 for row in rows)),
        draw=lambda palette: charts.stacked(palette, charts.named(bars, WORDS, palette), *titles),
        links={each.words: f"?condition={each}" for each in SupportCondition},
    )
    return Section(
        name="conditions",
        title="Labels by condition",
        columns=condition_columns,
        rows=rows,
        labels=CITATION_LABEL,
        chart=chart if bars else None,
        topics="topics",
        pairs="pairs",
    )


def _every_condition(choice: CitationCondition) -> Iterable[CitationCondition]:
    for condition in SupportCondition:
        if condition is choice.condition:
            yield choice
        else:
            yield from readings_of_citations(choice.campaign, condition)


def _condition_row(choice: CitationCondition, tag: str) -> dict[str, Any]:
    if not choice.judges:
        return {"condition": str(choice), "judge": "", "topics": 0, "pairs": 0}
    counts = citing(tagged_support(choice, tag) if tag else support_sheet(choice))
    # Only topics with a label: an unlabelled one would add its sentences to the share that cites nothing.
    judged = counts.judged.sum(axis=1) > 0
    total = counts.summed(1, judged).summed(0, np.ones(int(judged.sum()), dtype=np.bool_))
    return {
        "condition": str(choice),
        "judge": choice.judges_text,
        "topics": int(judged.sum()),
        "pairs": int(total.judged),
    } | _counted(total)


def _by_label(counts: Citing, at: Any) -> dict[str, int]:
    of_label = dict(zip(CITATION_LABELS.scale, counts.labels, strict=True))
    return {word: int(of_label[word][at]) for word in CITATION_LABELS.words}


def _counted(counts: Citing, place: int | None = None) -> dict[str, Any]:
    """Return one entry of counts as a row, or all of them where they are one."""
    at = () if place is None else place
    return {
        **_by_label(counts, at),
        "over": defined(np.float64(counts.over[at])),
        "under": defined(np.float64(counts.under[at])),
        **{name: int(getattr(counts, name)[at]) for name in ("unjudged", "failed", "unjudgeable")},
    }


def grounded_rows(choice: CitationCondition, policies: SupportPolicies, tag: str = "") -> list[dict[str, Any]]:
    """Return the runs with candidates, best first. They have no precision: a system that cites nothing chose none."""
    sheet = tagged_support(choice, tag, with_candidates=True)
    if not sheet.run_ids:
        return []
    policies = replace(policies, measure=SupportMeasure.POOLED)
    answers, scores = answer_support(sheet, policies), run_support(sheet, policies)
    runs = runs_by_id(choice.campaign)
    ends = {name: mean_intervals(answers.scores[recall][answers.topics]) for recall, name in GROUNDED.items()}
    rows = [
        {
            **run_head(runs[run_id]),
            "candidates": RETRIEVED,
            "precision": None,
            **{name: defined(scores.means[recall][place]) for recall, name in GROUNDED.items()},
            "topics": int(scores.counted["recall"][place]),
            "sentences": int(scores.sentences_total[place]),
            **{
                name: int(getattr(scores, name)[place]) for name in ("judged", "unjudged", "failed", "unjudgeable")
            },
            "intervals": documents_of({name: intervals[place] for name, intervals in ends.items()}),
        }
        for place, run_id in enumerate(scores.run_ids)
    ]
    return sorted(rows, key=highest_first("grounded"))


def grounded_section(rows: Sequence[Row]) -> Section:
    return Section(
        name="grounded",
        title="Runs judged by what was retrieved",
        labels=CITATION_LABEL,
        columns=columns(
            ("run_id", "Run", ColumnKind.RUN),
            ("group", "Group"),
            ("candidates", "Candidates"),
            *of_kind(ColumnKind.SCORE, grounded="Grounded", grounded_strict="Grounded, strict"),
            *of_kind(ColumnKind.COUNT, topics="Topics", sentences="Sentences"),
            *of_kind(ColumnKind.COUNT, judged="Judged", unjudged="Unjudged", failed="Failed"),
            primary="grounded",
        ),
        rows=rows,
        note="These runs cite nothing: each sentence has the label of the best of the first five contexts that were "
        "retrieved. They have no precision, and stand in no table with runs that cite.",
        topics="topics",
    )
