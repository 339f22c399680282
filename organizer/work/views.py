"""Handed-out work: the matrix, handing out, changing many tasks at once, the inbox."""

from collections.abc import Collection, Mapping, Sized
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress import matrix as work_rows
from assessor.progress.matrix import IDLE, LATE, late, remark_for, stages_by_topic, tasks_for, untouched
from evaluation.campaigns.access import may_organize
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.models import Campaign, Task
from evaluation.models.querysets import TaskQuerySet
from evaluation.stages import POST_EDIT, STAGES, Stage, stage_of
from evaluation.tasks import changes
from evaluation.tasks.changes import ChangeReceipt, TaskChange, change_tasks, plan_change
from evaluation.tasks.hand_out import hand_out, plan_reassigning, reassign_many
from evaluation.tasks.plan import plan_hand_out
from evaluation.tasks.remarks import answer_remark
from evaluation.terms import TaskState
from jobs.models import Notice
from llmjobs.job_status import shown_notices
from llmjobs.taken_drafts import sets_to_take, take_drafts
from organizer.access import get_campaign, get_row
from organizer.forms import page_of, refusals_on
from organizer.today.acts import HAND_OUT_INPUTS
from organizer.work.forms import (
    DONE,
    PRIORITIES,
    REASSIGN,
    AnswerForm,
    ChangeForm,
    HandOutForm,
    InboxSearch,
    ProposalForm,
    UndoForm,
    WorkSearch,
    lacking,
)
from web.text import plural, trimmed

TOPICS_A_PAGE = 30
REMARKS_A_PAGE = 50
ANSWERED_LATELY = 5
CHOSEN_IN_MATRIX = ("ticked", "found")


def first_choices(viewer: User, campaign: Campaign, data: QueryDict) -> dict[str, object]:
    """Values that a hand-out form begins with: a stage, and the topics that lack it or were chosen.

    `choose` is a button of the matrix (`ticked`, `found`) or of the form itself (`all`, `none`, `lacking`), which keeps
    what its other fields say.
    """
    stages = stages_by_topic(viewer, campaign)
    code = data.get("stage", "")
    stage = stage_of(code) if code in list(STAGES.values()) else next_stage(stages)
    choose = data.get("choose", "lacking")
    names = (*HAND_OUT_INPUTS, "again", "battles") if choose in CHOSEN_IN_MATRIX else data
    kept = {name: data[name] for name in names if name in data}
    topics = _chosen_topics(viewer, campaign, data, choose, lacking(stages, stage))
    return {"priority": PRIORITIES[0][0], **kept, "stage": stage, "topics": topics}


def were_ticked_before(data: QueryDict) -> bool:
    """True for topics ticked by hand or in the matrix, so that another stage keeps their ticks."""
    if choose := data.get("choose"):
        return choose in CHOSEN_IN_MATRIX
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
    order = sorted(STAGES.values(), key=lambda stage: (stage not in used, stage not in used and not stage.judges))
    first = order if used else list(STAGES.values())
    return next((stage for stage in first if lacking(stages, stage)), first[0])


def ticked_tasks(viewer: User, campaign: Campaign, data: QueryDict) -> list[str]:
    """Tasks chosen in the matrix: those ticked with those of the ticked topics, or all of its search."""
    search = WorkSearch(viewer, campaign, data)
    tasks = _fitting(tasks_for(viewer, campaign).not_withdrawn(), search.filters)
    if data.get("choose") == "found":
        topics = search.topics(viewer, campaign)
        return list(tasks.filter(topic__in=topics.order_by()).values_list("public_id", flat=True))
    of_topics = tasks.filter(topic__public_id__in=data.getlist("topics")).values_list("public_id", flat=True)
    return [*data.getlist("tasks"), *of_topics]


def _fitting(tasks: TaskQuerySet[Task], filters: Mapping[str, str]) -> TaskQuerySet[Task]:
    state = filters["state"]
    if state in (LATE, IDLE):
        tasks = tasks.filter(late() if state == LATE else untouched())
    # A state of topics chooses topics, and all of their tasks.
    fields = {"stage": filters["stage"], "assessor__username": filters["assessor"]}
    fields["state"] = state if state in list(TaskState) else ""
    return tasks.filter(**{field: value for field, value in fields.items() if value})


@require_safe
def work(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    if card := request.GET.get("card"):
        return _card(request, campaign, card)
    search = WorkSearch(viewer, campaign, request.GET)
    topics = search.topics(viewer, campaign)
    page = page_of(request, topics, TOPICS_A_PAGE)
    stages = work_rows.stages_shown(viewer, campaign, search.value("stage"))
    numbers = work_rows.topic_numbers_for(viewer, campaign)
    handed = tasks_for(viewer, campaign).not_withdrawn().filter(public_id=request.GET.get("handed", ""))
    context = {
        "campaign": campaign,
        "search": search,
        "page": page,
        "stages": stages,
        "rows": work_rows.matrix_rows(viewer, campaign, page, stages),
        "numbers": numbers,
        "topics": sum(numbers.values()),
        "handed": handed.first(),
        "may_organize": may_organize(viewer, campaign),
    }
    return render(request, "organizer/work.html", context)


def _card(request: UserRequest, campaign: Campaign, public_id: str) -> HttpResponse:
    task = get_object_or_404(tasks_for(request.user, campaign).not_withdrawn(), public_id=public_id)
    [cell] = work_rows.task_cells([task])
    context = {"campaign": campaign, "cell": cell, "may_organize": may_organize(request.user, campaign)}
    return render(request, "organizer/work.html#card", context)


@require_POST
def hand_out_proposed(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form, handed = ProposalForm(request.POST), ""
    if form.is_valid():
        with refusals_on(form):
            [handed] = hand_out(campaign=campaign, order=form.order, actor=request.user).tasks
    return _back_to_matrix(request, campaign, form, handed)


@require_POST
def undo_hand_out(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = UndoForm(request.POST)
    if form.is_valid():
        with refusals_on(form):
            task = changes.undo_hand_out(campaign=campaign, task=form.cleaned_data["task"], actor=request.user)
            what = f"{task.topic.topic_id}, {task.stage.words}"
            messages.success(request, f"Undone: {task.assessor.name} does not have {what}.")
    return _back_to_matrix(request, campaign, form)


def _back_to_matrix(
    request: UserRequest, campaign: Campaign, form: ProposalForm | UndoForm, handed: str = ""
) -> HttpResponse:
    for errors in form.errors.values():
        messages.warning(request, " ".join(str(error) for error in errors))
    search = WorkSearch(request.user, campaign, request.GET)
    query = urlencode({name: value for name, value in {**search.filters, "handed": handed}.items() if value})
    return redirect(f"{reverse('organizer:work', args=[campaign.slug])}?{query}")


@require_http_methods(["GET", "HEAD", "POST"])
def hand_out_work(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    data = request.POST if request.method == "POST" else request.GET
    # A button that ticks other topics sends the form too, and must not act.
    filled = request.method == "POST" and "choose" not in data
    if filled and "take_drafts" in data:
        taken = take_drafts(campaign=campaign, nuggets=data["take_drafts"], actor=request.user)
        messages.success(request, str(taken))
    form = HandOutForm(request.user, campaign, data if filled else first_choices(request.user, campaign, data))
    plan = None
    if form.is_valid():
        expect = form.cleaned_data["expect"]
        try:
            if filled and "hand_out" in data and expect:
                receipt = hand_out(campaign=campaign, order=form.order, actor=request.user, expect=expect)
                text = _counts("Handed out", "task", receipt.tasks, "topic", receipt.skipped, "out")
                messages.success(request, text)
                return redirect("organizer:work", campaign.slug)
            plan = plan_hand_out(campaign, form.order)
        except Refused as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, refusal.message)
            # Only a plan that was shown is handed out: after a change in between, the new one is shown instead.
            plan = plan_hand_out(campaign, form.order) if refusal.code == "changed" else None
    # The page's own script replaces the preview alone, and htmx shows no answer that is an error.
    fails = bool(form.errors) and filled and not request.htmx
    from_matrix = data.get("stage") and data.get("choose") in CHOSEN_IN_MATRIX
    context = {
        "campaign": campaign,
        "form": form,
        "plan": plan,
        "fails": fails,
        "to_take": sets_to_take(campaign) if form["stage"].value() == POST_EDIT else [],
        "folded": plan and plan.given and (filled or from_matrix),
        "ticked_before": were_ticked_before(data),
    }
    return render(request, "organizer/hand_out.html", context, status=422 if fails else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def change_work(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    data = request.POST if request.method == "POST" else request.GET
    filled = request.method == "POST" and "choose" not in data
    ticked = [] if filled else ticked_tasks(request.user, campaign, data)
    form = ChangeForm(request.user, campaign, data if filled else None, ticked, data.get("change", ""))
    receipt: ChangeReceipt | None = None
    commits = "commit" in data
    if form.is_valid():
        # Read before a refusal: a form with an error has no order any more.
        order = None if form.cleaned_data["change"] == REASSIGN else form.order_of_all
        with refusals_on(form):
            receipt = _changed(form, order, campaign, request.user, commits=commits)
        if form.errors and order:
            # A refused change is shown as what it would do now, under the reason.
            receipt = plan_change(campaign, order)
        elif receipt and commits:
            done = DONE[form.cleaned_data["change"]]
            messages.success(request, _counts(done, "task", receipt.changed, "task", receipt.left, "as before"))
            return redirect("organizer:work", campaign.slug)
    context = {"campaign": campaign, "form": form, "plan": receipt}
    return render(request, "organizer/change_work.html", context, status=422 if form.errors else 200)


@require_safe
def inbox(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    search = InboxSearch(request.GET)
    answered = search.value("answered") == "True"
    remarks = work_rows.remarks_for(viewer, campaign, answered=answered, kind=search.value("kind"))
    page = page_of(request, remarks, REMARKS_A_PAGE)
    notices = shown_notices(viewer, campaign)
    failed = sum(shown.notice.kind != Notice.Kind.DONE or shown.progress.failed > 0 for shown in notices)
    context = {
        "campaign": campaign,
        "notices": notices,
        "news": {"done": len(notices) - failed, "failed": failed},
        "search": search,
        "answered": answered,
        "lately": [] if answered else work_rows.remarks_for(viewer, campaign, answered=True)[:ANSWERED_LATELY],
        "page": page,
        "may_organize": may_organize(viewer, campaign),
    }
    return render(request, "organizer/inbox.html", context)


@require_POST
def answer(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, remark = get_row(request.user, slug, remark_for, public_id, may_organize)
    form = AnswerForm(request.POST)
    answer = form.cleaned_data["answer"] if form.is_valid() else request.POST.get("answer", "")
    answer_remark(campaign=campaign, remark=remark.public_id, answer=answer, actor=request.user)
    messages.success(request, "Answered: the assessor reads it beside the task." if trimmed(answer) else "Read.")
    back = request.POST.get("back")
    if back == "task":
        return redirect("organizer:task", campaign.slug, remark.task.public_id)
    return redirect("organizer:today" if back == "today" else "organizer:inbox", campaign.slug)


def _changed(
    form: ChangeForm, order: TaskChange | None, campaign: Campaign, actor: User, *, commits: bool
) -> ChangeReceipt:
    """Receipt of a change, or its preview. Without an order the tasks are reassigned."""
    if order is None:
        act = reassign_many if commits else plan_reassigning
        fields = {name: form.cleaned_data[name] for name in ("tasks", "assessor", "reason")}
        return act(campaign=campaign, actor=actor, **fields)
    return change_tasks(campaign=campaign, order=order, actor=actor) if commits else plan_change(campaign, order)


def _counts(done: str, noun: str, changed: Sized, left_noun: str, left: Sized, how: str) -> str:
    text = f"{done}: {len(changed):,} {plural(len(changed), noun)}."
    return f"{text} {len(left):,} {plural(len(left), left_noun)} left {how}." if left else text
