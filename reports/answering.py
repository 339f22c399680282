"""What the views of reports begin and end with."""

from typing import TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse

from accounts.http import UserRequest
from evaluation.models import Campaign
from evaluation.queries.campaigns import unblinded_campaign_for
from reports.pictures import CONTENT_TYPES, PictureForm, drawn

Found = TypeVar("Found")


def get_campaign(request: UserRequest, slug: str) -> Campaign:
    """Return a campaign that the viewer may see unblinded, or answer 404."""
    try:
        return unblinded_campaign_for(request.user, slug)
    except ObjectDoesNotExist:
        raise Http404 from None


def or_404(found: Found | None) -> Found:
    """Return what a page came to; a file of a page without any is not there."""
    if found is None:
        raise Http404
    return found


def is_dark(request: UserRequest) -> bool:
    """Say whether a picture is wanted for dark pages."""
    return request.GET.get("theme") == "dark"


def picture_response(specification: str, picture: PictureForm) -> HttpResponse:
    """Return a specification drawn in a form."""
    return HttpResponse(drawn(specification, picture), content_type=CONTENT_TYPES[picture])
