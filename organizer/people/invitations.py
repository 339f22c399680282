"""Invitations: many at once by mail or one by a link, and the page that whoever has the link sees."""

import re
from dataclasses import dataclass
from email.utils import formataddr
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
from django.core.mail import EmailMessage
from django.core.validators import validate_email
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
from evaluation.campaigns import people as campaign_people
from evaluation.campaigns.access import may_organize
from evaluation.campaigns.people import accept, withdraw_invitation
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Role
from organizer.access import get_campaign, get_row
from organizer.forms import named, posted, refusals_on
from web.audit_log import blind
from web.fields import TextField
from web.mail import sends_mail
from web.text import plural

ROLES = named(Role)
MOST = 100
HELD = "invitation"
"""Session key of an invitation's secret, so that the link itself leaves the address bar."""
BACKEND = settings.AUTHENTICATION_BACKENDS[0]
LONGEST = 320
"""Characters of the longest email address (RFC 3696)."""
# Addresses in angles, names in quotes, separators and words: none can match in two ways, so that prose takes no time.
PIECE = re.compile(r'<(?P<inside>[^<>\n]*)>|"(?P<quoted>[^"\n]*)"|(?P<end>[,;\n])|(?P<word>[^\s,;<>"]+)')


@dataclass(frozen=True, slots=True)
class Invitee:
    """Address as it was pasted, with the name beside it and why it is not invited."""

    email: str
    name: str = ""
    problem: str = ""


class InviteForm(forms.Form):
    role = forms.ChoiceField(label="Role", choices=ROLES)
    addresses = TextField(
        label="Email addresses",
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 4, "cols": 60, "spellcheck": "false"}),
    )

    def clean_addresses(self) -> list["Invitee"]:
        text = str(self.cleaned_data["addresses"])
        invitees = addressed(text)
        if (number := len(invitees)) > MOST:
            raise forms.ValidationError(f"At most {MOST} addresses at once, found {number:,}.")
        if any(len(invitee.email) > LONGEST for invitee in invitees):
            raise forms.ValidationError(f"An address has at most {LONGEST} characters, and one here has more.")
        if "link" in self.data and text.strip():
            raise forms.ValidationError(
                "A link is for one person, whoever has it: empty the box, or press Preview to invite these addresses"
            )
        if "link" not in self.data and not invitees:
            raise forms.ValidationError("Found none; write at least one address, or press Make a link")
        return invitees


@dataclass(frozen=True, slots=True)
class InvitePlan:
    new: list[Invitee]
    known: list[Invitee]
    invalid: list[Invitee]


def addressed(text: str) -> list[Invitee]:
    """Invitees of `Name <address>` and of addresses by themselves, between any separators."""
    people: list[Invitee] = []
    words: list[str] = []
    for piece in PIECE.finditer(text + "\n"):
        if piece["end"]:
            people += [Invitee(word) for word in words]
            words = []
        elif inside := (piece["inside"] or "").strip():
            # Before a `Name <address>`, further addresses may stand on the same line.
            people += [Invitee(word) for word in words if "@" in word]
            name = " ".join(word for word in words if "@" not in word)
            people.append(Invitee(inside, name[: Invitation.NAME_LENGTH]))
            words = []
        else:
            words += (piece["quoted"] or piece["word"] or "").split()
    invitees: dict[str, Invitee] = {}
    for person in people:
        invitees.setdefault(person.email.lower(), person)
    return list(invitees.values())


def plan_of(campaign: Campaign, people: list[Invitee]) -> InvitePlan:
    names_by_address = campaign_people.known_addresses(campaign, [person.email for person in people])
    plan = InvitePlan([], [], [])
    for person in people:
        if person.email.lower() in names_by_address:
            plan.known.append(Invitee(person.email, person.name, names_by_address[person.email.lower()]))
            continue
        try:
            validate_email(person.email)
            plan.new.append(person)
        except ValidationError:
            plan.invalid.append(Invitee(person.email, person.name, "This is no email address."))
    return plan


class JoinForm(forms.Form):
    username = TextField(
        label="Username",
        max_length=150,
        help_text="Letters, digits and @ . + - _",
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    full_name = TextField(
        label="Name",
        max_length=200,
        required=False,
        help_text="What organizers call you. It may be empty.",
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    password = TextField(
        label="Password",
        strip=False,
        help_text=lazy(lambda: " ".join(password_validators_help_texts()), str)(),
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )


def new_link(request: UserRequest, campaign: Campaign, role: Role, person: Invitee) -> tuple[Invitation, str]:
    made, raw = campaign_people.invite(
        campaign=campaign, role=role, email=person.email, name=person.name, actor=request.user
    )
    return made, request.build_absolute_uri(reverse("organizer:open_invitation", args=[raw]))


def send(request: UserRequest, campaign: Campaign, role: Role, person: Invitee) -> None:
    """Mail somebody a link. Raises `Refused` where the mail is not taken, and nobody is invited by it."""
    made, link = new_link(request, campaign, role, person)
    context = {"invitation": made, "campaign": campaign, "actor": request.user, "link": link}
    text = render_to_string("organizer/invitation.txt", context)
    subject = f"Invitation to {' '.join(campaign.name.split())}"
    try:
        EmailMessage(subject, text, None, [formataddr((person.name, person.email))]).send()
    except OSError as error:  # of the connection, and of SMTP
        # Nobody has the link, and its secret is not stored: the invitation could never be used.
        withdraw_invitation(invitation=made, actor=request.user)
        raise Refused(
            "mail",
            f"The mail to {person.email} could not be sent, so they are not invited. Hand over a link instead.",
        ) from error


@require_http_methods(["POST"])
@never_cache
def invite_people(request: UserRequest, slug: str) -> HttpResponse:
    """Preview of a pasted list and, once confirmed, its mails.

    Without addresses, or without a mail server, links that are shown only once.
    """
    campaign = get_campaign(request.user, slug, may_organize)
    form, plan, links = InviteForm(request.POST, auto_id="invite_%s"), None, []
    if form.is_valid():
        role, invitees = Role(form.cleaned_data["role"]), form.cleaned_data["addresses"]
        plan = plan_of(campaign, invitees)
        handed = [Invitee("")] if "link" in request.POST else plan.new if "send" in request.POST else []
        if "link" in request.POST or not sends_mail():
            links = [(person, new_link(request, campaign, role, person)[1]) for person in handed]
        elif handed:
            with refusals_on(form, "addresses"):
                for person in plan.new:
                    send(request, campaign, role, person)
            if not form.errors:
                sent = f"{len(plan.new)} {plural(len(plan.new), 'invitation')} sent"
                messages.success(request, f"{sent}, each for the role {role}.")
                return redirect("organizer:people", slug)
            # Whoever was sent one before the fault is known now.
            plan = plan_of(campaign, invitees)
    context = {"campaign": campaign, "form": form, "plan": plan, "links": links, "sends_mail": sends_mail()}
    return render(request, "organizer/invite.html", context, status=422 if form.errors else 200)


@require_POST
def revoke(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    _, invitation = get_row(request.user, slug, campaign_people.invitation_for, pk, may_organize)
    withdraw_invitation(invitation=invitation, actor=request.user)
    messages.success(request, "The invitation was taken back.")
    return redirect("organizer:people", slug)


def joined(request: HttpRequest, form: JoinForm) -> User | None:
    """New account with the invitation's role; None where the form has errors."""
    data, raw = form.cleaned_data, request.session.get(HELD, "")
    held_invitation = invitation_of(raw)
    email = held_invitation.email if held_invitation else ""
    # An address leads to one account only, so one that is taken stays with the account that has it.
    if any(model.objects.filter(email__iexact=email).exists() for model in (EmailAddress, User)):
        email = ""
    try:
        with transaction.atomic():
            user = make_account(email=email, **data)
            accept(raw=raw, user=user)
            if email:
                # Whoever has a link that was mailed reads that mail.
                read = sends_mail()
                EmailAddress.objects.create(user=user, email=email.lower(), verified=read, primary=True)
    except ValidationError as error:
        for name, problems in error.message_dict.items():
            for problem in problems:
                form.add_error(name if name in form.fields else None, problem)
        return None
    request.session.pop(HELD)
    return user


@require_safe
@never_cache
@login_not_required
@blind
def open_invitation(request: HttpRequest, token: str) -> HttpResponse:
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
    held_invitation = invitation_of(request.session.get(HELD, ""))
    if not held_invitation:
        return render(request, "organizer/no_invitation.html", status=410)
    form = JoinForm(posted(request), initial={"full_name": held_invitation.name})
    if request.method == "POST" and not request.user.is_authenticated and form.is_valid():
        user = joined(request, form)
        if user:
            # Without a record the sign-in library asks for the password that was typed a moment ago.
            record_authentication(request, user, method="password")
            login(request, user, BACKEND)
            return redirect("organizer:campaigns")
    context = {"invitation": held_invitation, "form": form, "provider": settings.OIDC}
    return render(request, "organizer/invitation.html", context, status=422 if form.errors else 200)


@require_POST
@blind
def accept_role(request: UserRequest) -> HttpResponse:
    campaign = accept(raw=request.session.get(HELD, ""), user=request.user)
    request.session.pop(HELD, None)
    messages.success(request, f"You are in {campaign.name} now.")
    return redirect("organizer:campaigns")
