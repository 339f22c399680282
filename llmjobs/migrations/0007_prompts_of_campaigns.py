from collections import defaultdict
from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def find_campaigns(apps: Any, schema_editor: Any) -> None:
    """Give each name to the one campaign that tried or asked by it, else to its author's; used by several: common."""
    Prompt = apps.get_model("llmjobs", "Prompt")
    used = _uses(apps)
    for name in set(Prompt.objects.values_list("name", flat=True)):
        campaigns = used[name] or _of_author(apps, Prompt.objects.filter(name=name).order_by("version"))
        if len(campaigns) == 1:
            Prompt.objects.filter(name=name).update(campaign=campaigns.pop())


def _uses(apps: Any) -> Any:
    """Return by name of a prompt the campaigns that have a trial of it, or a job of a judge that asks by it."""
    used: Any = defaultdict(set)
    for ref, campaign in apps.get_model("llmjobs", "TrialJob").objects.values_list("prompt", "trial__campaign"):
        used[ref.partition("@")[0]].add(campaign)
    jobs = apps.get_model("llmjobs", "LlmJob").objects.order_by()
    for judge in apps.get_model("evaluation", "Judge").objects.exclude(prompt_versions={}):
        campaigns = set(jobs.filter(judge=judge).values_list("campaign", flat=True))
        for ref in judge.prompt_versions.values():
            used[str(ref).partition("@")[0]] |= campaigns
    return used


def _of_author(apps: Any, versions: Any) -> set[int]:
    """Return the first campaign that the author of the first version organizes; none for a command's."""
    organizing = apps.get_model("evaluation", "Membership").objects.filter(role="organizer")
    mine = organizing.filter(user=versions[0].made_by_id).order_by("pk")
    return set(mine.values_list("campaign", flat=True)[:1])


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0012_labels_of_nuggets"),
        ("llmjobs", "0006_trials"),
    ]

    operations = [
        migrations.AddField(
            model_name="prompt",
            name="campaign",
            field=models.ForeignKey(
                blank=True,
                help_text="whose members may read it; empty: common",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="evaluation.campaign",
            ),
        ),
        migrations.RunPython(find_campaigns, migrations.RunPython.noop),
    ]
