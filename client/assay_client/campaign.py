"""A campaign: its lists, scores, reports, imports, jobs and tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from assay_client import rows
from assay_client.connection import Connection
from assay_client.gates import Gate, ask_gate
from assay_client.imports import Imports
from assay_client.jobs import Jobs
from assay_client.lists import Rows, Scores, TopicScores
from assay_client.reading import Row, read


class Tasks:
    """Tasks of a campaign. Called, it is their list."""

    def __init__(self, connection: Connection, campaign: str) -> None:
        self._connection, self._campaign = connection, campaign

    def __call__(self, **filters: Any) -> Rows[rows.TaskRow]:
        return Rows(self._connection, "tasks", rows.TaskRow, {"campaign": self._campaign, **filters})

    def plan(self, stage: str, **order: Any) -> rows.HandOutPlan:
        """Return who would get what, by `hand_out` with the same words."""
        answer = self._connection.post("tasks/", self._order(stage, order), {"dry_run": True}, tried_out=True)
        return read(rows.HandOutPlan, answer)

    def hand_out(self, stage: str, **order: Any) -> rows.HandedOut:
        """Hand out topics. `order`: as `POST tasks/` has it; `expect=plan.key` makes sure that just a plan is done."""
        answer = self._connection.post("tasks/", self._order(stage, order))
        return read(rows.HandedOut, answer)

    def _order(self, stage: str, order: dict[str, Any]) -> dict[str, Any]:
        return {"campaign": self._campaign, "stage": stage, **order}


@dataclass(frozen=True)
class Comparison:
    """The score of run `x` less that of run `y`, over the topics of both: paired interval and test.

    `low` and `high` are None where there is no interval, and `reason` says why. `adjusted`: p among all pairs of runs.
    """

    x: str
    y: str
    score: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None
    topics: int
    reason: str

    @classmethod
    def of(cls, x: str, y: str, document: dict[str, Any]) -> Comparison:
        [row] = [row for row in document["comparisons"] if {row["run_id"], row["other"]} == {x, y}]
        interval, sign = row["intervals"]["difference"], 1 if row["run_id"] == x else -1
        difference, *ends = (
            None if value is None else sign * value
            for value in (row["difference"], interval["low"], interval["high"])
        )
        low, high = ends[::sign]
        figures = {name: row[name] for name in ("p", "adjusted", "topics")}
        reason = interval.get("reason", "")
        return cls(x, y, document["score"], difference, low, high, reason=reason, **figures)


class Campaign:
    """A campaign. `row` is what was read of it. The filters of lists are those of docs/api.md."""

    def __init__(self, connection: Connection, row: rows.CampaignRow) -> None:
        self._connection, self.row, self.slug = connection, row, row.slug
        self.imports = Imports(connection, row.slug)
        self.jobs = Jobs(connection, row.slug)
        self.tasks = Tasks(connection, row.slug)

    def __repr__(self) -> str:
        return f"<Campaign {self.slug}>"

    def topics(self, **filters: Any) -> Rows[rows.TopicRow]:
        return self._rows("topics", rows.TopicRow, filters)

    def segments(self, **filters: Any) -> Rows[rows.SegmentRow]:
        return self._rows("segments", rows.SegmentRow, filters)

    def runs(self, **filters: Any) -> Rows[rows.RunRow]:
        return self._rows("runs", rows.RunRow, filters)

    def answers(self, **filters: Any) -> Rows[rows.AnswerRow]:
        return self._rows("answers", rows.AnswerRow, filters)

    def nugget_sets(self, **filters: Any) -> Rows[rows.NuggetSetRow]:
        return self._rows("nugget-sets", rows.NuggetSetRow, filters)

    def nuggets(self, **filters: Any) -> Rows[rows.NuggetRow]:
        return self._rows("nuggets", rows.NuggetRow, filters)

    def assignments(self, **filters: Any) -> Rows[rows.AssignmentRow]:
        return self._rows("assignments", rows.AssignmentRow, filters)

    def support(self, **filters: Any) -> Rows[rows.SupportRow]:
        return self._rows("support-judgments", rows.SupportRow, filters)

    def judgments(self, **filters: Any) -> Rows[rows.JudgmentRow]:
        return self._rows("judgments", rows.JudgmentRow, filters)

    def battle_sets(self, **filters: Any) -> Rows[rows.BattleSetRow]:
        return self._rows("battle-sets", rows.BattleSetRow, filters)

    def battles(self, **filters: Any) -> Rows[rows.BattleRow]:
        return self._rows("battles", rows.BattleRow, filters)

    def verdicts(self, **filters: Any) -> Rows[rows.VerdictRow]:
        return self._rows("verdicts", rows.VerdictRow, filters)

    def grades(self, **filters: Any) -> Rows[rows.QrelRow]:
        return self._rows("grades", rows.QrelRow, filters)

    def judges(self, **filters: Any) -> Rows[rows.JudgeRow]:
        return self._rows("judges", rows.JudgeRow, filters)

    def studies(self, **filters: Any) -> Rows[rows.StudyRow]:
        return self._rows("studies", rows.StudyRow, filters)

    def time(self, **filters: Any) -> Rows[rows.TimeRow]:
        return self._rows("time", rows.TimeRow, filters)

    def events(self, **filters: Any) -> Rows[rows.EventRow]:
        return self._rows("events", rows.EventRow, filters)

    def findings(self, **filters: Any) -> Rows[rows.FindingRow]:
        return self._rows("findings", rows.FindingRow, filters)

    @overload
    def scores(self, condition: str, *, per_topic: Literal[False] = False, **options: Any) -> Scores: ...

    @overload
    def scores(self, condition: str, *, per_topic: Literal[True], **options: Any) -> TopicScores: ...

    def scores(self, condition: str, *, per_topic: bool = False, **options: Any) -> Scores | TopicScores:
        """Return the runs' scores. `options`: judge, nugget set and policies, as `scores` of the API has them."""
        return self._scores("scores", condition, options, per_topic=per_topic)

    @overload
    def support_scores(self, condition: str, *, per_topic: Literal[False] = False, **options: Any) -> Scores: ...

    @overload
    def support_scores(self, condition: str, *, per_topic: Literal[True], **options: Any) -> TopicScores: ...

    def support_scores(self, condition: str, *, per_topic: bool = False, **options: Any) -> Scores | TopicScores:
        """Return the runs' citation scores, under a condition such as `llm`."""
        return self._scores("support", condition, options, per_topic=per_topic)

    def compare(self, x: str, y: str, score: str | None = None, *, condition: str, **options: Any) -> Comparison:
        """Compare two runs. `options`: judge, nugget set and policies. Raises `KeyError` for a run without scores."""
        # A condition of nuggets names two who worked, one of citations one.
        name = "comparisons" if "/" in condition else "support-comparisons"
        document = self.report(name, condition=condition, score=score, **options)
        for run in (x, y):
            if run not in document["runs"]:
                raise KeyError(run)
        return Comparison.of(x, y, document)

    def fingerprint(self, condition: str, *, run: str, **options: Any) -> rows.FingerprintOut:
        """Return what the labels of a run rest on. `options`: judge, nugget set and policies."""
        query = {"campaign": self.slug, "condition": condition, "run": run, **options}
        return read(rows.FingerprintOut, self._connection.get("fingerprint/", query))

    def gate(
        self,
        condition: str,
        *,
        candidate: str,
        baseline: str | Mapping[str, Any] = "",
        score: str | Sequence[str] = (),
        wait: float = 0,
        **options: Any,
    ) -> Gate:
        """Say whether a run is no worse than a baseline, or better.

        `baseline`: a run, `accepted`, or the document of one that was kept. `wait`: seconds for jobs that still label
        these runs. `options`: as `POST gates/` has them, such as `least` and `goal`.
        """
        order = {
            "campaign": self.slug,
            "condition": condition,
            "candidate": candidate,
            "baseline" if isinstance(baseline, str) else "baseline_document": baseline,
            "scores": [score] if isinstance(score, str) else list(score),
        }
        return ask_gate(self._connection, {**order, **options}, wait)

    def report(self, name: str, **options: Any) -> dict[str, Any]:
        """Return the document that the command `report` prints as JSON."""
        document: dict[str, Any] = self._connection.get(f"reports/{name}/", {"campaign": self.slug, **options})
        return document

    def _scores(
        self, report: str, condition: str, options: dict[str, Any], *, per_topic: bool
    ) -> Scores | TopicScores:
        query = {"campaign": self.slug, "condition": condition, **options}
        if per_topic:
            return TopicScores(self._connection, rows.TopicScoreRow, {**query, "per_topic": True}, report)
        return Scores(self._connection, rows.ScoreRow, query, report)

    def _rows(self, path: str, row: type[Row], filters: dict[str, Any]) -> Rows[Row]:
        return Rows(self._connection, path, row, {"campaign": self.slug, **filters})
