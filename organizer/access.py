"""Rows for views; 404 where there is none or none that the viewer may see."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404

from accounts.models import User
from evaluation.campaigns.access import unblinded_campaign_for
from evaluation.corpus.runs import run_for
from evaluation.corpus.topics import segment_for, topic_for
from evaluation.models import Campaign, Run, Segment, Topic


@contextmanager
def missing_is_404() -> Iterator[None]:
    """The same 404 for missing and for hidden rows, so that an address tells nothing about either."""
    try:
        yield
    except ObjectDoesNotExist:
        raise Http404 from None


def get_campaign(viewer: User, slug: str) -> Campaign:
    with missing_is_404():
        return unblinded_campaign_for(viewer, slug)


def get_topic(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Topic]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, topic_for(viewer, campaign, public_id)


def get_run(viewer: User, slug: str, pk: int) -> tuple[Campaign, Run]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, run_for(viewer, campaign, pk)


def get_segment(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Segment]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, segment_for(viewer, campaign, public_id)
