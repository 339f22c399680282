"""What organizers do to handed-out work: look what an act would do, and do it."""

from dataclasses import dataclass

from django.http import QueryDict

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.queries.work import LATE, late, tasks_for, untouched
from evaluation.services.handing_out import HandOutReceipt, hand_out
from evaluation.services.reassigning import plan_reassigning, reassign_many
from evaluation.services.task_acts import Change, ChangeReceipt, change_tasks, plan_change
from evaluation.services.work_plan import Plan, plan_hand_out
from evaluation.terms import TaskState
from organizer.work_forms import REASSIGN, ChangeForm, HandOutForm, WorkSearch
from web.shown import shown


@dataclass(frozen=True, slots=True)
class Offer:
    """What came of a filled form: what it would do, or what was done."""

    plan: Plan | None = None
    receipt: HandOutReceipt | None = None


@dataclass(frozen=True, slots=True)
class ChangeOffer:
    """The same for changes of tasks."""

    plan: ChangeReceipt | None = None
    receipt: ChangeReceipt | None = None


def answer_to_hand_out(form: HandOutForm, campaign: Campaign, actor: User, *, commits: bool) -> Offer:
    """Hand out what the form asks for, or say what that would do; a refusal becomes an error of the form.

    Only what was shown is handed out: where something has changed since, that is shown instead.
    """
    expect = form.cleaned_data["expect"]
    try:
        if commits and expect:
            return Offer(receipt=hand_out(campaign=campaign, order=form.order, actor=actor, expect=expect))
        return Offer(plan=plan_hand_out(campaign, form.order))
    except Refused as refusal:
        form.add_error(None, shown(refusal.message))
        return Offer(plan=plan_hand_out(campaign, form.order) if refusal.code == "changed" else None)


def answer_to_change(form: ChangeForm, campaign: Campaign, actor: User, *, commits: bool) -> ChangeOffer:
    """Change the tasks as the form asks, or say what that would do; a refusal becomes an error of the form."""
    said = form.cleaned_data
    if said["change"] == REASSIGN:
        return _answer_to_reassign(form, campaign, actor, commits=commits)
    wish = form.wish(Change(said["change"]), tuple(said["tasks"]))
    try:
        if commits:
            return ChangeOffer(receipt=change_tasks(campaign=campaign, wish=wish, actor=actor))
    except Refused as refusal:
        form.add_error(None, shown(refusal.message))
    return ChangeOffer(plan=plan_change(campaign, wish))


def _answer_to_reassign(form: ChangeForm, campaign: Campaign, actor: User, *, commits: bool) -> ChangeOffer:
    said = form.cleaned_data
    act = reassign_many if commits else plan_reassigning
    try:
        done = act(
            campaign=campaign, tasks=said["tasks"], assessor=said["assessor"], reason=said["reason"], actor=actor
        )
    except Refused as refusal:
        form.add_error(None, shown(refusal.message))
        return ChangeOffer()
    return ChangeOffer(receipt=done) if commits else ChangeOffer(plan=done)


def ticked_topics(viewer: User, campaign: Campaign, said: QueryDict) -> list[str]:
    """Return the topics chosen in the matrix: those ticked, or all that its search found."""
    if said.get("choose") != "found":
        return said.getlist("topics")
    search = WorkSearch(viewer, campaign, said)
    return list(search.topics(viewer, campaign).values_list("public_id", flat=True))


def ticked_tasks(viewer: User, campaign: Campaign, said: QueryDict) -> list[str]:
    """Return the tasks chosen in the matrix: those ticked, or all that its search found."""
    if said.get("choose") != "found":
        return said.getlist("tasks")
    search = WorkSearch(viewer, campaign, said)
    wishes, topics = search.wishes, search.topics(viewer, campaign)
    tasks = tasks_for(viewer, campaign).filter(topic__in=topics.order_by()).exclude(state=TaskState.WITHDRAWN)
    if wishes["due"]:
        tasks = tasks.filter(late() if wishes["due"] == LATE else untouched())
    fields = {"state": "state", "assessor": "assessor__username", "stage": "stage"}
    return list(
        tasks.filter(**{field: wishes[name] for name, field in fields.items() if wishes[name]}).values_list(
            "public_id", flat=True
        )
    )
