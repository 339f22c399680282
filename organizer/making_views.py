"""Making a campaign: administrators make it and become its organizers."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.http import UserRequest
from organizer.making_forms import NewCampaignForm


@require_http_methods(["GET", "HEAD", "POST"])
def new_campaign(request: UserRequest) -> HttpResponse:
    if not request.user.is_superuser:
        raise PermissionDenied
    form = NewCampaignForm(request.POST, request.FILES) if request.method == "POST" else NewCampaignForm()
    made = form.made_by(request.user) if form.is_bound else None
    if made:
        messages.success(request, f"{made.name} is made, and you organize it. Next: its topics.")
        return redirect("organizer:data", made.slug)
    return render(request, "organizer/new_campaign.html", {"form": form}, status=422 if form.errors else 200)
