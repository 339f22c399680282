"""Scores of runs topic by topic, as the means of `report scores` and `report support` are over them."""

from collections.abc import Iterator
from typing import Any

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from reports.agreement.figures import table_of
from reports.metrics.arrays import defined
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.registry import Profile, names_of
from web.consistent_read import consistent_read


def topic_scores(
    choice: NuggetCondition | CitationCondition, policies: Policies | SupportPolicies
) -> Iterator[dict[str, Any]]:
    """Yield the scores of every run on each of the condition's topics; None where one is not in the run's mean."""
    profile = policies.profile if isinstance(policies, Policies) else Profile.CITATIONS
    with consistent_read():
        tables = {name: table_of(choice, name, policies) for name in names_of(profile, sizes=True)}
    table = next(iter(tables.values()))
    for place in table.topics.nonzero()[0].tolist():
        for column, run_id in enumerate(table.run_ids):
            scores = {name: defined(table.values[place, column]) for name, table in tables.items()}
            yield {"run_id": run_id, "topic_id": table.topic_ids[place], **scores}
