"""The people of a campaign: roles, languages and invitations."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign
from evaluation.queries import people as people_rows
from evaluation.queries.auditing import may_audit
from evaluation.queries.shared_runs import shared_runs_for
from evaluation.queries.work import may_organize
from evaluation.services import languages
from evaluation.services.people import give_role, problem_of_taking, take_role, withdraw_invitation
from evaluation.terms import Role
from organizer import getters, people_acts, work_getters
from organizer.people_forms import InviteForm, RoleForm


@require_safe
@never_cache
def people(request: UserRequest, slug: str) -> HttpResponse:
    return _page(request, getters.get_campaign(request.user, slug))


@require_POST
def give(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _page(request, campaign, role_form=form)
    data = form.cleaned_data
    user = give_role(campaign=campaign, username=data["username"], role=Role(data["role"]), actor=request.user)
    messages.success(request, f"{user.name} is {data['role']} now.")
    return redirect("organizer:people", campaign.slug)


@require_safe
@never_cache
def ask_to_take(request: UserRequest, slug: str, pk: int, role: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    with getters.missing_is_404():
        person = people_rows.member_for(request.user, campaign, pk, role)
    context = {
        "campaign": campaign,
        "person": person,
        "role": role,
        "tasks": people_rows.unfinished_tasks_of(request.user, campaign, person),
        "problem": problem_of_taking(campaign=campaign, user=person, role=Role(role), actor=request.user),
    }
    return render(request, "organizer/take_role.html", context)


@require_POST
def take(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _page(request, campaign, role_form=form)
    data = form.cleaned_data
    user = take_role(campaign=campaign, username=data["username"], role=Role(data["role"]), actor=request.user)
    messages.success(request, f"{user.name} is no {data['role']} any more. What they did stays.")
    return redirect("organizer:people", campaign.slug)


@require_POST
def set_languages(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    username, tags = request.POST.get("username", ""), request.POST.get("languages", "")
    member = languages.set_languages(campaign=campaign, username=username, languages=tags, actor=request.user)
    messages.success(
        request,
        f"{member.user.name} reads {member.languages}."
        if member.languages
        else f"{member.user.name} reads any language.",
    )
    return redirect("organizer:people", campaign.slug)


@require_POST
def set_campaign_language(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    tag = languages.set_campaign_language(
        campaign=campaign, language=request.POST.get("language", ""), actor=request.user
    )
    messages.success(request, f"Topics without a language are in {tag}." if tag else "No language is assumed.")
    return redirect("organizer:people", campaign.slug)


@require_http_methods(["POST"])
@never_cache
def invite_person(request: UserRequest, slug: str) -> HttpResponse:
    """Invite by mail or by a link, which is shown only once."""
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, campaign, invite_form=form)
    link = people_acts.link_of(request, form, campaign, request.user)
    if link:
        return _page(request, campaign, link=link)
    messages.success(request, f"Sent to {form.cleaned_data['email']}.")
    return redirect("organizer:people", campaign.slug)


@require_POST
def revoke(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    with getters.missing_is_404():
        invitation = people_rows.invitation_for(request.user, campaign, pk)
    withdraw_invitation(invitation=invitation, actor=request.user)
    messages.success(request, "The invitation was taken back.")
    return redirect("organizer:people", campaign.slug)


def _page(
    request: UserRequest,
    campaign: Campaign,
    *,
    role_form: RoleForm | None = None,
    invite_form: InviteForm | None = None,
    link: str = "",
) -> HttpResponse:
    wrong = any(form is not None for form in (role_form, invite_form))
    context = {
        "campaign": campaign,
        "people": people_rows.people_for(request.user, campaign),
        "invitations": people_rows.invitations_for(request.user, campaign),
        "role_form": role_form or RoleForm(auto_id="role_%s"),
        "invite_form": invite_form or InviteForm(auto_id="invite_%s"),
        "link": link,
        "shared_runs": shared_runs_for(request.user, campaign),
        "may_organize": may_organize(request.user, campaign),
        "may_audit": may_audit(request.user, campaign),
    }
    return render(request, "organizer/people.html", context, status=422 if wrong else 200)
