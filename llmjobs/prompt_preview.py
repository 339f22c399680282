"""A prompt as it would be sent: filled with a real item of a campaign, by the very code of the jobs, and not sent."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from django.db.models import Exists, Model, OuterRef, QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.errors import Refused
from evaluation.models import AnswerProvenance, Campaign, Citation, ListedNugget, NuggetList, Qrel
from jobs.models import WorkItem
from llmjobs import job_plan
from llmjobs.kinds import KINDS, topic_prompts
from llmjobs.prompt_store import PromptSet
from llmjobs.prompts.template import PromptTask, Template
from llmjobs.prompts.texts import TEMPLATES
from llmjobs.steps.asking import Ask, question

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class PreviewTarget:
    """Of which topic and run; '' takes the first that has what the task needs."""

    topic: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """Prompt as it would be sent, and its subject."""

    ask: Ask
    about: str


def preview(
    viewer: User, campaign: Campaign, template: Template, wish: PreviewTarget, *, structured: bool
) -> PromptPreview:
    """Fill a template with an item. Raises `Refused` where the campaign has none that the task needs."""
    template_sent = replace(template, structured=structured)
    seen = within(viewer, campaign)
    if template.task == "importance":
        return _importance(seen, template_sent, wish)
    item, about = ITEMS[template.task](seen, wish)
    way = PromptSet({**TEMPLATES, template.task: template_sent})
    step = KINDS[item.kind].begin([item], [way])[0]
    try:
        return PromptPreview(next(step), about)
    finally:
        step.close()


def _lists(seen: QuerySet[Campaign], wish: PreviewTarget) -> QuerySet[NuggetList]:
    lists = NuggetList.objects.filter(nugget_set__campaign__in=seen, submitted=True)
    lists = lists.filter(topic__topic_id=wish.topic) if wish.topic else lists
    filled = lists.filter(Exists(ListedNugget.objects.filter(nugget_list=OuterRef("pk"))))
    return filled.select_related("topic", "nugget_set__campaign").order_by("topic__position", "-pk")


def _of(rows: QuerySet[Row], without: str) -> Row:
    """Return the first row. Raises `Refused` where there is none."""
    first = rows.first()
    if first is None:
        raise Refused("nothing_to_show", without)
    return first


def _importance(seen: QuerySet[Campaign], template: Template, wish: PreviewTarget) -> PromptPreview:
    """Ask about the first batch of a list. A job asks this only after it has made the list, so there is no item."""
    one = _of(_lists(seen, wish), "There is no nugget list to show it with.")
    size = one.nugget_set.campaign.protocol.batch_size
    texts = list(one.items.order_by("position").values_list("nugget_version__text", flat=True))
    part = f"importance batch 1 of {-(-len(texts) // size)}"
    some = texts[:size]
    topic = topic_prompts([one.topic_id])[one.topic_id]
    ask = question(template, part, query=topic.query, nuggets=some, length=len(some), **topic.texts.values)
    return PromptPreview(
        ask,
        f"topic {one.topic.topic_id}, nugget set {one.nugget_set.name}",
    )


def _nuggets_item(seen: QuerySet[Campaign], wish: PreviewTarget) -> tuple[WorkItem, str]:
    graded = Qrel.objects.filter(source__campaign__in=seen, segment__has_text=True)
    graded = graded.filter(topic__topic_id=wish.topic) if wish.topic else graded
    first = _of(
        graded.select_related("topic__campaign", "source").order_by("topic__position", "-grade"),
        "There is no grade to show it with.",
    )
    plan = job_plan.nugget_items(first.topic.campaign, [first.topic], first.source, "drafts")
    if not plan.items:
        raise Refused("nothing_to_show", f"Topic {first.topic.topic_id} has no segment with text that is related.")
    new = plan.items[0]
    return WorkItem(key=new.key, kind=new.kind, payload=new.payload), f"{new.key}, qrels {first.source.name}"


def _assign_item(seen: QuerySet[Campaign], wish: PreviewTarget) -> tuple[WorkItem, str]:
    answers = AnswerProvenance.objects.filter(topic__campaign__in=seen, answer__words__gt=0)
    answers = answers.filter(run__run_id=wish.run) if wish.run else answers
    lists = _lists(seen, wish).filter(topic__in=answers.values("topic"))
    one = _of(lists, "There is no answer to a topic with a nugget list to show it with.")
    given = _of(
        answers.filter(topic=one.topic).select_related("run").order_by("run__run_id"),
        "There is no answer to show it with.",
    )
    new = job_plan.assign_items([one], [given.run_id], one.nugget_set.campaign.protocol.batch_size)[0]
    about = f"topic {one.topic.topic_id}, run {given.run.run_id}, nugget set {one.nugget_set.name}"
    return WorkItem(key=new.key, kind=new.kind, payload=new.payload), about


def _support_item(seen: QuerySet[Campaign], wish: PreviewTarget) -> tuple[WorkItem, str]:
    answers = AnswerProvenance.objects.filter(topic__campaign__in=seen)
    answers = answers.filter(run__run_id=wish.run) if wish.run else answers
    answers = answers.filter(topic__topic_id=wish.topic) if wish.topic else answers
    cited = Citation.objects.filter(sentence__answer__in=answers.values("answer"), segment__has_text=True)
    one = _of(
        cited.select_related("sentence", "segment").order_by("sentence_id", "position"),
        "There is no citation with a text to show it with.",
    )
    docid = one.segment.docid if one.segment else one.raw
    given = _of(
        answers.filter(answer=one.sentence.answer_id).select_related("run", "topic"),
        "There is no answer to show it with.",
    )
    payload = {"sentence": one.sentence_id, "segment": one.segment_id}
    about = f"topic {given.topic.topic_id}, run {given.run.run_id}, sentence {one.sentence.index + 1}, {docid}"
    return WorkItem(key=about, kind="support", payload=payload), about


def _relevance_item(seen: QuerySet[Campaign], wish: PreviewTarget) -> tuple[WorkItem, str]:
    graded = Qrel.objects.filter(source__campaign__in=seen, segment__has_text=True)
    graded = graded.filter(topic__topic_id=wish.topic) if wish.topic else graded
    one = _of(
        graded.select_related("topic__campaign", "segment").order_by("topic__position", "pk"),
        "There is no graded segment to show it with.",
    )
    top = one.topic.campaign.protocol.relevance_max
    payload = {"topic": one.topic_id, "segment": one.segment_id, "top": top, "source": ""}
    about = f"topic {one.topic.topic_id}, segment {one.segment.docid}"
    return WorkItem(key=about, kind="relevance", payload=payload), about


ITEMS: dict[PromptTask, Callable[[QuerySet[Campaign], PreviewTarget], tuple[WorkItem, str]]] = {
    "nuggetize": _nuggets_item,
    "assign": _assign_item,
    "support": _support_item,
    "relevance": _relevance_item,
}
