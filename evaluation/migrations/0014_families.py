from typing import Any

import evaluation.models.fields
from django.db import migrations, models


def each_its_own(apps: Any, schema_editor: Any) -> None:
    """Give each campaign a family of its own: a column's default is one value for all rows."""
    Campaign = apps.get_model("evaluation", "Campaign")
    for campaign in Campaign.objects.only("pk"):
        Campaign.objects.filter(pk=campaign.pk).update(family=evaluation.models.fields.new_family())


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0013_numbers"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="family",
            field=models.CharField(
                db_index=True,
                default=evaluation.models.fields.new_family,
                editable=False,
                help_text="the same for a campaign and its copies",
                max_length=32,
            ),
        ),
        migrations.RunPython(each_its_own, migrations.RunPython.noop),
    ]
