"""The page of costs, with its tables and pictures as files."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from evaluation.queries.work import may_organize
from evaluation.services.campaigns import set_hourly_rate
from organizer.cost_page import RateForm, cost_page
from organizer.getters import get_campaign
from organizer.work_getters import get_campaign_to_organize
from reports.downloads import TableForm
from reports.pictures import PictureForm
from reports.report_views import page_response, part_picture, table_response


@require_safe
def cost(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)

    def address_of(part: str, form: str) -> str:
        name = "organizer:cost_table" if form in list(TableForm) else "organizer:cost_picture"
        return reverse(name, args=[slug, part, form])

    page = cost_page(campaign, request.GET)
    rate = page.form.chosen["rate"] if page.found else campaign.hourly_rate
    offered = may_organize(request.user, campaign) and rate != campaign.hourly_rate
    more = {"rate": rate, "may_keep_rate": offered}
    return page_response(request, campaign, page, "cost", address_of, template="organizer/cost.html", more=more)


@require_POST
def keep_rate(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign_to_organize(request.user, slug)
    form = RateForm(request.POST)
    if form.is_valid():
        set_hourly_rate(campaign=campaign, rate=form.cleaned_data["rate"], actor=request.user)
        messages.success(request, "The campaign keeps what an hour costs.")
    else:
        messages.error(request, "An hour costs a number from 0 to 100,000, with two decimals at most.")
    return redirect("organizer:cost", slug)


@require_safe
def cost_table(request: UserRequest, slug: str, part: str, table: TableForm) -> HttpResponse:
    page = cost_page(get_campaign(request.user, slug), request.GET)
    return table_response(page, part, table, f"{slug}-cost")


@require_safe
def cost_picture(request: UserRequest, slug: str, part: str, picture: PictureForm) -> HttpResponse:
    page = cost_page(get_campaign(request.user, slug), request.GET)
    return part_picture(request, page, part, picture)
