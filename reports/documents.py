"""Each report as the JSON document and the rows that the contract names."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from reports.agreement.figures import Correlation
from reports.confusion.paired_labels import ConfusionReport
from reports.files import FileTable
from reports.leaderboard.page import LeaderboardPage
from reports.leaderboard.scores import Leaderboard, LeaderboardRow
from reports.leaderboard.standings import Comparisons, Standing, value_of
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.subsampling import CurvePoint
from reports.metrics.support import SUPPORT_NAMES
from reports.nuggets.descriptives import DescriptiveRow, EditReport
from reports.support_scores import SupportReport

Document = dict[str, Any]


def policies_document(policies: Policies | SupportPolicies) -> Document:
    """Return the policies as they are spelled on the command line."""
    return {name.replace("_", "-"): value for name, value in asdict(policies).items()}


def scores_document(board: Leaderboard) -> Document:
    return {
        "condition": str(board.choice),
        "nuggets": board.choice.sets_text,
        "judge": board.choice.judges_text,
        "policies": policies_document(board.policies),
        "topics": board.topics,
        "empty_topics": board.empty_topics,
        "no_vital_topics": board.no_vital_topics,
        "avoid_nuggets": board.avoid_nuggets,
        "runs": [_score_row(row) for row in board.rows],
        "summary": board.summary,
    }


def scores_rows(board: Leaderboard) -> list[Document]:
    rows = [_score_row(row) for row in board.rows]
    return rows + [{"run_id": name} | scores for name, scores in board.summary.items()]


def scores_csv_rows(board: Leaderboard) -> list[Document]:
    """Return the runs alone, so that `import_scores` reads them back."""
    return [_score_row(row) for row in board.rows]


def _score_row(row: LeaderboardRow) -> Document:
    counts = ("judged", "failed", "unjudged", "excluded", "missing")
    return {
        "run_id": row.run_id,
        "group": row.group,
        "task": row.task,
        "topics": row.topics,
        **row.scores,
        "length": row.length,
        **{name: getattr(row, name) for name in counts},
        "control": row.control,
    }


def correlation_document(found: Correlation) -> Document:
    agreed = found.agreement
    return {
        "x": found.x,
        "y": found.y,
        "score": found.score,
        "policies": policies_document(found.policies),
        "runs": agreed.runs,
        "topics": agreed.topics,
        "pairs": agreed.pairs,
        "run_level": agreed.run_level,
        "topic_average": agreed.topic_average,
        "all_topic_run": agreed.all_topic_run,
        "undefined_topics": agreed.undefined_topics,
        "ties": {level: asdict(ties) for level, ties in agreed.ties.items()},
        "discordant": agreed.discordant,
        "intervals": {level: asdict(one) if one else None for level, one in found.intervals.items()},
    }


def correlation_rows(found: Correlation) -> list[Document]:
    agreed = found.agreement
    sizes = {"run_level": agreed.runs, "topic_average": agreed.topics, "all_topic_run": agreed.pairs}
    return [
        {
            "level": level,
            "tau_b": getattr(agreed, level),
            "n": n,
            "low": interval.low if (interval := found.intervals[level]) else None,
            "high": interval.high if interval else None,
            "discordant": agreed.discordant[level],
            "tied_x": agreed.ties[level].x,
            "tied_y": agreed.ties[level].y,
            "tied_both": agreed.ties[level].both,
            "undefined_topics": agreed.undefined_topics if level == "topic_average" else None,
        }
        for level, n in sizes.items()
    ]


def correlation_table(found: Correlation) -> FileTable:
    headings = {
        "level": "Level",
        "tau_b": "Tau-b",
        "n": "n",
        "low": "Low",
        "high": "High",
        "discordant": "Discordant",
    }
    runs = [asdict(run) for run in found.runs]
    return FileTable(
        correlation_rows(found), headings, correlation_document(found) | {"by_run": runs}, comment=_compared(found)
    )


def answers_table(found: Correlation) -> FileTable:
    rows = [asdict(point) for point in found.points]
    headings = {"run_id": "Run", "topic_id": "Topic", "x": found.x, "y": found.y}
    document = {"x": found.x, "y": found.y, "score": found.score, "policies": policies_document(found.policies)}
    return FileTable(rows, headings, document | {"answers": rows}, comment=_compared(found))


def curve_table(found: Correlation, points: Sequence[CurvePoint]) -> FileTable:
    rows = [asdict(point) for point in points]
    headings = {"topics": "Topics", "mean": "Mean tau-b", "low": "Low", "high": "High", "samples": "Subsets"}
    document = {"x": found.x, "y": found.y, "score": found.score, "policies": policies_document(found.policies)}
    return FileTable(rows, headings, document | {"points": rows}, comment=_compared(found))


def _listed(policies: Document) -> str:
    return ", ".join(f"{name} {value}" for name, value in policies.items())


def _compared(found: Correlation) -> str:
    return f"{found.x} against {found.y}, {found.score}; policies {_listed(policies_document(found.policies))}"


def confusion_document(report: ConfusionReport) -> Document:
    found = report.confusion
    return {
        "rows": report.rows,
        "columns": report.columns,
        "labels": list(report.labels),
        "counts": found.counts.tolist(),
        "pairs": found.pairs,
        "agreement": found.agreement,
        "kappa": found.kappa,
        "kappa_linear": found.kappa_linear,
        "alpha": found.alpha,
        "ordinal_strictness": found.strictness,
        "row_rates": list(found.row_rates),
        "column_rates": list(found.column_rates),
        "harsh_conflicts": report.harsh,
    }


def confusion_rows(report: ConfusionReport) -> list[Document]:
    return [
        {"rows": label} | dict(zip(report.labels, counts, strict=True))
        for label, counts in zip(report.labels, report.confusion.counts.tolist(), strict=True)
    ]


def descriptive_rows(rows: tuple[DescriptiveRow, ...]) -> list[Document]:
    documents = []
    for row in rows:
        named: Document = {"nuggets": row.nuggets}
        if row.condition:
            named = {"condition": row.condition, "judge": row.judge, "set": row.nuggets}
        stats, labels = row.statistics, row.labels
        documents.append(
            named
            | {name: getattr(stats, name) for name in ("topics", "nuggets_per_topic", "words_per_nugget")}
            | {name: getattr(stats, name) for name in ("vital", "okay", "unknown")}
            | {
                name: getattr(labels, name) if labels else None
                for name in ("not_support", "partial_support", "support")
            }
        )
    return documents


def edits_document(report: EditReport) -> Document:
    return asdict(report)


def support_document(report: SupportReport) -> Document:
    return {
        "condition": str(report.choice),
        "judge": report.choice.judges_text,
        "policies": policies_document(report.policies),
        "first_citations": report.first_citations,
        "published_measure": report.first_citations == 1,
        "topics": report.topics,
        "runs": [asdict(row) for row in report.rows],
    }


def standings_table(page: LeaderboardPage) -> FileTable:
    """Return the leaderboard of the runs that a page shows. Raises ValueError for a page without one."""
    if page.found is None or page.board is None:
        raise ValueError(page.message)
    rows = [_standing_row(one, page) for one in page.shown]
    scores = [name for name in PAPER if page.support or name not in SUPPORT_NAMES]
    board = scores_document(page.board)
    judged = f"nuggets {board['nuggets']}, labels by {board['judge']}"
    comment = f"{board['condition']}, {judged}; policies {_listed(board['policies'])}"
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


def _standing_row(one: Standing, page: LeaderboardPage) -> Document:
    row = _score_row(one.row) | {"low": one.low, "high": one.high}
    if page.support:
        row |= {name: value_of(one, name) for name in SUPPORT_NAMES}
    return row


def _comparison_rows(found: Comparisons) -> list[Document]:
    """Return every two runs once: the one with the higher mean first where they differ."""
    return [
        {"run_id": run} | asdict(one)
        for place, (run, row) in enumerate(zip(found.runs, found.rows, strict=True))
        for one in row[place + 1 :]
    ]
