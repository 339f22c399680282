"""Forms about one's own account."""

from datetime import datetime, timedelta
from typing import Any

from allauth.account.forms import ResetPasswordForm
from allauth.account.models import EmailAddress
from django import forms
from django.utils.timezone import now

from accounts.tokens import NAME_LENGTH, Scope, longest_life
from web.text import plural

DAYS = (7, 30, 90, 180, 365)
USUAL_DAYS = 90
WORDS = {Scope.READ: "read: see what you may see", Scope.WRITE: "write: also change what you may change"}


class VerifiedResetForm(ResetPasswordForm):  # type: ignore[misc]
    """A reset by mail, sent to addresses only whose owner has shown that they read them."""

    def clean_email(self) -> str:
        """Leave out accounts that only typed the address: whoever has their session could have typed their own."""
        email = str(super().clean_email())
        verified = EmailAddress.objects.filter(email=email.lower(), verified=True, user__is_active=True)
        self.users = [one.user for one in verified.select_related("user")]
        return email


class TokenForm(forms.Form):
    """Name, scopes and life of a token."""

    name = forms.CharField(label="Name", max_length=NAME_LENGTH, help_text="What it is for, such as a notebook.")
    scopes = forms.MultipleChoiceField(
        label="May",
        choices=[(scope.value, WORDS[scope]) for scope in Scope],
        initial=[Scope.READ.value],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(label="Ends after", coerce=int)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        longest = longest_life().days
        offered = [days for days in DAYS if days < longest] + [longest]
        days = self.fields["days"]
        choices = [(one, f"{one} {plural(one, 'day')}") for one in offered]
        days.choices = choices  # type: ignore[attr-defined]
        days.initial = min(USUAL_DAYS, longest)

    def ends(self) -> datetime:
        return now() + timedelta(days=self.cleaned_data["days"])
