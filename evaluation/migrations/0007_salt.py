from typing import Any

import evaluation.models.fields
from django.db import migrations, models


def each_its_own(apps: Any, schema_editor: Any) -> None:
    """A column's default is one value for all rows that are there."""
    Campaign = apps.get_model("evaluation", "Campaign")
    for campaign in Campaign.objects.only("pk"):
        Campaign.objects.filter(pk=campaign.pk).update(salt=evaluation.models.fields.new_salt())


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0006_study"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="salt",
            field=models.CharField(
                default=evaluation.models.fields.new_salt,
                editable=False,
                help_text="of the pseudonyms",
                max_length=64,
            ),
        ),
        migrations.RunPython(each_its_own, migrations.RunPython.noop),
    ]
