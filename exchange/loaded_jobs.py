"""What may be done to an LLM job in a campaign that came from a file."""

from accounts.models import User
from evaluation.errors import Refused
from exchange.models import LoadedCampaign
from llmjobs import job_service
from llmjobs.models import LlmJob


def retry(llm: LlmJob, actor: User | None) -> int:
    """Queue a job's failed items again; return how many. Raises `Refused` where none failed or the file brought it."""
    # Items name rows by the keys of the database they were made in: here these are other rows, or another campaign's.
    if LoadedCampaign.objects.filter(campaign=llm.campaign, loaded_at__gt=llm.job.made_at).exists():
        raise Refused(
            "loaded_job", "This job came with the campaign's file. A new job asks again for what has no label."
        )
    return job_service.retry(llm, actor)
