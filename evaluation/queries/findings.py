"""What imports noticed, to look at one by one."""

from django.db.models import QuerySet

from accounts.models import User
from evaluation.models import Campaign, Finding
from evaluation.queries.campaigns import within


def findings_for(viewer: User, campaign: Campaign, code: str = "", run_id: str = "") -> QuerySet[Finding]:
    """Return the campaign's findings, of one code or one run if asked, in the order they were noticed."""
    rows = Finding.objects.filter(campaign__in=within(viewer, campaign))
    rows = rows.filter(code=code) if code else rows
    return rows.filter(run_id=run_id) if run_id else rows
