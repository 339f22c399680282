"""What organizers ask of snapshots."""

from django import forms


class SnapshotForm(forms.Form):
    """A name, and what is left out."""

    name = forms.SlugField(max_length=60, label="Short name", help_text="such as camera-ready")
    note = forms.CharField(max_length=500, required=False, label="What it is for")
    without_texts = forms.BooleanField(required=False, label="Without passages, answers and calls")
    pseudonyms = forms.BooleanField(required=False, label="People by pseudonyms")
