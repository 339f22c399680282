"""A prompt as it would be sent: filled with a real item of a campaign, by the very code of the jobs, and not sent."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.errors import Refused
from evaluation.models import AnswerProvenance, Battle, Campaign, Citation, ListedNugget, NuggetList, Qrel
from jobs.models import WorkItem
from jobs.queue import NewItem
from llmjobs import job_plan
from llmjobs.kinds import ITEM_KINDS, topic_prompts
from llmjobs.prompt_store import PromptSet
from llmjobs.prompts.template import PromptTask, Template
from llmjobs.prompts.texts import TEMPLATES
from llmjobs.steps.asking import Ask, question

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class PreviewTarget:
    """Topic and run of the item; '' takes the first that has what the task needs."""

    topic: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class PromptPreview:
    ask: Ask
    about: str


def preview(
    viewer: User, campaign: Campaign, template: Template, target: PreviewTarget, *, structured: bool
) -> PromptPreview:
    """Fill a template with an item. Raises `Refused` where none fits, and for a text that is wrong."""
    if problems := template.problems():
        raise Refused("unusable_prompt", f"The example follows when the placeholders are right: {problems[0]}.")
    template_sent = replace(template, structured=structured)
    seen = within(viewer, campaign)
    if template.task == "importance":
        return _importance(seen, template_sent, target)
    new, about = ITEMS[template.task](seen, target)
    way = PromptSet({**TEMPLATES, template.task: template_sent})
    item = WorkItem(key=new.key, kind=new.kind, payload=new.payload)
    [step] = ITEM_KINDS[item.kind].begin([item], [way])
    try:
        return PromptPreview(next(step), about)
    finally:
        step.close()


def _lists(seen: QuerySet[Campaign], target: PreviewTarget) -> QuerySet[NuggetList]:
    lists = NuggetList.objects.filter(nugget_set__campaign__in=seen, submitted=True)
    lists = lists.filter(topic__topic_id=target.topic) if target.topic else lists
    filled = lists.filter(Exists(ListedNugget.objects.filter(nugget_list=OuterRef("pk"))))
    return filled.select_related("topic", "nugget_set__campaign").order_by("topic__position", "-pk")


def _answers(seen: QuerySet[Campaign], target: PreviewTarget) -> QuerySet[AnswerProvenance]:
    answers = AnswerProvenance.objects.filter(topic__campaign__in=seen).select_related("run", "topic")
    return answers.filter(run__run_id=target.run) if target.run else answers


def _grades(seen: QuerySet[Campaign], target: PreviewTarget) -> QuerySet[Qrel]:
    graded = Qrel.objects.filter(source__campaign__in=seen, segment__has_text=True)
    graded = graded.filter(topic__topic_id=target.topic) if target.topic else graded
    return graded.select_related("topic__campaign", "segment", "source")


def _first(rows: QuerySet[Row], without: str) -> Row:
    """Return the first row. Raises `Refused` where there is none."""
    first = rows.first()
    if first is None:
        raise Refused("nothing_to_show", without)
    return first


def _importance(seen: QuerySet[Campaign], template: Template, target: PreviewTarget) -> PromptPreview:
    # A job asks this only after it has made the list, so there is no item: it is the first batch of a list.
    nugget_list = _first(_lists(seen, target), "There is no nugget list to show it with.")
    size = nugget_list.nugget_set.campaign.protocol.batch_size
    texts = list(nugget_list.items.order_by("position").values_list("nugget_version__text", flat=True))
    part, batch = f"importance batch 1 of {-(-len(texts) // size)}", texts[:size]
    topic = topic_prompts([nugget_list.topic_id])[nugget_list.topic_id]
    ask = question(template, part, query=topic.query, nuggets=batch, length=len(batch), **topic.texts.values)
    return PromptPreview(ask, f"topic {nugget_list.topic.topic_id}, nugget set {nugget_list.nugget_set.name}")


def _nuggets_item(seen: QuerySet[Campaign], target: PreviewTarget) -> tuple[NewItem, str]:
    graded = _grades(seen, target).order_by("topic__position", "-grade")
    first = _first(graded, "There is no grade to show it with.")
    plan = job_plan.nugget_items(first.topic.campaign, [first.topic], first.source, "drafts")
    if not plan.items:
        raise Refused("nothing_to_show", f"Topic {first.topic.topic_id} has no passage with text that is related.")
    return plan.items[0], f"{plan.items[0].key}, qrels {first.source.name}"


def _assign_item(seen: QuerySet[Campaign], target: PreviewTarget) -> tuple[NewItem, str]:
    answers = _answers(seen, target).filter(answer__words__gt=0)
    lists = _lists(seen, target).filter(topic__in=answers.values("topic"))
    nugget_list = _first(lists, "There is no answer to a topic with a nugget list to show it with.")
    of_topic = answers.filter(topic=nugget_list.topic).order_by("run__run_id")
    provenance = _first(of_topic, "There is no answer to show it with.")
    size = nugget_list.nugget_set.campaign.protocol.batch_size
    item = job_plan.assign_items([nugget_list], [provenance.run_id], size)[0]
    nuggets = nugget_list.nugget_set.name
    return item, f"topic {nugget_list.topic.topic_id}, run {provenance.run.run_id}, nugget set {nuggets}"


def _support_item(seen: QuerySet[Campaign], target: PreviewTarget) -> tuple[NewItem, str]:
    answers = _answers(seen, target)
    answers = answers.filter(topic__topic_id=target.topic) if target.topic else answers
    cited = Citation.objects.filter(sentence__answer__in=answers.values("answer"), segment__has_text=True)
    cited = cited.select_related("sentence", "segment").order_by("sentence_id", "position")
    citation = _first(cited, "There is no citation with a text to show it with.")
    docid = citation.segment.docid if citation.segment else citation.raw
    provenance = _first(answers.filter(answer=citation.sentence.answer_id), "There is no answer to show it with.")
    place = f"sentence {citation.sentence.index + 1}, {docid}"
    about = f"topic {provenance.topic.topic_id}, run {provenance.run.run_id}, {place}"
    return NewItem(about, "support", {"sentence": citation.sentence_id, "segment": citation.segment_id}), about


def _relevance_item(seen: QuerySet[Campaign], target: PreviewTarget) -> tuple[NewItem, str]:
    graded = _grades(seen, target).order_by("topic__position", "pk")
    grade = _first(graded, "There is no graded segment to show it with.")
    top = grade.topic.campaign.protocol.relevance_max
    payload = {"topic": grade.topic_id, "segment": grade.segment_id, "top": top, "source": ""}
    about = f"topic {grade.topic.topic_id}, segment {grade.segment.docid}"
    return NewItem(about, "relevance", payload), about


def _rubric_item(seen: QuerySet[Campaign], target: PreviewTarget) -> tuple[NewItem, str]:
    nugget_list = _first(_lists(seen, target), "There is no nugget list to show it with.")
    about = f"topic {nugget_list.topic.topic_id}, nugget set {nugget_list.nugget_set.name}"
    return NewItem(about, "rubric", {"topic": nugget_list.topic_id, "list": nugget_list.pk}), about


def _battle_item(seen: QuerySet[Campaign], target: PreviewTarget) -> tuple[NewItem, str]:
    battles = Battle.objects.filter(battle_set__campaign__in=seen, left__words__gt=0, right__words__gt=0)
    battles = battles.filter(topic__topic_id=target.topic) if target.topic else battles
    if target.run:
        answers = _answers(seen, target).values("answer")
        battles = battles.filter(Q(left__in=answers) | Q(right__in=answers))
    battle = _first(battles.select_related("topic", "battle_set"), "There is no battle to show it with.")
    about = f"topic {battle.topic.topic_id}, battle set {battle.battle_set.name}"
    payload = {"topic": battle.topic_id, "battle": battle.pk, "left": battle.left_id, "right": battle.right_id}
    nugget_list = _lists(seen, PreviewTarget(battle.topic.topic_id)).first()
    return NewItem(about, "battle", payload | ({"list": nugget_list.pk} if nugget_list else {})), about


ITEMS: dict[PromptTask, Callable[[QuerySet[Campaign], PreviewTarget], tuple[NewItem, str]]] = {
    "nuggetize": _nuggets_item,
    "assign": _assign_item,
    "support": _support_item,
    "relevance": _relevance_item,
    "rubric": _rubric_item,
    "battle": _battle_item,
}
