"""The people of a campaign: roles, languages and invitations."""

from typing import cast

from allauth.account.adapter import ratelimit
from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import EmailAddress
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.password_validation import password_validators_help_texts
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.invitations import invitation_of, make_account
from accounts.models import Invitation, User
from assessor.progress.matrix import may_organize
from evaluation.campaigns import people as campaign_people
from evaluation.campaigns.contents import shared_runs_for
from evaluation.campaigns.events import may_audit
from evaluation.campaigns.people import accept, give_role, problem_of_taking, take_role, withdraw_invitation
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Role
from organizer.access import get_campaign, get_row, or_404
from organizer.forms import named, posted
from web.audit_log import blind

ROLES = named(Role)
HELD = "invitation"
"""Session key of an invitation's secret, so that the link itself leaves the address bar."""


def _password_help() -> str:
    return " ".join(password_validators_help_texts())


class RoleForm(forms.Form):
    """Person and role to give or to take."""

    username = forms.CharField(label="Username", max_length=150)
    role = forms.ChoiceField(label="Role", choices=ROLES)


class InviteForm(forms.Form):
    """The role that a link gives, and where it is sent."""

    role = forms.ChoiceField(label="Role", choices=ROLES)
    email = forms.EmailField(label="Email", required=False)


class JoinForm(forms.Form):
    """Account of an invited person."""

    username = forms.CharField(
        label="Username",
        max_length=150,
        help_text="Letters, digits and @ . + - _",
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    full_name = forms.CharField(
        label="Name",
        max_length=200,
        required=False,
        help_text="What organizers call you. It may be empty.",
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        help_text=lazy(_password_help, str)(),
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )


class EraseForm(forms.Form):
    """Erasure, confirmed by the username that it removes."""

    username = forms.CharField(label="Username", max_length=150, widget=forms.TextInput({"autocomplete": "off"}))


def link_of(request: UserRequest, form: InviteForm, campaign: Campaign) -> str:
    """Link of a new invitation to hand over; '' where it was mailed."""
    actor, role, email = request.user, Role(form.cleaned_data["role"]), form.cleaned_data["email"]
    made, raw = campaign_people.invite(campaign=campaign, role=role, email=email, actor=actor)
    link = request.build_absolute_uri(reverse("organizer:open_invitation", args=[raw]))
    if not made.email:
        return link
    context = {"invitation": made, "campaign": campaign, "actor": actor, "link": link}
    text = render_to_string("organizer/invitation.txt", context)
    try:
        send_mail(f"Invitation to {' '.join(campaign.name.split())}", text, None, [made.email])
    except OSError as error:  # of the connection, and of SMTP
        # Nobody has the link, and its secret is not stored: the invitation could never be used.
        withdraw_invitation(invitation=made, actor=actor)
        raise Refused(
            "mail", "The mail could not be sent, so nobody was invited. Hand over a link instead."
        ) from error
    return ""


def _send(made: Invitation, campaign: Campaign, actor: User, link: str) -> None:
    context = {"invitation": made, "campaign": campaign, "actor": actor, "link": link}
    text = render_to_string("organizer/invitation.txt", context)
    subject = f"Invitation to {' '.join(campaign.name.split())}"
    send_mail(subject, text, None, [made.email])


def held_invitation(request: HttpRequest) -> Invitation | None:
    """Invitation opened in this session; None where it is not good any more."""
    return invitation_of(request.session.get(HELD, ""))


def joined(request: HttpRequest, form: JoinForm) -> User | None:
    """New account with the invitation's role; None where the form has errors."""
    data, raw = form.cleaned_data, request.session.get(HELD, "")
    found = invitation_of(raw)
    email = found.email if found else ""
    # An address leads to one account only, so one that is taken stays with the account that has it.
    if any(model.objects.filter(email__iexact=email).exists() for model in (EmailAddress, User)):
        email = ""
    try:
        with transaction.atomic():
            user = make_account(email=email, **data)
            accept(raw=raw, user=user)
            if email:  # whoever has the link reads that mail
                EmailAddress.objects.create(user=user, email=email.lower(), verified=True, primary=True)
    except ValidationError as error:
        for name, problems in error.message_dict.items():
            for problem in problems:
                form.add_error(name if name in form.fields else None, problem)
        return None
    request.session.pop(HELD)
    return user


@require_safe
@never_cache
def people(request: UserRequest, slug: str) -> HttpResponse:
    return _page(request, get_campaign(request.user, slug))


@require_POST
def change_role(request: UserRequest, slug: str, *, gives: bool) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _page(request, campaign, role_form=form)
    username, role = form.cleaned_data["username"], Role(form.cleaned_data["role"])
    act = give_role if gives else take_role
    user = act(campaign=campaign, username=username, role=role, actor=request.user)
    outcome = f"is {role} now." if gives else f"is no {role} any more. What they did stays."
    messages.success(request, f"{user.name} {outcome}")
    return redirect("organizer:people", campaign.slug)


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
    tag = campaign_people.set_campaign_language(
        campaign=campaign, language=request.POST.get("language", ""), actor=request.user
    )
    messages.success(request, f"Topics without a language are in {tag}." if tag else "No language is assumed.")
    return redirect("organizer:people", campaign.slug)


@require_http_methods(["POST"])
@never_cache
def invite_person(request: UserRequest, slug: str) -> HttpResponse:
    """Invite by mail or by a link, which is shown only once."""
    campaign = get_campaign(request.user, slug, may_organize)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, campaign, invite_form=form)
    link = link_of(request, form, campaign)
    if link:
        return _page(request, campaign, link=link)
    messages.success(request, f"Sent to {form.cleaned_data['email']}.")
    return redirect("organizer:people", campaign.slug)


@require_POST
def revoke(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    _, invitation = get_row(request.user, slug, campaign_people.invitation_for, pk, may_organize)
    withdraw_invitation(invitation=invitation, actor=request.user)
    messages.success(request, "The invitation was taken back.")
    return redirect("organizer:people", slug)


def _page(
    request: UserRequest,
    campaign: Campaign,
    *,
    role_form: RoleForm | None = None,
    invite_form: InviteForm | None = None,
    link: str = "",
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "people": campaign_people.people_for(request.user, campaign),
        "invitations": campaign_people.invitations_for(request.user, campaign),
        "role_form": role_form or RoleForm(auto_id="role_%s"),
        "invite_form": invite_form or InviteForm(auto_id="invite_%s"),
        "link": link,
        "shared_runs": shared_runs_for(request.user, campaign),
        "may_organize": may_organize(request.user, campaign),
        "may_audit": may_audit(request.user, campaign),
    }
    return render(request, "organizer/people.html", context, status=422 if role_form or invite_form else 200)


BACKEND = settings.AUTHENTICATION_BACKENDS[0]


@require_safe
@never_cache
@login_not_required
@blind
def open_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Keep the link's secret in the session and redirect to an address without it."""
    if invitation_of(token) is None:
        # Too many links that are not good, from one address, are slowed down.
        if not ratelimit.consume(request, app="allauth.account", action="invitation", limit_get=True):
            return cast(HttpResponse, ratelimit.respond_429(request))
        return render(request, "organizer/no_invitation.html", status=410)
    # The link leaves the address bar: its secret goes on in the session only.
    request.session[HELD] = token
    return redirect("organizer:invitation")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_not_required
@blind
def invitation(request: HttpRequest) -> HttpResponse:
    found = held_invitation(request)
    if not found:
        return render(request, "organizer/no_invitation.html", status=410)
    form = JoinForm(posted(request))
    if request.method == "POST" and not request.user.is_authenticated and form.is_valid():
        user = joined(request, form)
        if user:
            # Without a record the sign-in library asks for the password that was typed a moment ago.
            record_authentication(request, user, method="password")
            login(request, user, BACKEND)
            return redirect("organizer:campaigns")
    context = {"invitation": found, "form": form, "provider": settings.OIDC}
    return render(request, "organizer/invitation.html", context, status=422 if form.errors else 200)


@require_POST
@blind
def accept_role(request: UserRequest) -> HttpResponse:
    raw = request.session.get(HELD, "")
    campaign = accept(raw=raw, user=request.user)
    request.session.pop(HELD, None)
    messages.success(request, f"You are in {campaign.name} now.")
    return redirect("organizer:campaigns")
