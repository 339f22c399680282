"""The organizer's pages of a campaign: topics, runs, segments, findings, and what of it programs may read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.blind.passages import topic_head
from evaluation.append_only import missing_triggers
from evaluation.campaigns import contents
from evaluation.campaigns.access import campaigns_for, may_organize, unblinded, within
from evaluation.campaigns.create import (
    PRESETS,
    BattleSettings,
    CampaignFile,
    ProtocolSettings,
    preset_of,
    read_campaign_file,
    start_campaign,
)
from evaluation.campaigns.findings import findings_for, kinds_of_findings, segments_named_by
from evaluation.campaigns.protocol import settings_of
from evaluation.corpus import answers as corpus_answers
from evaluation.corpus import label_grid
from evaluation.corpus import runs as run_rows
from evaluation.corpus import topics as topic_rows
from evaluation.domain.conditions import NuggetCondition, readings, told_apart
from evaluation.formats.languages import EXPECTED, normalised
from evaluation.models import AnswerProvenance, Campaign, Membership, Run, Task, Topic
from evaluation.terms import Condition, FindingCode, RagTask, Role
from exchange.deletion import delete_campaign
from exchange.demo_campaign import load_sample
from exchange.models import Snapshot
from exchange.snapshots.upgrades import current_form
from jobs.health import queue_state
from organizer.access import get_campaign, get_row
from organizer.forms import ListSearch, choice_field, named, page_of, posted, refusals_on
from reports.agreement.figures import table_of
from reports.metrics.arrays import Floats, defined
from reports.metrics.registry import BY_NAME, primary_of
from reports.profiles import usual_policies
from web import audit_log
from web.fields import TextField
from web.words import word_of

TOPICS_A_PAGE, RUNS_A_PAGE, FINDINGS_A_PAGE = 50, 50, 100
SEGMENTS_A_PAGE, ANSWERS_A_PAGE = 25, 6
LATE = 600.0
"""Seconds. Readiness calls a queue stalled after as long (config/monitoring.py)."""
API_VERSION = "1"
ADDRESSES = ("new",)
"""Names that are an address already."""
FIRST_PAGES = {
    Role.ORGANIZER: "organizer:today",
    Role.AUDITOR: "organizer:audit",
    Role.RESEARCHER: "organizer:exports",
}
"""By role, of somebody who has several in a campaign the first."""


class TopicSearch(ListSearch):
    tag = TextField(required=False, max_length=100, label="Tag")


class RunSearch(ListSearch):
    task = choice_field("Task", "any task", named(RagTask))


class FindingSearch(ListSearch):
    code = choice_field("Kind", "any kind", [(code, word_of(code)) for code in FindingCode])
    run = TextField(required=False, max_length=200, label="Run")


class AnswerSearch(ListSearch):
    """Answer of a run to read. A form, because it refuses a NUL, which no database takes."""

    topic = TextField(required=False, max_length=16, label="Topic")
    answer = TextField(required=False, max_length=16, label="Answer")


@dataclass(frozen=True, slots=True)
class RunTable:
    """A run's primary score under each condition that has labels: by topic id, and each mean with its topics."""

    words: str
    choices: tuple[tuple[NuggetCondition, str], ...]
    by_topic: dict[str, tuple[float | None, ...]]
    means: tuple[tuple[float | None, int], ...]


def scores_of_run(campaign: Campaign, run: Run) -> RunTable:
    choices = tuple(judged_conditions(campaign))
    policies = usual_policies(campaign)
    score = BY_NAME[primary_of(policies.profile)]
    tables = [table_of(choice, score.name, policies) for choice in choices]
    columns = [table.values[:, table.run_ids.index(run.run_id)] for table in tables]
    topics = tables[0].topic_ids if tables else ()
    rows = zip(*columns, strict=True)
    by_topic = {topic: tuple(map(defined, row)) for topic, row in zip(topics, rows, strict=False)}
    return RunTable(score.words, tuple(told_apart(choices)), by_topic, tuple(_mean(column) for column in columns))


def judged_conditions(campaign: Campaign) -> Iterator[NuggetCondition]:
    """Yield each condition that has labels, once for each judge where several fit and the campaign names none."""
    readings_of_all = (reading for condition in Condition for reading in readings(campaign, condition))
    return (reading for reading in readings_of_all if reading.judges)


def _mean(values: Floats) -> tuple[float | None, int]:
    numbers = values[~np.isnan(values)]
    return (float(numbers.mean()) if len(numbers) else None), len(numbers)


def system_state() -> Iterator[tuple[str, str, bool]]:
    """Yield each part of the installation, its state in words, and whether nobody has to act."""
    queue = queue_state()
    lag = queue.oldest_due_seconds or 0.0
    ended = queue.last_ended_seconds if queue.last_ended_seconds is not None else LATE + 1
    text = f"{queue.due:,} due, the oldest for {_time(lag)}" if queue.due else "0 due"
    # A long queue is well while its items end, however long ago the oldest was put there.
    yield "LLM queue", text, not queue.due or min(lag, ended) < LATE
    if queue.failed:
        # A job's page shows its failures, and nobody has to act for the installation.
        yield "Failed items", f"{queue.failed:,}, of all jobs", True
    beat = queue.newest_heartbeat_seconds
    seen = "" if beat is None else f", seen {_time(beat)} ago"
    yield "Workers", f"{queue.workers} alive{seen}", bool(queue.workers) or not queue.due
    try:
        audit_log.ensure_writable()
        yield "Audit log", "can be written", True
    except audit_log.AuditUnwritableError as error:
        yield "Audit log", str(error), False
    missing = missing_triggers()
    text = f"can be changed: {', '.join(missing)}" if missing else "append-only"
    yield "Events and operations", text, not missing


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


# Without `next`, which would lead back here: signing in knows the way of each role.
@login_required(redirect_field_name=None)
@require_safe
def campaigns(request: UserRequest) -> HttpResponse:
    cards = campaigns_for(request.user)
    if cards and not any(card.unblinded for card in cards):
        return redirect("assessor:home")
    state = list(system_state()) if request.user.is_superuser else []
    return render(request, "organizer/campaigns.html", {"cards": cards, "state": state})


@require_safe
def campaign(request: UserRequest, slug: str) -> HttpResponse:
    get_campaign(request.user, slug)
    return redirect(reverse("organizer:today", args=[slug], query=request.GET))


@require_safe
def topics(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    search = TopicSearch(request.GET)
    rows = topic_rows.topics_for(viewer, campaign, search.value("words"), search.value("tag"))
    page = page_of(request, rows, TOPICS_A_PAGE)
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
    campaign, topic = get_row(viewer, slug, topic_rows.topic_for, public_id)
    sources = [source.name for source in campaign.qrel_sources.all()]
    graded = page_of(request, topic_rows.graded_pks_of(viewer, campaign, topic), SEGMENTS_A_PAGE, "segments")
    rows = corpus_answers.with_sentences(corpus_answers.answers_of_topic(viewer, campaign, topic))
    answers = page_of(request, rows, ANSWERS_A_PAGE, "answers")
    context = {
        "campaign": campaign,
        "topic": topic,
        "head": topic_head(campaign, topic),
        "neighbours": topic_rows.neighbours_of(viewer, campaign, topic),
        "sources": sources,
        "graded": graded,
        "segments": topic_rows.graded_segments(topic, [pk for pk, _ in graded], sources),
        "lists": topic_rows.nugget_lists_of(viewer, campaign, topic),
        "answers": answers,
        "citation_labels": corpus_answers.labels_by_citation(list(answers)),
        "markdown": campaign.protocol.markdown,
        "unanswered": corpus_answers.runs_without_answer(viewer, campaign, topic),
        **_grid(request, campaign, topic),
    }
    return render(request, "organizer/topic.html", context)


@require_safe
def runs(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    search = RunSearch(request.GET)
    rows = run_rows.runs_for(viewer, campaign, search.value("words"), search.value("task"))
    page = page_of(request, rows, RUNS_A_PAGE)
    context = {
        "campaign": campaign,
        "search": search,
        "page": page,
        "rows": run_rows.run_rows(page),
        "pool": run_rows.pool_of(campaign),
    }
    return render(request, "organizer/runs.html", context)


@require_safe
def run(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    viewer = request.user
    campaign, run = get_row(viewer, slug, run_rows.run_for, pk)
    answered = run_rows.answered_topics(viewer, campaign, run)
    search = AnswerSearch(request.GET)
    topic_id = search.value("topic")
    first = next((row.topic.public_id for row in answered), "")
    answer = corpus_answers.answer_of_run(viewer, campaign, run, topic_id or first, search.value("answer"))
    context = {
        "campaign": campaign,
        "run": run,
        "finding_kinds": kinds_of_findings(findings_for(viewer, campaign, run_id=run.run_id)),
        "segments": {},  # A warning about a passage is about no run.
        "rows": answered,
        "scores": scores_of_run(campaign, run),
        "wanted": topic_id,
        "answer": answer,
        "citation_labels": corpus_answers.labels_by_citation([answer] if answer else []),
        "markdown": campaign.protocol.markdown,
        "sheets": label_grid.sheets_of(viewer, campaign, answer) if answer else [],
    }
    return render(request, "organizer/run.html", context)


@require_safe
def segment(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, segment = get_row(request.user, slug, topic_rows.segment_for, public_id)
    return render(request, "organizer/segment.html", {"campaign": campaign, "segment": segment})


@require_safe
def findings(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    search = FindingSearch(request.GET)
    code, run_id = search.value("code"), search.value("run")
    rows = findings_for(viewer, campaign, code, run_id)
    page = page_of(request, rows, FINDINGS_A_PAGE)
    kinds = [] if code else kinds_of_findings(rows)
    listed = list(page) if code else [finding for kind in kinds for finding in kind.examples]
    context = {
        "campaign": campaign,
        "search": search,
        "run_id": run_id,
        "page": page,
        "finding_kinds": kinds,
        "segments": segments_named_by(viewer, campaign, listed),
    }
    return render(request, "organizer/findings.html", context)


def _grid(request: UserRequest, campaign: Campaign, topic: Topic) -> dict[str, Any]:
    """The labels of the judging that the query string names, else of the one that counts, else of the first."""
    judgings = label_grid.judgings_of(request.user, campaign, topic)
    key = request.GET.get("labels", "")
    with_key = (judging for judging in judgings if judging.key == key)
    opened = next(with_key, None) or _counting(campaign, topic, judgings) or next(iter(judgings), None)
    grid = label_grid.grid_of(request.user, campaign, topic, opened) if opened else None
    return {"judgings": judgings, "grid": grid}


def _counting(
    campaign: Campaign, topic: Topic, judgings: Sequence[label_grid.Judging]
) -> label_grid.Judging | None:
    """The judging of the first condition with labels here, as the leaderboard resolves it."""
    by_key = {judging.key: judging for judging in judgings}
    for choice in judged_conditions(campaign):
        parts = (part for part in choice.parts if part.topics is None or topic.pk in part.topics)
        counting = next((by_key[key] for part in parts if (key := f"{part.key[0]}-{part.key[1]}") in by_key), None)
        if counting:
            return counting
    return None


def landing_for(user: User) -> str:
    """Address of the only campaign's first page; with several campaigns that of their list."""
    if user.is_superuser:  # who looks after the installation, whose state is on that page
        return reverse("organizer:campaigns")
    mine = list(Membership.objects.filter(user=user).values_list("campaign__slug", "role"))
    if mine and all(role == Role.ASSESSOR for _, role in mine):
        return reverse("assessor:home")
    slugs = {slug for slug, _ in mine}
    # Somebody who also judges in the only campaign sees nothing of it unblinded: its pages would answer 404.
    open_slugs = unblinded(user).filter(slug__in=slugs).values_list("slug", flat=True)
    if len(slugs) != 1 or slugs != set(open_slugs):
        return reverse("organizer:campaigns")
    roles = {role for _, role in mine}
    page = next(name for role, name in FIRST_PAGES.items() if role in roles)
    return reverse(page, args=[*slugs])


@require_safe
@never_cache
def landing(request: UserRequest) -> HttpResponse:
    return redirect(landing_for(request.user))


EMPTY, SAMPLE, COPY = "empty", "sample", "copy"
STARTS = {
    EMPTY: ("Empty", "You load topics, runs and passages yourself"),
    SAMPLE: ("Sample data", "A few invented topics with answers and graded passages, to try everything out"),
    COPY: ("Copy of a protocol", "The rules of another campaign, or of a file, and no data"),
}


class NewCampaignForm(forms.Form):
    like = choice_field("Like", "own settings", [(preset, preset_of(preset).name) for preset in PRESETS])
    name = TextField(max_length=200, label="Name")
    slug = forms.SlugField(max_length=60, label="Short name", help_text="It stands in addresses and commands.")
    language = TextField(
        max_length=35, required=False, label="Language", help_text="Of topics and answers, such as en or ar."
    )
    start = forms.ChoiceField(
        choices=[(start, words) for start, (words, _) in STARTS.items()], required=False, label="Start from"
    )
    settings = forms.FileField(
        required=False,
        label="or a protocol as a file (TOML)",
        allow_empty_file=True,  # the reader says so by name
    )

    def __init__(self, viewer: User, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files)
        self.fields["protocol"] = forms.ModelChoiceField(
            unblinded(viewer), required=False, to_field_name="slug", label="Protocol of", empty_label="none"
        )

    def clean_slug(self) -> str:
        """Refuse a taken short name, even one of a campaign that the viewer cannot see."""
        slug = str(self.cleaned_data["slug"])
        if slug in ADDRESSES or Campaign.objects.filter(slug=slug).exists():
            raise forms.ValidationError("This short name is taken. Choose another one.")
        return slug

    def clean_language(self) -> str:
        language = str(self.cleaned_data["language"])
        tag = normalised(language) if language else ""
        if tag is None:
            raise forms.ValidationError(f"Expected {EXPECTED}, found “{language}”.")
        return tag

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("like") and values.get("protocol") and values.get("start") == COPY:
            self.add_error("like", "A copy has the protocol of another campaign. Choose one of the two.")
        return values

    @property
    def starts(self) -> list[tuple[str, str, str, bool]]:
        selected = self["start"].value() or EMPTY
        return [(start, *words, start == selected) for start, words in STARTS.items()]

    @property
    def file(self) -> CampaignFile:
        """Raises `BadInput`."""
        values = self.cleaned_data
        sent, copied = values["settings"], values["protocol"]
        file = CampaignFile()
        if sent:
            file = read_campaign_file(sent, sent.name)
        elif copied and values["start"] == COPY:
            # In a file 0 means no limit.
            kept = settings_of(copied.protocol)
            settings: dict[str, Any] = {name: 0 if value is None else value for name, value in kept.items()}
            grades = dict(enumerate(settings.pop("grade_words").splitlines()))
            battles = {name: settings.pop(f"battle_{name}") for name in BattleSettings.model_fields}
            file = CampaignFile(
                protocol=ProtocolSettings.model_validate(settings),
                battles=BattleSettings.model_validate(battles),
                grades=grades,
            )
        # The fields of the form win over the file.
        language, like = values["language"] or file.language, values["like"] or file.like
        return file.model_copy(update={"name": values["name"], "language": language, "like": like})


@require_http_methods(["GET", "HEAD", "POST"])
def new_campaign(request: UserRequest) -> HttpResponse:
    if not request.user.is_superuser:
        raise PermissionDenied
    form = NewCampaignForm(request.user, posted(request), request.FILES or None)
    if form.is_valid():
        slug, name = form.cleaned_data["slug"], form.cleaned_data["name"]
        with refusals_on(form), transaction.atomic():
            made, _ = start_campaign(slug=slug, name=name, file=form.file, actor=request.user)
            if form.cleaned_data["start"] == SAMPLE:
                load_sample(made)
            messages.success(request, f"{made.name} is made, and you organize it.")
            return redirect("organizer:today", made.slug)
    return render(request, "organizer/new_campaign.html", {"form": form}, status=422 if form.errors else 200)


class DeleteForm(forms.Form):
    name = TextField(label="Its short name", max_length=200)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = DeleteForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_on(form):
            text = delete_campaign(campaign=campaign, typed=form.cleaned_data["name"], actor=request.user)
            messages.success(request, text)
            return redirect("organizer:campaigns")
    context = {
        "campaign": campaign,
        "form": form,
        "snapshot": Snapshot.objects.filter(campaign=campaign).first(),
        "tasks": Task.objects.filter(campaign=campaign).unfinished().count(),
    }
    return render(request, "organizer/delete_campaign.html", context, status=422 if form.errors else 200)


@dataclass(frozen=True, slots=True)
class DataCard:
    """A table to take. `files`: caption, address below the API, and name of each; `rows`: None where nobody counted."""

    title: str
    what: str
    files: tuple[tuple[str, str, str], ...]
    columns: tuple[str, ...]
    terms: str
    rows: int | None = None


BY_ORGANIZERS = "Made in this campaign: its organizers say what may be done with them."
UNPUBLISHED = "Until the track has published its results: for its participants and organizers only."


@require_safe
def exports(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    organizes = may_organize(viewer, campaign)
    holdings = list(_holdings(viewer, campaign))
    snapshots = Snapshot.objects.filter(campaign__in=within(viewer, campaign)).defer("manifest")
    context = {
        "campaign": campaign,
        "cards": list(_cards(campaign, {name: count for name, _, count in holdings})),
        "holdings": holdings,
        # With names only organizers may take one.
        "snapshots": snapshots if organizes else snapshots.filter(names=False),
        "api_version": API_VERSION,
        "snapshot_form": current_form(),
        "server": request.build_absolute_uri("/").rstrip("/"),
        "now": now(),
        "may_organize": organizes,
    }
    return render(request, "organizer/exports.html", context)


def _scored(campaign: Campaign) -> Iterator[tuple[NuggetCondition, str, dict[str, str]]]:
    """Yield each condition with labels, the names that tell it from others of its kind, and its query of the API."""
    for choice, names in told_apart([*judged_conditions(campaign)]):
        query = {"condition": choice.condition.value}
        if names and len(choice.nugget_sets) == 1:
            query["nugget_set"] = choice.nugget_sets[0].name
        if names and len(choice.judges) == 1:
            query["judge"] = choice.judges[0].name
        yield choice, names, query


def _cards(campaign: Campaign, rows: Mapping[str, int | None]) -> Iterator[DataCard]:
    def file(collection: str, caption: str = "Download", **query: str) -> tuple[str, str, str]:
        parts = [query.get(name, "").replace("/", "") for name in ("condition", "judge")]
        name = "-".join(filter(None, [campaign.slug, collection, *parts]))
        parameters = urlencode({"campaign": campaign.slug, **query, "format": "csv"})
        return caption, f"/api/v1/{collection}/?{parameters}", f"{name}.csv"

    yield DataCard(
        "Scores",
        "a row for each run, computed now by the campaign's rules",
        tuple(
            file("scores", ", ".join(filter(None, [f"{choice.condition.words} ({choice})", names])), **query)
            for choice, names, query in _scored(campaign)
        ),
        (
            "run_id",
            "group",
            "task",
            "topics",
            "vital_strict",
            "weighted_precision",
            "judged",
            "unjudged",
            "missing",
        ),
        UNPUBLISHED,
    )
    yield DataCard(
        "Nugget labels",
        "a row for each label of a nugget in an answer, by judge",
        (file("assignments"),),
        ("topic_id", "run_id", "sample", "nugget", "nugget_set", "judge", "label", "sentence", "given_at"),
        BY_ORGANIZERS,
        rows["assignments"],
    )
    yield DataCard(
        "Citation labels",
        "a row for each label of a sentence and a passage that it cites, by judge",
        (file("support-judgments"),),
        ("topic_id", "run_id", "sample", "sentence", "docid", "condition", "judge", "label", "given_at"),
        BY_ORGANIZERS,
        rows["support-judgments"],
    )
    yield DataCard(
        "Nuggets",
        "a row for each nugget of a submitted list",
        (file("nuggets"),),
        ("topic_id", "nugget_set", "list_version", "position", "text", "importance", "lineage"),
        BY_ORGANIZERS,
        rows["nuggets"],
    )
    yield DataCard(
        "Times",
        "a row for each submission: how long its assessor was at it, in seconds",
        (file("time"),),
        ("topic_id", "stage", "assessor", "active_low_s", "active_point_s", "active_high_s", "reading_s"),
        BY_ORGANIZERS,
    )


def _holdings(viewer: User, campaign: Campaign) -> Iterator[tuple[str, str, int | None]]:
    """Yield each collection of the API, the noun of its rows, and how many this campaign has, if that is counted."""
    held = contents.holdings_for(viewer, campaign)
    answers = AnswerProvenance.objects.filter(run__campaign__in=within(viewer, campaign)).count()
    grades = sum(source.grades for source in contents.sources_for(viewer, campaign))
    sets = contents.nugget_sets_for(viewer, campaign)
    nuggets = sum(nugget_set.nuggets for nugget_set in sets)
    assigned = sum(count.total for count in contents.assignment_counts_for(viewer, campaign))
    support = sum(count.total for count in contents.support_counts_for(viewer, campaign))
    yield "topics", "the questions", held.topics
    yield "segments", "passages that answers cite or that have a grade", held.segments
    yield "runs", "systems, with group and task", held.runs
    yield "answers", "what the systems wrote, sentence by sentence, with citations", answers
    yield "grades", "relevance of passages", grades
    yield "nugget-sets", "lists of nuggets by origin and maker", len(sets)
    yield "nuggets", "of the newest submitted lists", nuggets
    yield "assignments", "whether an answer contains a nugget, by judge", assigned
    yield "support-judgments", "whether a passage supports a sentence", support
    # Counting these would cost as much as reading them.
    yield "scores", "run by run and topic by topic, computed when asked for", None
    yield "time", "how long people worked, under pseudonyms", None
    yield "events", "what happened, under pseudonyms", None
    yield "findings", "what imports noticed", None
