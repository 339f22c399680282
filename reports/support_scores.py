"""Support of citations per run under one condition."""

from dataclasses import asdict, dataclass
from typing import Any

from evaluation.domain.conditions import CitationCondition
from reports.frames import tagged_support
from reports.leaderboard.scores import number, runs_by_id
from reports.metrics.policies import SupportPolicies, policies_document
from reports.metrics.support import RunSupport, answer_support, run_support


@dataclass(frozen=True, slots=True)
class RunSupportScores:
    """One run; scores are in [0, 1], None where undefined; the last four count (sentence, segment) pairs."""

    run_id: str
    group: str
    task: str
    weighted_precision: float | None
    weighted_recall: float | None
    precision_topics: int
    recall_topics: int
    sentences: float | None
    sentences_total: int
    sentences_uncited: int
    judged: int
    unjudged: int
    failed: int
    unjudgeable: int


@dataclass(frozen=True, slots=True)
class SupportReport:
    """All runs under one support condition; `topics` have a label in it, or are all where nobody judged."""

    choice: CitationCondition
    policies: SupportPolicies
    first_citations: int | None
    topics: int
    rows: tuple[RunSupportScores, ...]


def support_report(choice: CitationCondition, policies: SupportPolicies, tag: str = "") -> SupportReport:
    """Score the citations of every run (method, section 4); of the topics with a tag, or of all."""
    sheet = tagged_support(choice, tag)
    scores = run_support(sheet, policies)
    runs = runs_by_id(choice.campaign)
    rows = []
    for place, run_id in enumerate(scores.run_ids):
        run = runs[run_id]
        rows.append(_row((run.run_id, run.group, run.task), scores, place))
    return SupportReport(
        choice=choice,
        policies=policies,
        first_citations=choice.campaign.protocol.first_citations,
        topics=int(answer_support(sheet, policies).topics.sum()),
        rows=tuple(sorted(rows, key=_best_first)),
    )


def _row(run: tuple[str, str, str], scores: RunSupport, place: int) -> RunSupportScores:
    return RunSupportScores(
        *run,
        weighted_precision=number(scores.precision[place]),
        weighted_recall=number(scores.recall[place]),
        precision_topics=int(scores.precision_topics[place]),
        recall_topics=int(scores.recall_topics[place]),
        sentences=number(scores.sentences[place]),
        sentences_total=int(scores.sentences_total[place]),
        sentences_uncited=int(scores.sentences_uncited[place]),
        judged=int(scores.judged[place]),
        unjudged=int(scores.unjudged[place]),
        failed=int(scores.failed[place]),
        unjudgeable=int(scores.unjudgeable[place]),
    )


def _best_first(row: RunSupportScores) -> tuple[bool, float, str]:
    return row.weighted_precision is None, -(row.weighted_precision or 0.0), row.run_id


def support_document(report: SupportReport) -> dict[str, Any]:
    return {
        "condition": str(report.choice),
        "judge": report.choice.judges_text,
        "policies": policies_document(report.policies),
        "first_citations": report.first_citations,
        "published_measure": report.first_citations == 1,
        "topics": report.topics,
        "runs": [asdict(row) for row in report.rows],
    }
