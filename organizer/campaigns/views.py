"""The organizer's pages of a campaign: topics, runs, segments, findings."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.blind.passages import topic_head
from evaluation.append_only import missing_triggers
from evaluation.campaigns import contents as campaigns_contents
from evaluation.campaigns import contents as finding_rows
from evaluation.campaigns.access import campaigns_for, unblinded
from evaluation.campaigns.contents import LabelCount, SetCount
from evaluation.campaigns.create import CampaignFile, read_campaign_file, start_campaign
from evaluation.corpus import answers as corpus_answers
from evaluation.corpus import label_grid
from evaluation.corpus import runs as run_rows
from evaluation.corpus import topics as topic_rows
from evaluation.domain.conditions import NuggetCondition, resolve
from evaluation.errors import Refused
from evaluation.models import Campaign, Membership, Run, Topic
from evaluation.terms import Condition, JudgeKind, Role
from jobs.health import QueueState, queue_state
from organizer import access as organizer_access
from organizer.forms import AnswerSearch, FindingSearch, GridSearch, RunSearch, TopicSearch
from reports.agreement.figures import table_of
from reports.cache import cached_report
from reports.forms import BoardForm
from reports.leaderboard.scores import PRIMARY, Leaderboard, leaderboard, number
from reports.metrics.arrays import Floats
from reports.metrics.policies import Policies
from web import audit_log


@dataclass(frozen=True, slots=True)
class Board:
    """A form and its leaderboard; without one, `message` says why."""

    form: BoardForm
    board: Leaderboard | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class RunTable:
    """A run's primary score under each condition that has labels: by topic id, and each mean with its topics."""

    choices: tuple[NuggetCondition, ...]
    by_topic: dict[str, tuple[float | None, ...]]
    means: tuple[tuple[float | None, int], ...]


def labelled_conditions(sets: list[SetCount], labels: list[LabelCount]) -> list[Condition]:
    origins = {nugget_set.name: nugget_set.origin for nugget_set in sets}
    kinds = {(origins.get(label.of), JudgeKind.LLM if label.machine else JudgeKind.HUMAN) for label in labels}
    return [condition for condition in Condition if (condition.origin, condition.judge_kind) in kinds]


def board_for(campaign: Campaign, query: QueryDict, sets: list[SetCount], labels: list[LabelCount]) -> Board:
    there = labelled_conditions(sets, labels)
    form = BoardForm(
        query,
        sets=[nugget_set.name for nugget_set in sets if nugget_set.origin != "draft"],
        judges=sorted({label.judge for label in labels}),
        defaults={"condition": there[0] if there else Condition.AA},
    )
    if not form.is_valid():
        return Board(form, None, "This is not a choice of this campaign. See the form.")
    try:
        choice = resolve(
            campaign, form.chosen_condition, judge=form.chosen["judge"], nuggets=form.chosen["nuggets"]
        )
    except Refused as refused:
        return Board(form, None, refused.message)
    return Board(form, _leaderboard(choice, form.policies))


@cached_report(size=64)
def _leaderboard(choice: NuggetCondition, policies: Policies) -> Leaderboard:
    return leaderboard(choice, policies)


def scores_of_run(campaign: Campaign, run: Run) -> RunTable:
    choices = tuple(filter(None, (_judged(campaign, condition) for condition in Condition)))
    tables = [table_of(choice, PRIMARY, Policies()) for choice in choices]
    columns = [table.values[:, table.run_ids.index(run.run_id)] for table in tables]
    topics = tables[0].topic_ids if tables else ()
    rows = zip(*columns, strict=True)
    by_topic = {topic: tuple(number(value) for value in row) for topic, row in zip(topics, rows, strict=False)}
    return RunTable(choices, by_topic, tuple(_mean(column) for column in columns))


def _judged(campaign: Campaign, condition: Condition) -> NuggetCondition | None:
    try:
        choice = resolve(campaign, condition)
    except Refused:
        return None
    return choice if choice.judges else None


def _mean(values: Floats) -> tuple[float | None, int]:
    known = values[~np.isnan(values)]
    return (float(known.mean()) if len(known) else None), len(known)


LATE = 600.0  # seconds


@dataclass(frozen=True, slots=True)
class SystemPart:
    """A part of the installation. `well`: nobody has to act."""

    name: str
    text: str
    well: bool


def system_state() -> list[SystemPart]:
    queue = queue_state()
    return [*_queue(queue), _workers(queue), _audit_log(), _append_only()]


def _queue(queue: QueueState) -> Iterator[SystemPart]:
    lag = queue.oldest_due_seconds or 0.0
    ended = queue.last_ended_seconds if queue.last_ended_seconds is not None else LATE + 1
    text = f"{queue.due:,} due, the oldest for {_time(lag)}" if queue.due else "0 due"
    yield SystemPart("LLM queue", text, not queue.due or min(lag, ended) < LATE)
    if queue.failed:
        failed = f"{queue.failed:,}, of all jobs"
        yield SystemPart("Failed items", failed, True)


def _workers(queue: QueueState) -> SystemPart:
    beat = queue.newest_heartbeat_seconds
    text = f"{queue.workers} alive" if beat is None else f"{queue.workers} alive, seen {_time(beat)} ago"
    return SystemPart("Workers", text, bool(queue.workers) or not queue.due)


def _audit_log() -> SystemPart:
    try:
        audit_log.ensure_writable()
    except audit_log.AuditUnwritableError as error:
        return SystemPart("Audit log", str(error), False)
    return SystemPart("Audit log", "can be written", True)


def _append_only() -> SystemPart:
    missing = missing_triggers()
    text = "append-only"
    if missing:
        text = f"can be changed: {', '.join(missing)}"
    return SystemPart("Events and operations", text, not missing)


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


TOPICS_A_PAGE = 50
RUNS_A_PAGE = 50
FINDINGS_A_PAGE = 100
SEGMENTS_A_PAGE = 25
ANSWERS_A_PAGE = 6
FINDINGS_ON_RUN = 8


@require_safe
def campaigns(request: UserRequest) -> HttpResponse:
    """Campaigns of the viewer; pure assessors are redirected to their tasks."""
    cards = campaigns_for(request.user)
    if cards and not any(card.unblinded for card in cards):
        return redirect("assessor:home")
    state = system_state() if request.user.is_superuser else []
    return render(request, "organizer/campaigns.html", {"cards": cards, "state": state})


@require_safe
def campaign(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, organizer_access.get_campaign(request.user, slug)
    sets = campaigns_contents.nugget_sets_for(viewer, campaign)
    labels = campaigns_contents.assignment_counts_for(viewer, campaign)
    context = {
        "campaign": campaign,
        "holdings": campaigns_contents.holdings_for(viewer, campaign),
        "sources": campaigns_contents.sources_for(viewer, campaign),
        "sets": sets,
        "labels": labels,
        "support": campaigns_contents.support_counts_for(viewer, campaign),
        "findings": campaigns_contents.findings_by_code_for(viewer, campaign),
        "imports": campaigns_contents.imports_for(viewer, campaign),
        "chosen": board_for(campaign, request.GET, sets, labels),
        "run_pks": dict(campaign.runs.values_list("run_id", "pk")),
    }
    return render(request, "organizer/campaign.html", context)


@require_safe
def topics(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, organizer_access.get_campaign(request.user, slug)
    search = TopicSearch(request.GET)
    rows = topic_rows.topics_for(viewer, campaign, search.value("words"), search.value("tag"))
    page = _page(request, rows, TOPICS_A_PAGE)
    context = {
        "campaign": campaign,
        "search": search,
        "tags": topic_rows.tags_for(viewer, campaign),
        "page": page,
        "rows": topic_rows.topic_rows(page),
    }
    return render(request, "organizer/topics.html", context)


@require_safe
def topic(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    viewer = request.user
    campaign, topic = organizer_access.get_topic(viewer, slug, public_id)
    sources = [source.name for source in campaign.qrel_sources.all()]
    graded = _page(request, topic_rows.graded_pks_of(viewer, campaign, topic), SEGMENTS_A_PAGE, "segments")
    given = _page(request, corpus_answers.answers_of_topic(viewer, campaign, topic), ANSWERS_A_PAGE, "answers")
    context = {
        "campaign": campaign,
        "topic": topic,
        "head": topic_head(campaign, topic),
        "neighbours": topic_rows.neighbours_of(viewer, campaign, topic),
        "sources": sources,
        "graded": graded,
        "segments": topic_rows.graded_segments(topic, [pk for pk, _ in graded], sources),
        "lists": topic_rows.nugget_lists_of(viewer, campaign, topic),
        "given": given,
        "answers": corpus_answers.shown_answers(given),
        "unanswered": corpus_answers.runs_without_answer(viewer, campaign, topic),
        **_grid(request, campaign, topic),
    }
    return render(request, "organizer/topic.html", context)


@require_safe
def runs(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, organizer_access.get_campaign(request.user, slug)
    search = RunSearch(request.GET)
    rows = run_rows.runs_for(viewer, campaign, search.value("words"), search.value("task"))
    page = _page(request, rows, RUNS_A_PAGE)
    context = {"campaign": campaign, "search": search, "page": page, "rows": run_rows.run_rows(campaign, page)}
    return render(request, "organizer/runs.html", context)


@require_safe
def run(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    viewer = request.user
    campaign, run = organizer_access.get_run(viewer, slug, pk)
    answered = run_rows.answered_topics(viewer, campaign, run)
    wanted = AnswerSearch(request.GET).value("topic")
    given = corpus_answers.answer_of_run(
        viewer, campaign, run, wanted or next((remark.public_id for remark in answered), "")
    )
    context = {
        "campaign": campaign,
        "run": run,
        "findings": finding_rows.findings_for(viewer, campaign, run_id=run.run_id)[:FINDINGS_ON_RUN],
        "rows": answered,
        "scores": scores_of_run(campaign, run),
        "wanted": wanted,
        "answer": next(iter(corpus_answers.shown_answers([given])), None) if given else None,
        "sheets": label_grid.sheets_of(viewer, campaign, given) if given else [],
    }
    return render(request, "organizer/run.html", context)


@require_safe
def segment(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, segment = organizer_access.get_segment(request.user, slug, public_id)
    return render(request, "organizer/segment.html", {"campaign": campaign, "segment": segment})


@require_safe
def findings(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, organizer_access.get_campaign(request.user, slug)
    search = FindingSearch(request.GET)
    rows = finding_rows.findings_for(viewer, campaign, search.value("code"), search.value("run"))
    page = _page(request, rows, FINDINGS_A_PAGE)
    context = {
        "campaign": campaign,
        "search": search,
        "page": page,
        "segments": finding_rows.segments_named_by(viewer, campaign, page),
    }
    return render(request, "organizer/findings.html", context)


def _page(request: UserRequest, rows: QuerySet[Any, Any], size: int, parameter: str = "page") -> Page[Any]:
    return Paginator(rows, size).get_page(request.GET.get(parameter))


def _grid(request: UserRequest, campaign: Campaign, topic: Topic) -> dict[str, Any]:
    """The labels of the judging that the query string names, else of the first one."""
    judgings = label_grid.judgings_of(request.user, campaign, topic)
    wanted = GridSearch(request.GET).value("labels")
    chosen = next((judging for judging in judgings if judging.key == wanted), next(iter(judgings), None))
    grid = label_grid.grid_of(request.user, campaign, topic, chosen) if chosen else None
    return {"judgings": judgings, "grid": grid}


FIRST_PAGES = {
    Role.ORGANIZER: "organizer:today",
    Role.AUDITOR: "organizer:audit",
    Role.RESEARCHER: "organizer:catalogue",
}
"""By role, of somebody who has several in a campaign the first."""


def landing_for(user: User) -> str:
    """Address of the only campaign's first page; with several campaigns that of their list."""
    if user.is_superuser:
        return reverse("organizer:campaigns")
    mine = list(Membership.objects.filter(user=user).values_list("campaign__slug", "role"))
    if mine and all(role == Role.ASSESSOR for _, role in mine):
        return reverse("assessor:home")
    slugs = {slug for slug, _ in mine}
    open_ones = unblinded(user).filter(slug__in=slugs).values_list("slug", flat=True)
    if len(slugs) != 1 or slugs != set(open_ones):
        return reverse("organizer:campaigns")
    roles = {role for _, role in mine}
    page = next(name for role, name in FIRST_PAGES.items() if role in roles)
    return reverse(page, args=[*slugs])


@require_safe
@never_cache
def landing(request: UserRequest) -> HttpResponse:
    return redirect(landing_for(request.user))


ADDRESSES = ("new",)
"""Names that are an address already."""


class NewCampaignForm(forms.Form):
    """Its short name, name and description, and a file with its settings."""

    slug = forms.SlugField(max_length=60, label="Short name", help_text="It stands in addresses and commands.")
    name = forms.CharField(max_length=200, label="Name")
    description = forms.CharField(
        max_length=5000, required=False, label="Description", widget=forms.Textarea({"rows": 3})
    )
    settings = forms.FileField(required=False, label="Settings, a TOML file")

    def clean_slug(self) -> str:
        """Refuse a taken short name, even one of a campaign that the viewer cannot see."""
        slug = str(self.cleaned_data["slug"])
        if slug in ADDRESSES or Campaign.objects.filter(slug=slug).exists():
            raise forms.ValidationError("This short name is taken. Choose another one.")
        return slug

    def made_by(self, actor: User) -> Campaign | None:
        """New campaign; errors in its file become errors of the form."""
        if not self.is_valid():
            return None
        try:
            values = self.cleaned_data
            campaign, _ = start_campaign(slug=values["slug"], name=values["name"], file=self._file(), actor=actor)
        except Refused as refusal:
            self.add_error(None, [*refusal.message.splitlines()])
            return None
        return campaign

    def _file(self) -> CampaignFile:
        values = self.cleaned_data
        sent = values["settings"]
        file = read_campaign_file(sent, sent.name) if sent else CampaignFile()
        description = values["description"] or file.description
        # The fields of the form win over the file.
        return file.model_copy(update={"name": values["name"], "description": description})


@require_http_methods(["GET", "HEAD", "POST"])
def new_campaign(request: UserRequest) -> HttpResponse:
    if not request.user.is_superuser:
        raise PermissionDenied
    form = NewCampaignForm(request.POST, request.FILES) if request.method == "POST" else NewCampaignForm()
    made = form.made_by(request.user) if form.is_bound else None
    if made:
        messages.success(request, f"{made.name} is made, and you organize it. Next: its topics.")
        return redirect("organizer:data", made.slug)
    return render(request, "organizer/new_campaign.html", {"form": form}, status=422 if form.errors else 200)
