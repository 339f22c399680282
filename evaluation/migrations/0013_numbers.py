from typing import Any

from django.db import migrations, models
from django.db.models import F

from evaluation.formats.languages import normalised
from evaluation.formats.signs import wrong_sign
from evaluation.terms import FindingCode

TEXTS = {"problem_statement": "problem_statement", "background": "background", "body": "article"}


def hold_out_avoid_nuggets(apps: Any, schema_editor: Any) -> None:
    """Take loaded nuggets that an answer must not contain out of every score, with an event and findings."""
    Listed, Event = apps.get_model("evaluation", "ListedNugget"), apps.get_model("evaluation", "Event")
    rows = Listed.objects.select_related("nugget_list__nugget_set", "nugget_list__topic", "nugget_version")
    by_campaign: dict[int, list[Any]] = {}
    for one in rows.order_by("pk").iterator(chunk_size=2000):
        if wrong_sign(one.raw_importance, one.extra):
            by_campaign.setdefault(one.nugget_list.nugget_set.campaign_id, []).append(one)
    for campaign, held in by_campaign.items():
        Listed.objects.filter(pk__in=[one.pk for one in held]).update(avoid=True)
        topics = sorted({one.nugget_list.topic.topic_id for one in held})
        event = Event.objects.create(
            campaign_id=campaign, kind="nuggets.held_out", payload={"nuggets": len(held), "topics": topics}
        )
        store_findings(apps, event, held)
        apps.get_model("evaluation", "Campaign").objects.filter(pk=campaign).update(revision=F("revision") + 1)


def store_findings(apps: Any, event: Any, held: list[Any]) -> None:
    imports = apps.get_model("evaluation", "Event").objects.in_bulk({one.nugget_list.event_id for one in held} - {None})
    apps.get_model("evaluation", "Finding").objects.bulk_create(
        [
            apps.get_model("evaluation", "Finding")(
                campaign_id=event.campaign_id,
                event=event,
                code=FindingCode.AVOID_NUGGET.value,
                file=file_of(imports.get(one.nugget_list.event_id)),
                line=one.nugget_list.line,
                topic_id=one.nugget_list.topic.topic_id,
                message=(
                    f"nugget {one.position + 1} of {one.nugget_list.nugget_set.name} must not be said "
                    f"({one.nugget_version.text!r}): it is in no score"
                ),
            )
            for one in held
        ]
    )


def file_of(event: Any) -> str:
    files = event.payload.get("files") if event else None
    return files[0]["name"] if files else ""


def name_request_fields(apps: Any, schema_editor: Any) -> None:
    """Give a topic's texts and language, so far kept as unknown keys, their fields: the same file changes nothing."""
    Topic = apps.get_model("evaluation", "Topic")
    for topic in Topic.objects.exclude(extra={}).iterator(chunk_size=500):
        before = dict(topic.extra)
        for key, field in TEXTS.items():
            if isinstance(topic.extra.get(key), str) and topic.extra[key].strip():
                setattr(topic, field, topic.extra.pop(key))
        for key in ("language", "lang"):
            tag = normalised(topic.extra[key]) if isinstance(topic.extra.get(key), str) else None
            if tag and not topic.language:
                topic.language = tag
                del topic.extra[key]
        if topic.extra != before:
            topic.save(update_fields=["extra", "language", *TEXTS.values()])


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0012_labels_of_nuggets'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='language',
            field=models.CharField(blank=True, help_text='BCP 47, of topics without one; empty: not known', max_length=35),
        ),
        migrations.AddField(
            model_name='listednugget',
            name='avoid',
            field=models.BooleanField(default=False, help_text='an answer must not contain it: held out of every score'),
        ),
        migrations.AddField(
            model_name='membership',
            name='languages',
            field=models.CharField(blank=True, help_text="an assessor's: BCP 47 tags of what they read, with blanks; empty: any", max_length=400),
        ),
        migrations.AddField(
            model_name='topic',
            name='article',
            field=models.TextField(blank=True, help_text='the text of an article that is asked about'),
        ),
        migrations.AddField(
            model_name='topic',
            name='background',
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name='topic',
            name='language',
            field=models.CharField(blank=True, help_text="BCP 47; empty: the campaign's", max_length=35),
        ),
        migrations.AddField(
            model_name='topic',
            name='problem_statement',
            field=models.TextField(blank=True),
        ),
        migrations.AlterField(
            model_name='finding',
            name='code',
            field=models.CharField(choices=[('response_length', 'response length'), ('answer_too_long', 'answer too long'), ('too_many_references', 'too many references'), ('duplicate_citation', 'duplicate citation'), ('citation_out_of_range', 'citation out of range'), ('duplicate_reference', 'duplicate reference'), ('docid_form', 'docid form'), ('topic_text_differs', 'topic text differs'), ('missing_topics', 'missing topics'), ('empty_answer', 'empty answer'), ('segment_without_text', 'segment without text'), ('unknown_importance', 'unknown importance'), ('avoid_nugget', 'avoid nugget'), ('unknown_label', 'unknown label'), ('repeated_nugget', 'repeated nugget'), ('unjudged_nuggets', 'unjudged nuggets'), ('grade_off_scale', 'grade off scale'), ('answer_text_differs', 'answer text differs'), ('addresses_judge', 'addresses judge')], max_length=40),
        ),
        migrations.RunPython(hold_out_avoid_nuggets, migrations.RunPython.noop),
        migrations.RunPython(name_request_fields, migrations.RunPython.noop),
    ]
