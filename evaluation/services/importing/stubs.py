"""Segments that are named before their text is loaded, and what is said about those that stay without."""

from collections.abc import Collection

from django.db.models import Count

from evaluation.formats.segments import document_id
from evaluation.models import AnswerProvenance, Campaign, Event, Finding, Segment
from evaluation.services.importing.base import BATCH
from evaluation.terms import FindingCode


def segment_pks(campaign: Campaign, docids: Collection[str], event: Event) -> dict[str, int]:
    """Return the primary key of each docid's segment, making the segments that are not there yet, without text."""
    loaded = dict(campaign.segments.values_list("docid", "pk"))
    stubs = [
        Segment(campaign=campaign, docid=docid, document=document_id(docid), event=event)
        for docid in sorted(set(docids) - loaded.keys())
    ]
    Segment.objects.bulk_create(stubs, batch_size=BATCH)
    return loaded | {stub.docid: stub.pk for stub in stubs}


def restate_missing_texts(campaign: Campaign, event: Event) -> None:
    """Say anew, per run, how many segments it cites whose text is not loaded: pairs nobody can judge."""
    Finding.objects.filter(campaign=campaign, code=FindingCode.SEGMENT_WITHOUT_TEXT).delete()
    missing = (
        AnswerProvenance.objects.filter(run__campaign=campaign)
        .filter(answer__sentences__citations__segment__has_text=False)
        .values_list("run__run_id")
        .annotate(segments=Count("answer__sentences__citations__segment", distinct=True))
        .order_by("run__run_id")
    )
    Finding.objects.bulk_create(
        [
            Finding(
                campaign=campaign,
                event=event,
                code=FindingCode.SEGMENT_WITHOUT_TEXT,
                file=run_id,
                run_id=run_id,
                message=f"{count:,} cited segments have no text loaded; those pairs cannot be judged",
            )
            for run_id, count in missing
        ],
        batch_size=BATCH,
    )
