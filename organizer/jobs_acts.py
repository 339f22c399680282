"""Jobs from their form. A refusal becomes an error of the form."""

from dataclasses import dataclass

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from jobs.models import Job
from llmjobs.ordering import estimate_job, plan_job, start_job
from llmjobs.starting import Estimate
from organizer.jobs_forms import JobForm


@dataclass(frozen=True, slots=True)
class JobOffer:
    """Result of a filled form: the dry run's figures, or the job."""

    estimate: Estimate | None = None
    job: Job | None = None


def answer_to(form: JobForm, campaign: Campaign, actor: User, *, starts: bool) -> JobOffer:
    try:
        if starts:
            return JobOffer(job=start_job(plan_job(campaign, form.order), actor))
        return JobOffer(estimate=estimate_job(campaign, form.order))
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return JobOffer()
