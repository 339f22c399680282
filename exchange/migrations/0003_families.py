from typing import Any

from django.db import migrations


def join_copies(apps: Any, schema_editor: Any) -> None:
    """Join each copy to the family of its original, or of other copies of the same name."""
    Campaign = apps.get_model("evaluation", "Campaign")
    LoadedCampaign = apps.get_model("exchange", "LoadedCampaign")
    for copy in LoadedCampaign.objects.select_related("snapshot").order_by("loaded_at"):
        mine = Campaign.objects.get(pk=copy.campaign_id).family
        theirs = set(Campaign.objects.filter(slug=copy.slug).values_list("family", flat=True))
        siblings = LoadedCampaign.objects.filter(slug=copy.slug).values("campaign")
        theirs |= set(Campaign.objects.filter(pk__in=siblings).values_list("family", flat=True))
        if copy.snapshot_id:
            theirs.add(Campaign.objects.get(pk=copy.snapshot.campaign_id).family)
        Campaign.objects.filter(family__in=theirs).update(family=mine)


class Migration(migrations.Migration):
    dependencies = [
        ("exchange", "0002_imports_and_exports"),
        ("evaluation", "0014_families"),
    ]

    operations = [
        migrations.RunPython(join_copies, migrations.RunPython.noop),
    ]
