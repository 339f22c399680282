"""Accounts in Django's admin. Closing one there does all that closing one on our own pages does."""

from typing import TYPE_CHECKING, Any

# Imported here, so that what is taken out below was registered.
import allauth.mfa.admin
import allauth.socialaccount.admin  # noqa: F401
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from accounts.closing import close_account
from accounts.models import User

if TYPE_CHECKING:
    Base = UserAdmin[User]
else:
    Base = UserAdmin


class AccountAdmin(Base):
    """Django's own, but that a closed account's sessions and tokens end, and that nobody writes when one signed in."""

    readonly_fields = ("last_login", "date_joined")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save; close the account where its tick was taken away."""
        super().save_model(request, obj, form, change)
        if change and "is_active" in form.changed_data and not obj.is_active:
            close_account(obj)


admin.site.register(User, AccountAdmin)
# What a second factor or a provider's token is made of is nobody's to read or write; a factor is taken away on the
# account's own page.
admin.site.unregister([Authenticator, SocialToken])
