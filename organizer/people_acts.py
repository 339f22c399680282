"""Acts of the people pages: invitations are made and sent, and become accounts."""

from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.invitations import invitation_of, make_account
from accounts.models import Invitation, User
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.services.people import accept, invite, withdraw_invitation
from evaluation.terms import Role
from organizer.people_forms import InviteForm, JoinForm

HELD = "invitation"
"""Session key of an invitation's secret, so that the link itself leaves the address bar."""


def link_of(request: HttpRequest, form: InviteForm, campaign: Campaign, actor: User) -> str:
    """Link of a new invitation to hand over; '' where it was mailed."""
    data = form.cleaned_data
    made, raw = invite(campaign=campaign, role=Role(data["role"]), email=data["email"], actor=actor)
    link = request.build_absolute_uri(reverse("organizer:open_invitation", args=[raw]))
    if not made.email:
        return link
    try:
        _send(made, campaign, actor, link)
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
    email = found.email if found and not _is_taken(found.email) else ""
    try:
        with transaction.atomic():
            user = make_account(email=email, **data)
            accept(raw=raw, user=user)
            if email:  # who has the link reads that mail
                EmailAddress.objects.create(user=user, email=email.lower(), verified=True, primary=True)
    except ValidationError as error:
        for name, problems in error.message_dict.items():
            for problem in problems:
                form.add_error(name if name in form.fields else None, problem)
        return None
    request.session.pop(HELD)
    return user


def _is_taken(email: str) -> bool:
    used = EmailAddress.objects.filter(email__iexact=email).exists()
    return used or User.objects.filter(email__iexact=email).exists()
