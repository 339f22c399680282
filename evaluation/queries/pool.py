"""Which of a campaign's runs people judge."""

from evaluation.models import Campaign
from evaluation.rules.pool import Submission, judging_pool


def pool_of(campaign: Campaign) -> frozenset[str]:
    """Return the run ids in the judging pool, by the protocol in force."""
    runs = campaign.runs.values_list("run_id", "group", "task", "priority", "pool")
    return judging_pool((Submission(*row) for row in runs), campaign.protocol.pool_depth)
