"""The page of costs, with its tables and pictures as files."""

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from organizer.cost_page import cost_page
from organizer.getters import get_campaign
from reports.downloads import TableForm
from reports.pictures import PictureForm
from reports.report_views import page_response, part_picture, table_response


@require_safe
def cost(request: UserRequest, slug: str) -> HttpResponse:
    """What judgments cost by person and by LLM."""
    campaign = get_campaign(request.user, slug)

    def address_of(part: str, form: str) -> str:
        name = "organizer:cost_table" if form in list(TableForm) else "organizer:cost_picture"
        return reverse(name, args=[slug, part, form])

    return page_response(request, campaign, cost_page(campaign, request.GET), "cost", address_of)


@require_safe
def cost_table(request: UserRequest, slug: str, part: str, table: TableForm) -> HttpResponse:
    """A section of the same query string as a file."""
    page = cost_page(get_campaign(request.user, slug), request.GET)
    return table_response(page, part, table, f"{slug}-cost")


@require_safe
def cost_picture(request: UserRequest, slug: str, part: str, picture: PictureForm) -> HttpResponse:
    """A section's picture of the same query string."""
    page = cost_page(get_campaign(request.user, slug), request.GET)
    return part_picture(request, page, part, picture)
