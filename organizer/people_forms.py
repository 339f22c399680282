"""Forms about people: roles, invitations, erasure."""

from django import forms
from django.contrib.auth.password_validation import password_validators_help_texts
from django.utils.functional import lazy

from evaluation.terms import Role

ROLES = [(role.value, role.value) for role in Role]


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
