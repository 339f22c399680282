"""Sign-in by a provider: for known people and invited ones."""

from typing import Any

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from django.conf import settings
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from accounts.invitations import invitation_of
from accounts.models import User
from evaluation.campaigns.access import holds_work
from evaluation.campaigns.people import accept
from organizer.people.invitations import HELD


class KnownPeopleAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """The provider identifies a person; the right to come in is decided here."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        provider_settings = settings.OIDC
        if not provider_settings or provider not in (None, "openid_connect", provider_settings["provider_id"]):
            return []
        if client_id not in (None, provider_settings["client_id"]):
            return []
        # Not stored: the database would hold its secret.
        return [SocialApp(provider="openid_connect", **{key: provider_settings[key] for key in FIELDS})]

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[Any, str] | None:
        vouched = [address.email.lower() for address in sociallogin.email_addresses if address.verified]
        # An address that was only typed leads to nobody: it may be another's.
        addresses = EmailAddress.objects.filter(email__in=vouched, verified=True, user__is_active=True)
        # If two accounts have an address of the provider, neither is meant.
        matching = list(addresses.select_related("user")[:2])
        return (matching[0].user, matching[0].email) if len(matching) == 1 else None

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return invitation_of(request.session.get(HELD, "")) is not None

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> Any:
        with transaction.atomic():
            user = super().save_user(request, sociallogin, form)
            accept(raw=request.session.get(HELD, ""), user=user)
        request.session.pop(HELD, None)
        return user


FIELDS = ("provider_id", "name", "client_id", "secret", "settings")


class AssayAdmin(AdminSite):
    """The admin, closed to holders of a task, because it shows unblinded rows.

    Hand-out refuses administrators, so this is about accounts that were made administrators afterwards.
    """

    site_header = "Assay administration"
    site_title = "Assay"

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and isinstance(request.user, User) and not holds_work(request.user)

    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """An account without permission gets an error, never the sign-in form."""
        if request.user.is_authenticated and not self.has_permission(request):
            # Whoever is signed in would only be led back here by the sign-in form.
            raise PermissionDenied
        answer: HttpResponse = secure_admin_login(super().login)(request, extra_context)
        return answer
