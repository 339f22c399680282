"""Scores as rows, computed when they are asked for: the figures of `report scores` and `report support`."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign, Run
from evaluation.queries.data.reading import Reader, Row
from reports.documents import scores_csv_rows, support_document
from reports.leaderboard import leaderboard
from reports.metrics.policies import Policies, SupportPolicies
from reports.supporting import support_report

FIGURES = (
    *("group", "task", "control", "topics"),
    *("vital_strict", "vital", "weighted_strict", "weighted", "all_strict", "all", "length"),
    *("weighted_precision", "weighted_recall", "sentences", "sentences_total", "sentences_uncited"),
    *("judged", "failed", "unjudged", "excluded", "missing", "unjudgeable"),
)
"""Nugget scores are null under a support condition, and support scores under all others."""


class Scores(Reader):
    """The runs of a campaign under one condition."""

    def rows(self) -> QuerySet[Run]:
        """Return nothing: `found` computes the rows."""
        return Run.objects.using(self.alias).none()

    def found(self, choice: NuggetCondition | CitationCondition, params: dict[str, Any]) -> list[tuple[int, Row]]:
        """Return the runs with their keys. `asked`: the policies that were named, and a run's id if one is meant."""
        campaign = choice.campaign
        runs = dict(campaign.runs.using(self.alias).values_list("run_id", "pk"))
        rows = [
            (runs[row["run_id"]], self._row(campaign, choice, row))
            for row in _figures(choice, params)
            if params.get("run") in (None, row["run_id"])
        ]
        return sorted(rows, key=lambda one: one[0])

    def _row(self, campaign: Campaign, choice: NuggetCondition | CitationCondition, row: dict[str, Any]) -> Row:
        sets = choice.nugget_sets if isinstance(choice, NuggetCondition) else ()
        judges = (self.names.judge(campaign.pk, one.pk) or "" for one in choice.judges)
        return {
            "campaign": campaign.slug,
            "condition": str(choice),
            "judge": _names_text(judges),
            "nugget_set": _names_text(self.names.nugget_set(one.pk) or "" for one in sets),
            "run_id": row["run_id"],
            **{name: row.get(name) for name in FIGURES},
        }


def _figures(choice: NuggetCondition | CitationCondition, params: dict[str, Any]) -> list[dict[str, Any]]:
    if isinstance(choice, NuggetCondition):
        return scores_csv_rows(leaderboard(choice, Policies(**_named(params, "missing", "unjudged", "no_vital"))))
    report = support_report(choice, SupportPolicies(**_named(params, "missing", "no_cited")))
    rows: list[dict[str, Any]] = support_document(report)["runs"]
    return rows


def _named(params: dict[str, Any], *policies: str) -> dict[str, Any]:
    """Return the policies that were named; the others have their defaults."""
    return {name: params[name] for name in policies if name in params}


def _names_text(names: Iterable[str]) -> str | None:
    """Return names as reports say them; None where there is none."""
    return ", ".join(names) or None
