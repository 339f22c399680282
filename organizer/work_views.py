"""Handed-out work: the matrix, handing out, one task, the inbox."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign, Task
from evaluation.queries import work as work_rows
from evaluation.queries.today import topic_numbers_for
from evaluation.rules.work import Act, can_act
from evaluation.services.handing_out import reassign
from evaluation.services.remarks import answer_remark
from evaluation.services.task_acts import PAST, Change, change_tasks
from evaluation.terms import TaskState
from llmjobs.notices import shown_notices
from organizer import getters, work_acts, work_getters
from organizer.lineage import picture_of
from organizer.work_forms import (
    DONE,
    PRIORITIES,
    AnswerForm,
    ChangeForm,
    HandOutForm,
    InboxSearch,
    TaskForm,
    WorkSearch,
)
from web.text import plural

TOPICS_A_PAGE = 30
REMARKS_A_PAGE = 50


@require_safe
def work(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
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
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    data = request.POST if request.method == "POST" else request.GET
    filled = request.method == "POST" and "choose" not in data
    first = {} if filled else work_acts.first_choices(request.user, campaign, data)
    form = HandOutForm(request.user, campaign, data if filled else None, first)
    offer = work_acts.HandOutOffer()
    if form.is_valid():
        commits = "hand_out" in data
        offer = work_acts.answer_to_hand_out(form, campaign, request.user, commits=commits)
    if offer.receipt:
        messages.success(request, _handed_out(len(offer.receipt.tasks), len(offer.receipt.skipped)))
        return redirect("organizer:work", campaign.slug)
    ticked = work_acts.were_ticked_before(data)
    context = {"campaign": campaign, "form": form, "plan": offer.plan, "ticked_before": ticked}
    return render(request, "organizer/hand_out.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def change_work(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    data = request.POST if request.method == "POST" else request.GET
    filled = request.method == "POST" and "choose" not in data
    ticked = [] if filled else work_acts.ticked_tasks(request.user, campaign, data)
    form = ChangeForm(request.user, campaign, data if filled else None, ticked)
    offer = work_acts.ChangeOffer()
    if form.is_valid():
        offer = work_acts.answer_to_change(form, campaign, request.user, commits="commit" in data)
    if offer.receipt:
        done = DONE[form.cleaned_data["change"]]
        messages.success(request, _changed(done, len(offer.receipt.changed), len(offer.receipt.left)))
        return redirect("organizer:work", campaign.slug)
    context = {"campaign": campaign, "form": form, "plan": offer.plan, "past": PAST}
    return render(request, "organizer/change_work.html", context, status=422 if form.errors else 200)


@require_safe
def task(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, task = work_getters.get_task(request.user, slug, public_id)
    submissions = work_rows.submissions_of(task)
    wanted = request.GET.get("version", "")
    chosen = next((one for one in submissions if str(one.version) == wanted), next(iter(submissions), None))
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
    campaign, task = work_getters.get_task_to_change(request.user, slug, public_id)
    wish = TaskForm(request.POST).wish(change, (task.public_id,))
    change_tasks(campaign=campaign, wish=wish, actor=request.user)
    messages.success(request, f"{DONE[change]}.")
    return redirect("organizer:task", campaign.slug, public_id)


@require_POST
def reassign_task(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, task = work_getters.get_task_to_change(request.user, slug, public_id)
    assessor, reason = request.POST.get("assessor", ""), request.POST.get("reason", "")
    new = reassign(campaign=campaign, task=task.public_id, assessor=assessor, reason=reason, actor=request.user)
    messages.success(
        request, "Reassigned: this is the new, empty task. What was done before is kept and not counted."
    )
    return redirect("organizer:task", campaign.slug, new)


@require_safe
def inbox(request: UserRequest, slug: str) -> HttpResponse:
    """Inbox: unread job notices and remarks."""
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
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
    campaign, remark = work_getters.get_remark_to_answer(request.user, slug, public_id)
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
    others = [one for one in work_rows.assessors_for(request.user, campaign) if one.pk != task.assessor_id]
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
