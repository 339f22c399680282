"""What imports noticed, to look at one by one."""

from collections.abc import Iterable

from django.db.models import QuerySet

from accounts.models import User
from evaluation.formats.addressing import docid_in
from evaluation.models import Campaign, Finding, Segment
from evaluation.queries.campaigns import within
from evaluation.terms import FindingCode


def findings_for(viewer: User, campaign: Campaign, code: str = "", run_id: str = "") -> QuerySet[Finding]:
    """Return the campaign's findings, of one code or one run if asked, in the order they were noticed."""
    rows = Finding.objects.filter(campaign__in=within(viewer, campaign))
    rows = rows.filter(code=code) if code else rows
    return rows.filter(run_id=run_id) if run_id else rows


def segments_named_by(viewer: User, campaign: Campaign, findings: Iterable[Finding]) -> dict[int, str]:
    """Return the segment that a finding is about, by the finding: its public id; one query, however many."""
    docids = {
        one.pk: docid_in(one.message)
        for one in findings
        if one.code == FindingCode.ADDRESSES_JUDGE and not one.run_id
    }
    segments = Segment.objects.filter(campaign__in=within(viewer, campaign), docid__in=set(docids.values()))
    found = dict(segments.values_list("docid", "public_id"))
    return {pk: found[docid] for pk, docid in docids.items() if docid in found}
