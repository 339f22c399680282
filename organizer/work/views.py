"""Handed-out work: the matrix, handing out, one task, the inbox."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress import matrix as work_rows
from assessor.progress.matrix import (
    LATE,
    TopicState,
    late,
    may_organize,
    remark_for,
    stages_by_topic,
    task_for,
    tasks_for,
    untouched,
)
from assessor.progress.today import topic_numbers_for
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.models import Campaign, Remark, Task
from evaluation.rules.tasks import Act, can_act
from evaluation.tasks import hand_out as handing_out
from evaluation.tasks.changes import PAST, Change, ChangeReceipt, change_tasks, plan_change
from evaluation.tasks.hand_out import HandOutReceipt, plan_reassigning, reassign, reassign_many
from evaluation.tasks.plan import WorkPlan, plan_hand_out
from evaluation.tasks.remarks import answer_remark
from evaluation.terms import Stage, TaskState
from llmjobs.job_status import shown_notices
from organizer import access as organizer_access
from organizer.access import get_campaign, missing_is_404
from organizer.work.forms import (
    DONE,
    PRIORITIES,
    REASSIGN,
    AnswerForm,
    ChangeForm,
    HandOutForm,
    InboxSearch,
    TaskForm,
    WorkSearch,
    lacking,
)
from organizer.work.lineage import picture_of
from web.text import plural

KEPT = ("assessor", "due", "priority", "again", "drafts", "qrels", "nuggets", "machine", "reason")
"""Fields that keep their values when a button of the hand-out form ticks other topics."""


@dataclass(frozen=True, slots=True)
class HandOutOffer:
    """Result of a filled form: a preview, or a receipt."""

    plan: WorkPlan | None = None
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
            return HandOutOffer(
                receipt=handing_out.hand_out(campaign=campaign, order=form.order, actor=actor, expect=expect)
            )
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
    order = sorted(Stage, key=lambda stage: (stage not in used, stage not in used and not stage.judges))
    first = order if used else list(Stage)
    return next((stage for stage in first if lacking(stages, stage)), first[0])


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


def get_campaign_to_organize(viewer: User, slug: str) -> Campaign:
    """Raises `PermissionDenied` for a viewer who may only look."""
    campaign = get_campaign(viewer, slug)
    if not may_organize(viewer, campaign):
        raise PermissionDenied
    return campaign


def get_task(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Task]:
    campaign = get_campaign(viewer, slug)
    with missing_is_404():
        return campaign, task_for(viewer, campaign, public_id)


def get_task_to_change(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Task]:
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, task_for(viewer, campaign, public_id)


def get_remark_to_answer(viewer: User, slug: str, public_id: str) -> tuple[Campaign, Remark]:
    campaign = get_campaign_to_organize(viewer, slug)
    with missing_is_404():
        return campaign, remark_for(viewer, campaign, public_id)


TOPICS_A_PAGE = 30
REMARKS_A_PAGE = 50


@require_safe
def work(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, organizer_access.get_campaign(request.user, slug)
    search = WorkSearch(viewer, campaign, request.GET)
    found = search.topics(viewer, campaign)
    page = Paginator(found, TOPICS_A_PAGE).get_page(request.GET.get("page"))
    stages = work_rows.stages_shown(viewer, campaign, search.value("stage"))
    context = {
        "campaign": campaign,
        "search": search,
        "page": page,
        "stages": stages,
        "rows": work_rows.matrix_rows(viewer, campaign, page, stages),
        "numbers": topic_numbers_for(viewer, campaign),
        "may_organize": work_rows.may_organize(viewer, campaign),
    }
    return render(request, "organizer/work.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def hand_out_work(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign_to_organize(request.user, slug)
    data = request.POST if request.method == "POST" else request.GET
    filled = request.method == "POST" and "choose" not in data
    first = {} if filled else first_choices(request.user, campaign, data)
    form = HandOutForm(request.user, campaign, data if filled else None, first)
    offer = HandOutOffer()
    if form.is_valid():
        commits = "hand_out" in data
        offer = answer_to_hand_out(form, campaign, request.user, commits=commits)
    if offer.receipt:
        messages.success(request, _handed_out(len(offer.receipt.tasks), len(offer.receipt.skipped)))
        return redirect("organizer:work", campaign.slug)
    ticked = were_ticked_before(data)
    context = {"campaign": campaign, "form": form, "plan": offer.plan, "ticked_before": ticked}
    return render(request, "organizer/hand_out.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def change_work(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign_to_organize(request.user, slug)
    data = request.POST if request.method == "POST" else request.GET
    filled = request.method == "POST" and "choose" not in data
    ticked = [] if filled else ticked_tasks(request.user, campaign, data)
    form = ChangeForm(request.user, campaign, data if filled else None, ticked)
    offer = ChangeOffer()
    if form.is_valid():
        offer = answer_to_change(form, campaign, request.user, commits="commit" in data)
    if offer.receipt:
        done = DONE[form.cleaned_data["change"]]
        messages.success(request, _changed(done, len(offer.receipt.changed), len(offer.receipt.left)))
        return redirect("organizer:work", campaign.slug)
    context = {"campaign": campaign, "form": form, "plan": offer.plan, "past": PAST}
    return render(request, "organizer/change_work.html", context, status=422 if form.errors else 200)


@require_safe
def task(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, task = get_task(request.user, slug, public_id)
    submissions = work_rows.submissions_of(task)
    wanted = request.GET.get("version", "")
    chosen = next(
        (submission for submission in submissions if str(submission.version) == wanted),
        next(iter(submissions), None),
    )
    context = {
        "campaign": campaign,
        "task": task,
        "cell": work_rows.task_cells([task])[0],
        "submissions": submissions,
        "chosen": chosen,
        "picture": picture_of(chosen) if chosen else None,
        "remarks": work_rows.remarks_of(task),
        "history": work_rows.history_of(task),
        **_acts(request, campaign, task),
    }
    return render(request, "organizer/task.html", context)


@require_POST
def change_task(request: UserRequest, slug: str, public_id: str, change: Change) -> HttpResponse:
    campaign, task = get_task_to_change(request.user, slug, public_id)
    wish = TaskForm(request.POST).wish(change, (task.public_id,))
    change_tasks(campaign=campaign, wish=wish, actor=request.user)
    messages.success(request, f"{DONE[change]}.")
    return redirect("organizer:task", campaign.slug, public_id)


@require_POST
def reassign_task(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, task = get_task_to_change(request.user, slug, public_id)
    assessor, reason = request.POST.get("assessor", ""), request.POST.get("reason", "")
    new = reassign(campaign=campaign, task=task.public_id, assessor=assessor, reason=reason, actor=request.user)
    messages.success(
        request, "Reassigned: this is the new, empty task. What was done before is kept and not counted."
    )
    return redirect("organizer:task", campaign.slug, new)


@require_safe
def inbox(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, organizer_access.get_campaign(request.user, slug)
    search = InboxSearch(request.GET)
    answered = search.value("answered") == "True"
    found = work_rows.remarks_for(viewer, campaign, answered=answered, kind=search.value("kind"))
    page = Paginator(found, REMARKS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "notices": shown_notices(viewer, campaign),
        "search": search,
        "answered": answered,
        "page": page,
        "may_organize": work_rows.may_organize(viewer, campaign),
    }
    return render(request, "organizer/inbox.html", context)


@require_POST
def answer(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, remark = get_remark_to_answer(request.user, slug, public_id)
    form = AnswerForm(request.POST)
    answer = form.cleaned_data["answer"] if form.is_valid() else request.POST.get("answer", "")
    answer_remark(campaign=campaign, remark=remark.public_id, answer=answer, actor=request.user)
    messages.success(request, "Answered: the assessor reads it beside the task.")
    if request.POST.get("back") == "task":
        return redirect("organizer:task", campaign.slug, remark.task.public_id)
    return redirect("organizer:inbox", campaign.slug)


def _acts(request: UserRequest, campaign: Campaign, task: Task) -> dict[str, Any]:
    """Changes that the viewer may make to a task now."""
    if not work_rows.may_organize(request.user, campaign):
        return {"may": {}}
    state = TaskState(task.state)
    others = [
        assessor for assessor in work_rows.assessors_for(request.user, campaign) if assessor.pk != task.assessor_id
    ]
    return {
        "may": {
            **{act.value: can_act(act, state) for act in (Act.REOPEN, Act.BLOCK, Act.UNBLOCK, Act.WITHDRAW)},
            "reschedule": state not in (TaskState.SUBMITTED, TaskState.WITHDRAWN),
            "answer": True,
        },
        "others": others,
        "priorities": PRIORITIES,
    }


def _handed_out(tasks: int, skipped: int) -> str:
    text = f"Handed out: {tasks:,} {plural(tasks, 'task')}."
    return f"{text} {skipped:,} {plural(skipped, 'topic')} left out." if skipped else text


def _changed(done: str, changed: int, left: int) -> str:
    text = f"{done}: {changed:,} {plural(changed, 'task')}."
    return f"{text} {left:,} {plural(left, 'task')} left as before." if left else text
