"""What organizers ask of snapshots."""

from django import forms
from django.utils.translation import gettext_lazy as _


class SnapshotForm(forms.Form):
    """A name, and what is left out."""

    name = forms.SlugField(max_length=60, label=_("Short name"), help_text=_("such as camera-ready"))
    note = forms.CharField(max_length=500, required=False, label=_("What it is for"))
    without_texts = forms.BooleanField(required=False, label=_("Without passages, answers and calls"))
    pseudonyms = forms.BooleanField(required=False, label=_("People by pseudonyms"))
