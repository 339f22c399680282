"""Length: score against length, and the runs that no shorter run beats."""

from collections.abc import Sequence

from django import forms
from django.http import QueryDict

from evaluation.domain.conditions import NuggetCondition
from evaluation.models import Campaign, Run
from reports import charts, needs
from reports.cache import cached_report
from reports.forms import ConditionForm
from reports.frames import tagged_assignments, topics_by_tag
from reports.leaderboard.scores import run_head, runs_by_id
from reports.metrics.arrays import defined
from reports.metrics.policies import Policies, policies_document
from reports.metrics.registry import BY_NAME, LENGTH, OF_NUGGETS, primary_of
from reports.metrics.scores import RunScores, on_front, run_scores
from reports.profiles import profile_of, profiles_of, score_choices
from reports.registry import report
from reports.report import (
    OVERVIEW,
    Chart,
    ColumnKind,
    ReportContent,
    Row,
    Section,
    choice_text,
    column_kind,
    columns,
    counted,
    policies_text,
    sentences,
    tag_text,
    topics_with_nuggets,
)
from web.consistent_read import consistent_read

Limits = tuple[str, str, str]
"""Group, task and tag; empty: all."""


class LengthForm(ConditionForm):
    # Length against itself would be a straight line, so it is not among the scores here.
    score = forms.ChoiceField(label="Score", choices=score_choices(OF_NUGGETS, sizes=False))
    group = forms.ChoiceField(label="Group", required=False)
    task = forms.ChoiceField(label="Task", required=False)
    field_order = ["condition", "score", "group", "task", "tag"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query, campaign, score=primary_of(profile_of(campaign)))
        self.offer("score", score_choices(profiles_of(campaign), sizes=False))
        self.offer_runs()


@report(
    "length",
    title="Length",
    form=LengthForm,
    text="Score against length, and the runs that no shorter run beats.",
    menu="Results",
    order=80,
    needs=(needs.RUNS, needs.NUGGET_LABELS),
)
def length_page(form: LengthForm) -> ReportContent:
    limits = (form.chosen["group"], form.chosen["task"], form.chosen["tag"])
    return _content(form.resolve(), form.policies, form.chosen["score"], limits)


@cached_report(size=32)
def _content(choice: NuggetCondition, policies: Policies, score: str, limits: Limits) -> ReportContent:
    group, task, tag = limits
    with consistent_read():
        sheet = tagged_assignments(choice, tag, policies.profile)
        runs = runs_by_id(choice.campaign)
        by_tag = _by_tag(choice, policies, score)
    run_ids = [run for run in sheet.run_ids if group in ("", runs[run].group) and task in ("", runs[run].task)]
    rows = _rows(run_scores(sheet, policies), runs, run_ids, score)
    facts = sentences(
        choice_text(choice),
        topics_with_nuggets(int(sheet.scorable.sum())),
        policies_text(policies_document(policies), choice.campaign),
        tag_text(tag),
        "Length: whitespace words of the answer, mean over topics.",
    )
    sections = [_overview(rows, score, int(sheet.scorable.sum()))]
    if by_tag:
        sections.append(_tags(by_tag, run_ids, score))
    return ReportContent(facts, sections)


def _rows(scores: RunScores, runs: dict[str, Run], run_ids: Sequence[str], score: str) -> list[Row]:
    """Return the chosen runs, the shortest first; the front is among them alone."""
    places = [place for place, run in enumerate(scores.run_ids) if run in set(run_ids)]
    lengths, values = scores.of(LENGTH)[places], scores.of(score)[places]
    # Among the runs shown: whoever looks at one task asks which of its runs no shorter one beats.
    front = on_front(lengths, -values if BY_NAME[score].lower_is_better else values)
    rows = [
        {
            **run_head(runs[scores.run_ids[place]]),
            "length": defined(lengths[at]),
            score: defined(values[at]),
            # Undefined for empty answers: no words, no rate.
            "per_100_words": defined(100 * values[at] / lengths[at]) if lengths[at] else None,
            "front": "yes" if front[at] else "",
        }
        for at, place in enumerate(places)
    ]
    return sorted(rows, key=lambda row: (row["length"] is None, row["length"] or 0, row["run_id"]))


def _overview(rows: list[Row], score: str, topics: int) -> Section:
    points = [
        {"name": row["run_id"], "task": charts.task_of(row["task"]), "x": row["length"], "y": row[score]}
        for row in rows
        if row["length"] is not None and row[score] is not None
    ]
    front = [{"x": row["length"], "y": row[score]} for row in rows if row["front"]]
    titles = ("words per answer", BY_NAME[score].spoken)
    return Section(
        name=OVERVIEW,
        title=f"{BY_NAME[score].words} against length",
        columns=columns(
            ("run_id", "Run", ColumnKind.RUN),
            ("group", "Group"),
            ("task", "Task"),
            ("length", "Words", ColumnKind.DECIMAL),
            (score, BY_NAME[score].words, column_kind(score)),
            ("per_100_words", "Per 100 words", ColumnKind.SCORE),
            ("front", "On the front"),
            primary=score,
        ),
        rows=rows,
        note="On the front: no other run shown is as short and scores as much, and better in one of the two.",
        topics=topics,
        chart=Chart(
            alt=f"{counted(len(points), 'run')} by words and {BY_NAME[score].spoken}, the front as a dashed line.",
            draw=lambda palette: charts.plane(palette, points, titles, line=front),
            note="Points: runs, by task. Dashed: the Pareto front.",
        )
        if points
        else None,
    )


def _by_tag(choice: NuggetCondition, policies: Policies, score: str) -> dict[str, dict[str, Row]]:
    by_tag: dict[str, dict[str, Row]] = {}
    for tag in topics_by_tag(choice.campaign):
        sheet = tagged_assignments(choice, tag, policies.profile)
        scores, topics = run_scores(sheet, policies), int(sheet.scorable.sum())
        pairs = zip(scores.of(LENGTH), scores.of(score), strict=True)
        by_tag[tag] = {
            run: {"length": defined(length), score: defined(value), "topics": topics}
            for run, (length, value) in zip(scores.run_ids, pairs, strict=True)
        }
    return by_tag


def _tags(by_tag: dict[str, dict[str, Row]], run_ids: Sequence[str], score: str) -> Section:
    rows: list[Row] = [{"run_id": run, "tag": tag, **runs[run]} for tag, runs in by_tag.items() for run in run_ids]
    return Section(
        name="tags",
        title="By topic tag",
        columns=columns(
            ("tag", "Tag"),
            ("run_id", "Run", ColumnKind.RUN),
            ("length", "Words", ColumnKind.DECIMAL),
            (score, BY_NAME[score].words, column_kind(score)),
            ("topics", "Topics", ColumnKind.COUNT),
            primary=score,
        ),
        rows=rows,
        topics="topics",
    )
