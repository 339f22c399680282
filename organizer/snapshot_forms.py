"""The form of a snapshot."""

from django import forms


class SnapshotForm(forms.Form):
    """Name of a snapshot, and the parts that it leaves out."""

    name = forms.SlugField(max_length=60, label="Short name", help_text="such as camera-ready")
    note = forms.CharField(max_length=500, required=False, label="What it is for")
    without_texts = forms.BooleanField(required=False, label="Without passages, answers and calls")
    pseudonyms = forms.BooleanField(required=False, label="People by pseudonyms")
