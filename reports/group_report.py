"""Group report: what one group gets of its runs, topic by topic, and nothing of other groups' runs.

Each topic's minimum, median and maximum are over all runs but the organizers' controls, as the track gives them.
"""

from collections.abc import Collection
from operator import itemgetter
from typing import Any

import numpy as np
from django import forms
from django.http import QueryDict

from evaluation.domain.conditions import NuggetCondition
from evaluation.errors import Refused
from evaluation.models import Campaign
from reports import charts, needs
from reports.cache import cached_report
from reports.forms import ConditionForm, name_options
from reports.frames import tagged_assignments
from reports.leaderboard.scores import Leaderboard, leaderboard, runs_by_id
from reports.metrics.arrays import Booleans, defined
from reports.metrics.label_matrix import AssignmentSheet
from reports.metrics.policies import Policies, policies_document
from reports.metrics.registry import BY_NAME, LENGTH, Profile, primary_of
from reports.metrics.scores import AnswerScores, answer_scores
from reports.profiles import WORDS, profile_of, profiles_of
from reports.registry import report
from reports.report import (
    OVERVIEW,
    Chart,
    ColumnKind,
    ReportContent,
    Row,
    Section,
    column_kind,
    columns,
    counted,
    isolated,
    policies_text,
    sentences,
    tag_text,
)
from web.consistent_read import consistent_read

SECOND = {Profile.TREC_RAG: ("all", "six"), Profile.RUBRIC: ("rubric_strict", "four")}
"""The score that stands topic by topic beside the primary one, and how many there are."""
NO_GROUPS = "No run has a group. Name it as you load a run under Data, or tick Change what is loaded already."


class GroupReportForm(ConditionForm):
    group = forms.ChoiceField(label="Group")
    profile = forms.ChoiceField(
        label="Scores",
        required=False,
        choices=[(profile.value, words) for profile, words in WORDS.items()],
        help_text="Where none is chosen, those of the protocol.",
    )
    needless = ("tag", "profile")
    runs_names = ()
    field_order = ["group", "condition", "profile", "tag"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        runs = campaign.runs.exclude(group="").order_by("group")
        self.groups, data = list(runs.values_list("group", flat=True).distinct()), query.copy()
        # A group report is of one group, so the page opens with the first and never with all.
        data.setdefault("group", self.groups[0] if self.groups else "")
        super().__init__(data, campaign, profile=profile_of(campaign))
        self.offer("group", name_options(self.groups))
        self.offer("profile", [(profile.value, WORDS[profile]) for profile in profiles_of(campaign)])
        # A campaign whose runs have no group still has a page, which says so.
        self.fields["group"].required = bool(self.groups)


@report(
    "group-report",
    title="Group report",
    form=GroupReportForm,
    text="One group's runs, topic by topic, beside the range of all runs.",
    caption="Group reports",
    template="reports/group_report.html",
    menu="Publish",
    order=40,
    needs=(needs.RUNS, needs.NUGGET_LABELS),
    for_readers=False,
)
def group_report_page(form: GroupReportForm) -> ReportContent:
    if not form.groups:
        raise Refused("no_groups", NO_GROUPS)
    return _content(form.resolve(), form.policies, form.chosen["group"], form.chosen["tag"])


@cached_report(size=32)
def _content(choice: NuggetCondition, policies: Policies, group: str, tag: str) -> ReportContent:
    with consistent_read():
        sheet = tagged_assignments(choice, tag, policies.profile)
        runs = runs_by_id(choice.campaign)
    scores = answer_scores(sheet, policies)
    own = [place for place, run in enumerate(sheet.run_ids) if runs[run].group == group]
    # Only ends and medians of others' runs leave: no score of a run that is not the group's own.
    judged = np.array([not runs[run].control for run in sheet.run_ids], dtype=np.bool_) & sheet.labelled
    by_topic, others = _by_topic(sheet, scores, own, judged), int(judged.sum())
    facts = sentences(
        f"Runs of {isolated(group)} only: {counted(len(own), 'run')}.",
        f"Condition {choice.condition}.",
        policies_text(policies_document(policies), choice.campaign),
        tag_text(tag),
        f"Minimum, median and maximum of each topic are over {counted(others, 'run')}, the "
        "organizers' controls left out.",
    )
    overview = _runs(leaderboard(choice, policies, tag), {sheet.run_ids[place] for place in own})
    return ReportContent(facts, (overview, _topics(by_topic, policies.profile)), f"Group report: {group}")


def _by_topic(sheet: AssignmentSheet, scores: AnswerScores, own: list[int], judged: Booleans) -> list[Row]:
    """Return a row per topic and own run: each score beside the topic's minimum, median and maximum."""
    names = (*scores.names, LENGTH)
    spreads = {name: _spread(scores.of(name)[:, judged]) for name in names}
    return [
        {"topic_id": sheet.topic_ids[topic], "run_id": sheet.run_ids[run]}
        | {
            key: value
            for name in names
            for key, value in (
                (name, defined(scores.of(name)[topic, run])),
                *((f"{name}_{end}", defined(values[topic])) for end, values in spreads[name].items()),
            )
        }
        for topic in np.flatnonzero(scores.topics).tolist()
        for run in own
    ]


def _spread(values: Any) -> dict[str, Any]:
    """Return each topic's minimum, median and maximum over runs, T each, nan where no run has a value."""
    # Filled where there is nothing: numpy warns of a row of only nan, and refuses one without runs.
    none = np.isnan(values).all(axis=1) if values.shape[1] else np.ones(len(values), dtype=np.bool_)
    filled = np.where(none[:, np.newaxis], 0.0, values) if values.shape[1] else np.zeros((len(values), 1))
    ends = (np.nanmin(filled, axis=1), np.nanmedian(filled, axis=1), np.nanmax(filled, axis=1))
    return {
        name: np.where(none, np.nan, figures) for name, figures in zip(("min", "median", "max"), ends, strict=True)
    }


def _runs(board: Leaderboard, own: Collection[str]) -> Section:
    names = ("run_id", "task", "topics", *board.names)
    rows = [{name: row[name] for name in names} for row in board.rows if row["run_id"] in own]
    rows.sort(key=itemgetter("run_id"))
    kinds = {LENGTH: ("Words", ColumnKind.DECIMAL)}
    score_columns = [(name, *kinds.get(name, (BY_NAME[name].words, column_kind(name)))) for name in board.names]
    return Section(
        name=OVERVIEW,
        title="Runs, mean over topics",
        columns=columns(
            ("run_id", "Run", ColumnKind.RUN),
            ("task", "Task"),
            ("topics", "Topics", ColumnKind.COUNT),
            *score_columns,
            primary=board.primary,
        ),
        rows=rows,
        topics=board.topics,
    )


def _chart(by_topic: list[Row], score: str) -> Chart | None:
    best: dict[str, dict[str, Any]] = {}
    for row in by_topic:
        topic, value = row["topic_id"], row[score]
        if value is None or row[f"{score}_min"] is None:
            continue
        if topic not in best or value > best[topic]["point"]:
            ends = {"low": row[f"{score}_min"], "high": row[f"{score}_max"]}
            best[topic] = ends | {"name": topic, "point": value, "published": row[f"{score}_median"]}
    bars = sorted(best.values(), key=lambda row: -row["published"])
    if not bars:
        return None
    primary = BY_NAME[score]
    return Chart(
        alt=f"{primary.words} of the group's best run in {counted(len(bars), 'topic')}, within each topic's range.",
        draw=lambda palette: charts.spans(palette, bars, primary.spoken),
        note="Lines: from each topic's minimum to its maximum. Upright: its median. Points: the group's best run.",
    )


def _topics(by_topic: list[Row], profile: Profile) -> Section:
    first, (second, number) = primary_of(profile), SECOND[profile]
    score_columns = [
        (name, heading, ColumnKind.SCORE)
        for score in (first, second)
        for name, heading in (
            (score, BY_NAME[score].words),
            *((f"{score}_{end}", end.capitalize()) for end in ("min", "median", "max")),
        )
    ]
    ends = [(f"length_{end}", end.capitalize(), ColumnKind.DECIMAL) for end in ("min", "median", "max")]
    return Section(
        name="topics",
        title="Topic by topic",
        columns=columns(
            ("topic_id", "Topic", ColumnKind.TOPIC),
            ("run_id", "Run", ColumnKind.RUN),
            *score_columns,
            ("length", "Words", ColumnKind.DECIMAL),
            *ends,
            primary=first,
        ),
        rows=by_topic,
        chart=_chart(by_topic, first),
        note=f"The files have all {number} scores.",
    )
