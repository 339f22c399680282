"""Accounts in Django's admin. Closing one there does all that closing one on our own pages does."""

from typing import TYPE_CHECKING, Any

# Imported here, so that what is taken out below was registered.
import allauth.mfa.admin
import allauth.socialaccount.admin  # noqa: F401
from allauth.account.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest, HttpResponse

from accounts.closing import close_account
from accounts.models import User
from accounts.sign_in import record_act

if TYPE_CHECKING:
    Base = UserAdmin[User]
else:
    Base = UserAdmin


FOUND = 302  # a form that was taken leads on


class AccountAdmin(Base):
    """Django's own, but that a closed account's sessions and tokens end, and that nobody writes when one signed in."""

    readonly_fields = ("last_login", "date_joined")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "email" in form.changed_data:
            _tell_of_new_address(request, obj, form.initial.get("email", ""))
        if change and "is_active" in form.changed_data and not obj.is_active:
            close_account(obj)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        response = super().user_change_password(request, id, form_url)
        if request.method == "POST" and response.status_code == FOUND:
            person = User.objects.get(pk=id)
            record_act("account.password_changed", person, request)
            get_adapter(request).send_notification_mail("account/email/password_changed", person)
        return response


def _tell_of_new_address(request: HttpRequest, person: User, old: str) -> None:
    record_act("account.email_changed", person, request)
    if old:
        context = {"from_email": old, "to_email": person.email}
        get_adapter(request).send_notification_mail("account/email/email_changed", person, context, email=old)


admin.site.register(User, AccountAdmin)
# Nobody reads or writes the secrets of second factors and provider tokens; a factor is taken away on the account's
# own page.
admin.site.unregister([Authenticator, SocialToken])
