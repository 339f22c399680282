"""Handed-out work from its forms: previews and acts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.http import QueryDict

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.queries.topic_states import TopicState
from evaluation.queries.topics import topics_for
from evaluation.queries.work import LATE, late, stages_by_topic, tasks_for, untouched
from evaluation.services.handing_out import HandOutReceipt, hand_out
from evaluation.services.reassigning import plan_reassigning, reassign_many
from evaluation.services.task_acts import Change, ChangeReceipt, change_tasks, plan_change
from evaluation.services.work_plan import Plan, plan_hand_out
from evaluation.terms import Stage
from organizer.work_forms import REASSIGN, ChangeForm, HandOutForm, WorkSearch, lacking

KEPT = ("assessor", "due", "priority", "again", "drafts", "qrels", "nuggets", "machine", "reason")
"""Fields that keep their values when a button of the hand-out form ticks other topics."""


@dataclass(frozen=True, slots=True)
class HandOutOffer:
    """Result of a filled form: a preview, or a receipt."""

    plan: Plan | None = None
    receipt: HandOutReceipt | None = None


@dataclass(frozen=True, slots=True)
class ChangeOffer:
    """The same for changes of tasks."""

    plan: ChangeReceipt | None = None
    receipt: ChangeReceipt | None = None


def answer_to_hand_out(form: HandOutForm, campaign: Campaign, actor: User, *, commits: bool) -> HandOutOffer:
    """Receipt of the hand-out, or its preview; a refusal becomes an error of the form."""
    expect = form.cleaned_data["expect"]
    try:
        if commits and expect:
            return HandOutOffer(receipt=hand_out(campaign=campaign, order=form.order, actor=actor, expect=expect))
        return HandOutOffer(plan=plan_hand_out(campaign, form.order))
    except Refused as refusal:
        form.add_error(None, refusal.message)
        # Only what was shown is handed out: where something has changed since, that is shown instead.
        return HandOutOffer(plan=plan_hand_out(campaign, form.order) if refusal.code == "changed" else None)


def answer_to_change(form: ChangeForm, campaign: Campaign, actor: User, *, commits: bool) -> ChangeOffer:
    """Receipt of the change, or its preview; a refusal becomes an error of the form."""
    data = form.cleaned_data
    if data["change"] == REASSIGN:
        return _answer_to_reassign(form, campaign, actor, commits=commits)
    wish = form.wish(Change(data["change"]), tuple(data["tasks"]))
    try:
        if commits:
            return ChangeOffer(receipt=change_tasks(campaign=campaign, wish=wish, actor=actor))
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return ChangeOffer(plan=plan_change(campaign, wish))


def _answer_to_reassign(form: ChangeForm, campaign: Campaign, actor: User, *, commits: bool) -> ChangeOffer:
    data = form.cleaned_data
    act = reassign_many if commits else plan_reassigning
    try:
        done = act(
            campaign=campaign, tasks=data["tasks"], assessor=data["assessor"], reason=data["reason"], actor=actor
        )
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return ChangeOffer()
    return ChangeOffer(receipt=done) if commits else ChangeOffer(plan=done)


def first_choices(viewer: User, campaign: Campaign, data: QueryDict) -> dict[str, object]:
    """Initial values of a hand-out form: a stage, and the topics that lack it or were chosen.

    `choose` is a button of the matrix (`ticked`, `found`) or of the form itself (`all`, `none`, `lacking`).
    """
    stages = stages_by_topic(viewer, campaign)
    named = data.get("stage", "")
    stage = Stage(named) if named in list(Stage) else next_stage(stages)
    choose = data.get("choose", "lacking")
    kept = {} if choose in ("ticked", "found") else {name: data[name] for name in KEPT if name in data}
    return kept | {
        "stage": stage,
        "topics": _chosen_topics(viewer, campaign, data, choose, lacking(stages, stage)),
    }


def were_ticked_before(data: QueryDict) -> bool:
    """True for topics ticked by hand or in the matrix, so that another stage keeps their ticks."""
    if choose := data.get("choose"):
        return choose in ("ticked", "found")
    return bool(data.get("ticked_before"))


def _chosen_topics(
    viewer: User, campaign: Campaign, data: QueryDict, choose: str, lacking_it: list[str]
) -> list[str]:
    if choose == "ticked":
        return data.getlist("topics")
    if choose == "found":
        search = WorkSearch(viewer, campaign, data)
        return list(search.topics(viewer, campaign).values_list("public_id", flat=True))
    if choose == "all":
        return list(topics_for(viewer, campaign).values_list("public_id", flat=True))
    return [] if choose == "none" else lacking_it


def next_stage(stages: Mapping[str, Collection[Stage]]) -> Stage:
    """Likely next stage: the first in use that a topic lacks.

    Where every stage in use is complete, a stage that judges answers comes before another kind of list.
    """
    used = frozenset().union(*stages.values())
    # Unused stages come last, and of these the ones that judge answers before another kind of list.
    order = sorted(Stage, key=lambda one: (one not in used, one not in used and not one.judges))
    first = order if used else list(Stage)
    return next((one for one in first if lacking(stages, one)), first[0])


def ticked_tasks(viewer: User, campaign: Campaign, data: QueryDict) -> list[str]:
    """Tasks chosen in the matrix: those ticked, or all of its search."""
    if data.get("choose") != "found":
        return data.getlist("tasks")
    search = WorkSearch(viewer, campaign, data)
    wishes, topics = search.wishes, search.topics(viewer, campaign)
    tasks = tasks_for(viewer, campaign).filter(topic__in=topics.order_by()).not_withdrawn()
    if wishes["due"]:
        tasks = tasks.filter(late() if wishes["due"] == LATE else untouched())
    fields = {"state": "state", "assessor": "assessor__username", "stage": "stage"}
    if wishes["state"] in list(TopicState):
        del fields["state"]
    return list(
        tasks.filter(**{field: wishes[name] for name, field in fields.items() if wishes[name]}).values_list(
            "public_id", flat=True
        )
    )
