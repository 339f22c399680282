"""People of a campaign with their roles, languages and work; and the administration of accounts."""

from contextlib import nullcontext

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timezone import localdate
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns import people as campaign_people
from evaluation.campaigns.access import holds_work, may_organize
from evaluation.campaigns.contents import shared_runs_for
from evaluation.campaigns.people import (
    account_facts,
    close_person,
    drop_second_factor,
    erase_person,
    give_role,
    open_person,
    problem_of_taking,
    take_role,
)
from evaluation.models import Campaign
from evaluation.terms import Role
from exchange.own_data import PARTS
from exchange.own_data import own_data as collected
from organizer.access import get_campaign, or_404
from organizer.forms import refusals_on
from organizer.people.invitations import ROLES, InviteForm
from organizer.people.work_done import lines_of, people_work_for
from web.audit_log import blind
from web.fields import TextField


class RoleForm(forms.Form):
    username = TextField(
        label="Person",
        max_length=150,
        widget=forms.TextInput({"list": "accounts", "autocomplete": "off", "autocapitalize": "none"}),
    )
    role = forms.ChoiceField(label="Role", choices=ROLES)


class LanguageForm(forms.Form):
    language = TextField(
        label="Language",
        max_length=35,
        required=False,
        widget=forms.TextInput({"size": 8, "autocapitalize": "none", "spellcheck": "false"}),
    )


@require_safe
@never_cache
def people(request: UserRequest, slug: str) -> HttpResponse:
    return _page(request, get_campaign(request.user, slug))


@require_POST
def change_role(request: UserRequest, slug: str, *, gives: bool) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = RoleForm(request.POST, auto_id="role_%s")
    if form.is_valid():
        username, role = form.cleaned_data["username"], Role(form.cleaned_data["role"])
        act = give_role if gives else take_role
        # The page has a form to give roles; one is taken on a page of its own.
        with refusals_on(form, "username") if gives else nullcontext():
            user = act(campaign=campaign, username=username, role=role, actor=request.user)
            outcome = f"is {role} now." if gives else f"is no {role} any more. What they did stays."
            messages.success(request, f"{user.name} {outcome}")
            return redirect("organizer:people", campaign.slug)
    return _page(request, campaign, role_form=form)


@require_safe
@never_cache
def ask_to_take(request: UserRequest, slug: str, pk: int, role: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    person = or_404(campaign_people.member_for, request.user, campaign, pk, role)
    context = {
        "campaign": campaign,
        "person": person,
        "role": role,
        "tasks": campaign_people.unfinished_tasks_of(request.user, campaign, person),
        "problem": problem_of_taking(campaign=campaign, user=person, role=Role(role), actor=request.user),
    }
    return render(request, "organizer/take_role.html", context)


@require_POST
def set_languages(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    username, tags = request.POST.get("username", ""), request.POST.get("languages", "")
    member = campaign_people.set_languages(
        campaign=campaign, username=username, languages=tags, actor=request.user
    )
    messages.success(request, f"{member.user.name} reads {member.languages or 'any language'}.")
    return redirect("organizer:people", campaign.slug)


@require_POST
def set_campaign_language(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = LanguageForm(request.POST, auto_id="campaign_%s")
    if form.is_valid():
        with refusals_on(form, "language"):
            language = form.cleaned_data["language"]
            tag = campaign_people.set_campaign_language(campaign=campaign, language=language, actor=request.user)
            outcome = f"Topics without a language are in {tag}." if tag else "No language is assumed."
            messages.success(request, outcome)
            return redirect("organizer:people", campaign.slug)
    return _page(request, campaign, language_form=form)


def _page(
    request: UserRequest,
    campaign: Campaign,
    *,
    role_form: RoleForm | None = None,
    language_form: LanguageForm | None = None,
) -> HttpResponse:
    work = people_work_for(request.user, campaign)
    organizes = may_organize(request.user, campaign)
    context = {
        "campaign": campaign,
        "lines": lines_of(request.user, campaign, work),
        "work": work,
        "invitations": campaign_people.invitations_for(request.user, campaign),
        "role_form": role_form or RoleForm(auto_id="role_%s"),
        "language_form": language_form
        or LanguageForm(auto_id="campaign_%s", initial={"language": campaign.language}),
        "accounts": campaign_people.accounts_to_choose(request.user) if organizes else (),
        "invite_form": InviteForm(auto_id="invite_%s"),
        "shared_runs": shared_runs_for(request.user, campaign),
        "may_organize": organizes,
    }
    return render(request, "organizer/people.html", context, status=422 if role_form or language_form else 200)


class EraseForm(forms.Form):
    username = TextField(label="Username", max_length=150, widget=forms.TextInput({"autocomplete": "off"}))


def _get_account(request: UserRequest, pk: int) -> User:
    """Account for an administrator who does not judge. Raises `PermissionDenied` for others."""
    if not request.user.is_superuser or holds_work(request.user):
        raise PermissionDenied
    return get_object_or_404(User, pk=pk)


@require_safe
@never_cache
def account(request: UserRequest, pk: int) -> HttpResponse:
    person = _get_account(request, pk)
    context = {"person": person, "facts": account_facts(person), "form": EraseForm()}
    return render(request, "organizer/account.html", context)


ACCOUNT_ACTS = {
    "close": (close_person, "Closed. Every session of it has ended, and its tokens are revoked."),
    "open": (open_person, "Open again."),
    "factor": (drop_second_factor, "The second factor and the recovery codes are gone. Every session has ended."),
}


@require_POST
def change_account(request: UserRequest, pk: int, act: str) -> HttpResponse:
    person = _get_account(request, pk)
    change, notice = ACCOUNT_ACTS[act]
    change(user=person, actor=request.user)
    if change is drop_second_factor:
        get_adapter(request).send_notification_mail("mfa/email/factors_dropped", person)
    messages.success(request, notice)
    return redirect("organizer:account", pk)


@require_http_methods(["POST"])
def erase(request: UserRequest, pk: int) -> HttpResponse:
    person = _get_account(request, pk)
    pseudonym = erase_person(user=person, confirmed=request.POST.get("username", ""), actor=request.user)
    messages.success(request, f"Erased. What they did stays, under the name {pseudonym}.")
    return redirect("organizer:account", pk)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@reauthentication_required  # type: ignore[untyped-decorator]
@blind
def own_data(request: UserRequest) -> HttpResponse | FileResponse:
    if request.method == "POST":
        name = f"assay-{request.user.username}-{localdate():%Y-%m-%d}.zip"
        return FileResponse(collected(request.user), as_attachment=True, filename=name)
    return render(request, "organizer/own_data.html", {"parts": list(PARTS)})
