"""A new campaign."""

from django import forms

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.services.campaigns import CampaignFile, read_campaign_file, start_campaign

ADDRESSES = ("new",)
"""Names that are an address already."""


class NewCampaignForm(forms.Form):
    """Its short name, name and description, and a file with its settings."""

    slug = forms.SlugField(max_length=60, label="Short name", help_text="It stands in addresses and commands.")
    name = forms.CharField(max_length=200, label="Name")
    description = forms.CharField(
        max_length=5000, required=False, label="Description", widget=forms.Textarea({"rows": 3})
    )
    settings = forms.FileField(required=False, label="Settings, a TOML file")

    def clean_slug(self) -> str:
        """Refuse a taken short name, even one of a campaign that the viewer cannot see."""
        slug = str(self.cleaned_data["slug"])
        if slug in ADDRESSES or Campaign.objects.filter(slug=slug).exists():
            raise forms.ValidationError("This short name is taken. Choose another one.")
        return slug

    def made_by(self, actor: User) -> Campaign | None:
        """New campaign; errors in its file become errors of the form."""
        if not self.is_valid():
            return None
        try:
            values = self.cleaned_data
            campaign, _ = start_campaign(slug=values["slug"], name=values["name"], file=self._file(), actor=actor)
        except Refused as refusal:
            self.add_error(None, [*refusal.message.splitlines()])
            return None
        return campaign

    def _file(self) -> CampaignFile:
        values = self.cleaned_data
        sent = values["settings"]
        file = read_campaign_file(sent, sent.name) if sent else CampaignFile()
        description = values["description"] or file.description
        # The fields of the form win over the file.
        return file.model_copy(update={"name": values["name"], "description": description})
