"""Leaderboard page of a query string, or the reason why it is empty."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.http import QueryDict

from evaluation.domain.conditions import (
    CitationCondition,
    judges_of,
    resolve,
    resolve_citations,
    support_judges_of,
)
from evaluation.errors import Refused
from evaluation.models import Campaign, Judge
from evaluation.terms import Origin, SupportCondition
from reports.files import FileTable
from reports.forms import LeaderboardForm, first_conditions
from reports.frames import tags_of
from reports.leaderboard.scores import Leaderboard, score_row, scores_document
from reports.leaderboard.standings import (
    INTERVAL,
    Comparisons,
    Standing,
    Standings,
    Wanted,
    comparisons,
    standings,
    topics_behind,
    value_of,
)
from reports.metrics.policies import listed_policies
from reports.metrics.scores import LENGTH, SCORE_NAMES
from reports.metrics.support import SUPPORT_NAMES

TEXTS = {"run_id": "Run", "group": "Group", "task": "Task"}
COUNTS = {
    "topics": "Topics",
    "judged": "Judged",
    "failed": "Failed",
    "unjudged": "Unjudged",
    "excluded": "Excluded",
    "missing": "Missing",
}


@dataclass(frozen=True, slots=True)
class LeaderboardColumn:
    """A column: how its cells are shown (`kind`), how it orders the table (`ordered`), and after a click (`sort`)."""

    name: str
    label: str
    kind: str
    primary: bool = False
    ordered: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """The form, and what came of it; `message` says why there is no board, `support_message` why no support."""

    form: LeaderboardForm
    message: str = ""
    support_message: str = ""
    found: Standings | None = None
    shown: tuple[Standing, ...] = ()
    support: CitationCondition | None = None
    compared: Comparisons | None = None

    @property
    def board(self) -> Leaderboard | None:
        return self.found.board if self.found else None

    @property
    def columns(self) -> list[LeaderboardColumn]:
        if self.found is None:
            return []
        score, sort = self.found.score, self.form.chosen["sort"]
        names = [LeaderboardColumn(name, label, "text") for name, label in TEXTS.items()]
        for name in (*SCORE_NAMES, LENGTH):
            kind, label = (
                ("decimal", "Words") if name == LENGTH else ("score", name.replace("_", " ").capitalize())
            )
            names.append(LeaderboardColumn(name, label, kind, primary=name == score))
            if name == score:
                names.append(LeaderboardColumn(INTERVAL, "95 % interval", INTERVAL))
        if self.support:
            labels = ("Support precision", "Support recall", "Sentences")
            kinds = ("score", "score", "decimal")
            names += [LeaderboardColumn(*one) for one in zip(SUPPORT_NAMES, labels, kinds, strict=True)]
        names += [LeaderboardColumn(name, label, "count") for name, label in COUNTS.items()]
        return [_sortable(one, sort or f"-{score}") for one in names]

    @property
    def tag_rows(self) -> list[tuple[Standing, list[tuple[float | None, int]]]]:
        """The runs shown, each with its mean of the chosen score over each tag's topics, and how many these are."""
        columns = self.found.by_tag if self.found else ()
        return [
            (one, [(column.by_run.get(one.row.run_id), column.topics) for column in columns]) for one in self.shown
        ]

    @property
    def rows(self) -> list[tuple[Standing, list[tuple[LeaderboardColumn, Any, int | None]]]]:
        columns = self.columns
        return [
            (
                one,
                [(column, value_of(one, column.name), topics_behind(one, column.name)) for column in columns],
            )
            for one in self.shown
        ]

    @property
    def closing(self) -> list[tuple[str, list[tuple[LeaderboardColumn, float | None]]]]:
        if self.board is None:
            return []
        columns = [one for one in self.columns if one.name not in TEXTS]
        return [
            (name, [(column, values.get(column.name)) for column in columns])
            for name, values in self.board.summary.items()
        ]


def leaderboard_page(campaign: Campaign, query: QueryDict) -> LeaderboardPage:
    """Return the leaderboard that the query string names, or that of the first condition that has labels."""
    form = _form(campaign, query)
    if not form.is_valid():
        return LeaderboardPage(form, "This is not a choice of this campaign. See the form.")
    try:
        choice = resolve(
            campaign, form.chosen_condition, judge=form.chosen["judge"], nuggets=form.chosen["nuggets"]
        )
    except Refused as refused:
        return LeaderboardPage(form, refused.message)
    support, why = _support(campaign, form.chosen_support, form.chosen["support_judge"])
    wanted = Wanted(
        choice, form.policies, support, form.support_policies, form.chosen["score"], form.chosen["tag"]
    )
    found = standings(wanted)
    shown = _ordered(_chosen(found.rows, form), form.chosen["sort"] or f"-{wanted.score}")
    compared = comparisons(wanted, tuple(row.row.run_id for row in shown)) if form.chosen["compare"] else None
    return LeaderboardPage(form, "", why, found, tuple(shown), support, compared)


def _form(campaign: Campaign, query: QueryDict) -> LeaderboardForm:
    sets = list(campaign.nugget_sets.exclude(origin=Origin.DRAFT))
    judges = {judge.name for judge in judges_of(*sets)}
    runs = list(campaign.runs.values_list("group", "task"))
    by_condition = {one: _names(support_judges_of(campaign, one)) for one in SupportCondition}
    labelled = next((one for one, names in by_condition.items() if names), "")
    return LeaderboardForm(
        query,
        sets=[one.name for one in sets],
        judges=sorted(judges),
        support_judges=sorted({name for names in by_condition.values() for name in names}),
        groups=sorted({group for group, _ in runs if group}),
        tasks=sorted({task for _, task in runs if task}),
        tags=tags_of(campaign),
        defaults={"condition": first_conditions(sets)["x"], "support": labelled},
    )


def _names(judges: Iterable[Judge]) -> list[str]:
    return [judge.name for judge in judges]


def _support(
    campaign: Campaign, condition: SupportCondition | None, judge: str
) -> tuple[CitationCondition | None, str]:
    if condition is None:
        return None, ""
    try:
        return resolve_citations(campaign, condition, judge=judge), ""
    except Refused as refused:
        return None, refused.message


def _chosen(rows: Iterable[Standing], form: LeaderboardForm) -> list[Standing]:
    group, task = form.chosen["group"], form.chosen["task"]
    return [row for row in rows if group in ("", row.row.group) and task in ("", row.row.task)]


def _ordered(rows: Sequence[Standing], sort: str) -> list[Standing]:
    """Return rows in an order; what is undefined comes last, whichever way round."""
    name = sort.removeprefix("-")
    if name not in {*TEXTS, *SCORE_NAMES, LENGTH, *SUPPORT_NAMES, *COUNTS}:
        return list(rows)
    known = [row for row in rows if value_of(row, name) is not None]
    known.sort(key=lambda one: one.row.run_id)
    known.sort(key=lambda one: value_of(one, name), reverse=sort.startswith("-"))
    return known + [row for row in rows if value_of(row, name) is None]


def _sortable(column: LeaderboardColumn, sort: str) -> LeaderboardColumn:
    """Say how the table is ordered by a column, and how a click orders it: the other way, or highest first."""
    if column.kind == INTERVAL:
        return column
    up, down = column.name, f"-{column.name}"
    if sort in (up, down):
        return replace(
            column,
            ordered="ascending" if sort == up else "descending",
            sort=down if sort == up else up,
        )
    return replace(column, sort=up if column.kind == "text" else down)


PAPER = {
    "vital_strict": "Vital strict",
    "vital": "Vital",
    "weighted_strict": "Weighted strict",
    "weighted": "Weighted",
    "all_strict": "All strict",
    "all": "All",
    "length": "Words",
    "weighted_precision": "Precision",
    "weighted_recall": "Recall",
    "sentences": "Sentences",
}
"""The columns of a paper's table."""


def standings_table(page: LeaderboardPage) -> FileTable:
    """Return the leaderboard of the runs that a page shows. Raises ValueError for a page without one."""
    if page.found is None or page.board is None:
        raise ValueError(page.message)
    rows = [_standing_row(one, page) for one in page.shown]
    scores = [name for name in PAPER if page.support or name not in SUPPORT_NAMES]
    board = scores_document(page.board)
    judged = f"nuggets {board['nuggets']}, labels by {board['judge']}"
    comment = f"{board['condition']}, {judged}; policies {listed_policies(board['policies'])}"
    return FileTable(
        rows=rows,
        columns={"run_id": "Run"} | {name: PAPER[name] for name in scores},
        closing=[{"run_id": name} | scores for name, scores in page.board.summary.items()],
        document=board
        | {
            "runs": rows,
            "score": page.found.score,
            "tag": page.form.chosen["tag"] or None,
            "by_tag": {one.tag: {"topics": one.topics, "runs": one.by_run} for one in page.found.by_tag},
            "support": str(page.support) if page.support else None,
            "comparisons": _comparison_rows(page.compared) if page.compared else None,
        },
        comment=comment,
    )


def _standing_row(one: Standing, page: LeaderboardPage) -> dict[str, Any]:
    row = score_row(one.row) | {"low": one.low, "high": one.high}
    if page.support:
        row |= {name: value_of(one, name) for name in SUPPORT_NAMES}
    return row


def _comparison_rows(found: Comparisons) -> list[dict[str, Any]]:
    """Return every two runs once: the one with the higher mean first where they differ."""
    return [
        {"run_id": run} | asdict(one)
        for place, (run, row) in enumerate(zip(found.runs, found.rows, strict=True))
        for one in row[place + 1 :]
    ]
