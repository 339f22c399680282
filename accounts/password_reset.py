"""A forgotten password: a link to addresses whose owner has shown that they read them, and no mail to strangers."""

import logging
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ResetPasswordForm
from allauth.account.models import EmailAddress
from allauth.account.views import PasswordResetDoneView, PasswordResetView
from allauth.core.context import request_context
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from accounts.models import User
from web.mail import sends_mail

logger = logging.getLogger(__name__)


class ResetForm(ResetPasswordForm):  # type: ignore[misc]
    is_unconfirmed = False

    def clean_email(self) -> str:
        """Leave out accounts that only typed the address: whoever has their session could have typed their own."""
        email = str(super().clean_email())
        verified = EmailAddress.objects.filter(email=email.lower(), verified=True, user__is_active=True)
        self.users = [address.user for address in verified.select_related("user")]
        typed = User.objects.filter(Q(email__iexact=email) | Q(emailaddress__email__iexact=email), is_active=True)
        self.is_unconfirmed = not self.users and typed.exists()
        return email

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        """Nothing yet: `send` follows the answer."""
        return str(self.cleaned_data["email"])

    def send(self, request: HttpRequest) -> None:
        try:
            with request_context(request):
                self._send(request)
        except OSError as error:  # of the connection, and of SMTP
            logger.error("A mail about a forgotten password was not sent: %s.", error)

    def _send(self, request: HttpRequest) -> None:
        if self.is_unconfirmed:
            get_adapter().send_mail("account/email/unconfirmed_address", self.cleaned_data["email"], {})
        else:
            super().save(request)


class ResetView(PasswordResetView):  # type: ignore[misc]
    def form_valid(self, form: ResetForm) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        if response.status_code < 400:
            # After the answer, because the time that a mail server takes would tell who has an account.
            response._resource_closers.append(lambda: form.send(self.request))  # type: ignore[attr-defined]
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"sends_mail": sends_mail()}


class ResetDoneView(PasswordResetDoneView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"sends_mail": sends_mail()}
