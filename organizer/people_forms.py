"""Forms about people: roles, invitations, what an administrator does to an account."""

from django import forms
from django.contrib.auth.password_validation import password_validators_help_texts
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _

from evaluation.terms import Role
from web.shown import lazy_shown

ROLES = [(role.value, lazy_shown(role.value)) for role in Role]


def _password_help() -> str:
    return " ".join(password_validators_help_texts())


class RoleForm(forms.Form):
    """Who gets or loses which role."""

    username = forms.CharField(label=_("Username"), max_length=150)
    role = forms.ChoiceField(label=_("Role"), choices=ROLES)


class InviteForm(forms.Form):
    """The role that a link gives, and where it is sent."""

    role = forms.ChoiceField(label=_("Role"), choices=ROLES)
    email = forms.EmailField(label=_("Email"), required=False)


class JoinForm(forms.Form):
    """The account of somebody who was invited."""

    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        help_text=_("Letters, digits and @ . + - _"),
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    full_name = forms.CharField(
        label=_("Name"),
        max_length=200,
        required=False,
        help_text=_("What organizers call you. It may be empty."),
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        help_text=lazy(_password_help, str)(),
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )


class EraseForm(forms.Form):
    """An erasure is confirmed by the name that it takes away."""

    username = forms.CharField(
        label=_("Username"), max_length=150, widget=forms.TextInput({"autocomplete": "off"})
    )
