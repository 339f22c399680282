"""Every two runs under one condition, as a document."""

from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition
from reports.agreement.figures import table_of
from reports.agreement.page import NUGGET_SCORES
from reports.document import (
    Conditions,
    Document,
    Option,
    chosen_labels,
    condition_options,
    policies_of,
    policy_line,
    policy_options,
)
from reports.leaderboard.scores import compare_runs, comparison_rows
from reports.metrics.policies import policies_document
from reports.metrics.registry import BY_NAME
from reports.metrics.support import SUPPORT_NAMES
from reports.profiles import usual_score
from reports.registry import Choices, document


def _options(conditions: Conditions, scores: tuple[str, ...]) -> tuple[Option, ...]:
    score = Option("score", "which score; the primary one where none is named", scores)
    return *condition_options(conditions), score, *policy_options(conditions)


@document(
    "comparisons",
    "Differences of every two runs, with paired intervals and tests over topics.",
    _options(Condition, NUGGET_SCORES),
)
def comparisons_report(campaign: Campaign, choices: Choices) -> Document:
    return _comparisons(campaign, choices, Condition)


@document(
    "support-comparisons",
    "Differences of every two runs in how their citations support, with paired intervals and tests over topics.",
    _options(SupportCondition, SUPPORT_NAMES),
)
def support_comparisons_report(campaign: Campaign, choices: Choices) -> Document:
    return _comparisons(campaign, choices, SupportCondition)


def _comparisons(campaign: Campaign, choices: Choices, conditions: Conditions) -> Document:
    score = choices["score"] or usual_score(campaign, choices["condition"])
    condition, policies = chosen_labels(campaign, choices), policies_of(campaign, choices, conditions)
    table = table_of(condition, score, policies)
    compared = compare_runs(table, table.run_ids, BY_NAME[score])
    rows = comparison_rows(compared)
    content = {
        "condition": str(condition),
        "judge": condition.judges_text,
        "score": score,
        "policies": policies_document(policies),
        "topics": compared.topics,
        "runs": list(compared.runs),
        "left_out": compared.left_out,
        "groups": [sorted(group) for group in compared.groups],
        "comparisons": rows,
    }
    return Document(content, rows, policy_line(content))
