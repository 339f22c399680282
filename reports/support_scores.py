"""Support of citations per run under one condition, for pages, commands and the API."""

from dataclasses import asdict, dataclass
from typing import Any

from evaluation.domain.conditions import CitationCondition
from evaluation.models import Campaign, Run
from reports.frames import support_sheet, tagged_support
from reports.leaderboard.scores import number, runs_by_id
from reports.metrics.intervals import mean_intervals
from reports.metrics.label_matrix import SupportSheet
from reports.metrics.policies import SupportPolicies, policies_document
from reports.metrics.support import PRECISION, RECALL, RunSupport, answer_support, run_support


@dataclass(frozen=True, slots=True)
class RunSupportScores:
    """One run; scores are in [0, 1], None where undefined; `judged` and the next three count (sentence, segment) pairs.

    `intervals` has those of precision and recall, as documents.
    """

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
    intervals: dict[str, dict[str, Any]]


def support_rows(choice: CitationCondition, policies: SupportPolicies, tag: str = "") -> list[RunSupportScores]:
    """Score the citations of every run, best first (method, section 4); of the topics with a tag, or of all."""
    return _scored(tagged_support(choice, tag), choice.campaign, policies)


def support_document(choice: CitationCondition, policies: SupportPolicies) -> dict[str, Any]:
    sheet, first = support_sheet(choice), choice.campaign.protocol.first_citations
    return {
        "condition": str(choice),
        "judge": choice.judges_text,
        "policies": policies_document(policies),
        "first_citations": first,
        # The study judged one citation a sentence; with more, recall is another measure (method, section 4).
        "published_measure": first == 1,
        "topics": int(answer_support(sheet, policies).topics.sum()),
        "runs": [asdict(row) for row in _scored(sheet, choice.campaign, policies)],
    }


def _scored(sheet: SupportSheet, campaign: Campaign, policies: SupportPolicies) -> list[RunSupportScores]:
    scores, runs, ends = run_support(sheet, policies), runs_by_id(campaign), support_intervals(sheet, policies)
    rows = [_scores_of(runs[run_id], scores, place, ends[place]) for place, run_id in enumerate(scores.run_ids)]
    # Runs without a precision come last; equal runs by name, so that files do not depend on the database's order.
    rows.sort(key=lambda row: (row.weighted_precision is None, -(row.weighted_precision or 0.0), row.run_id))
    return rows


def support_intervals(sheet: SupportSheet, policies: SupportPolicies) -> list[dict[str, dict[str, Any]]]:
    """Return each run's intervals of precision and recall as documents, R; only answers that count are in them."""
    answers = answer_support(sheet, policies)
    found = [mean_intervals(values[answers.topics]) for values in (answers.precision, answers.recall)]
    return [
        {PRECISION: precision.document, RECALL: recall.document} for precision, recall in zip(*found, strict=True)
    ]


def _scores_of(run: Run, scores: RunSupport, place: int, ends: dict[str, dict[str, Any]]) -> RunSupportScores:
    return RunSupportScores(
        run_id=run.run_id,
        group=run.group,
        task=run.task,
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
        intervals=ends,
    )
