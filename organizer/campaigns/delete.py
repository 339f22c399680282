"""The page on which an organizer deletes a campaign, with its name typed."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.http import UserRequest
from evaluation.campaigns.access import may_organize
from evaluation.models import Task
from exchange.deletion import delete_campaign
from exchange.models import Snapshot
from organizer.access import get_campaign
from organizer.forms import refusals_on
from web.fields import TextField


class DeleteForm(forms.Form):
    name = TextField(label="Its short name", max_length=200)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_on(form):
            text = delete_campaign(campaign=campaign, typed=form.cleaned_data["name"], actor=request.user)
            messages.success(request, text)
            return redirect("organizer:campaigns")
    context = {
        "campaign": campaign,
        "form": form,
        "snapshot": Snapshot.objects.filter(campaign=campaign).first(),
        "tasks": Task.objects.filter(campaign=campaign).unfinished().count(),
    }
    return render(request, "organizer/delete_campaign.html", context, status=422 if form.errors else 200)
