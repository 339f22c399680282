"""The demo campaign: loaded by the same imports that everybody uses, with an account for each role."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone

from accounts.invitations import ensure_demo_user
from accounts.models import User
from assessor.practice.imports import import_practice
from evaluation.campaigns.create import add_member, create_campaign, read_campaign_file, set_hourly_rate
from evaluation.campaigns.people import set_languages
from evaluation.campaigns.protocol import change_protocol, protocol_hash, settings_of
from evaluation.domain.counted_pairs import counted_citations
from evaluation.formats.source import Source, read_source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.judges import add_judge
from evaluation.models import AnswerProvenance, Campaign
from evaluation.models.fields import ids_from
from evaluation.terms import Condition, JudgeKind, Origin, RagTask, Role, SupportCondition
from exchange.demo_jobs import load_jobs
from exchange.demo_work import FILES, judge_answers, look_again, make_lists, practise, record_times
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import take_snapshot
from llmjobs.job_service import JobRequest, Work, judge_for, plan_evaluation, plan_support, start

SLUG, EMPTY_SLUG = "river-study", "delta-study"
PASSWORD = "river-study-demo"  # noqa: S105 - published on purpose; the deployment check refuses such accounts
ADMINISTRATOR = ("admin", "Ada Admin")
PEOPLE = {
    "olga": ("Olga Organizer", Role.ORGANIZER),
    "ann": ("Ann Archer", Role.ASSESSOR),
    "ben": ("Ben Brook", Role.ASSESSOR),
    "cleo": ("Cleo Carver", Role.ASSESSOR),
    "dalal": ("Dalal Dawoud", Role.ASSESSOR),
    "ewan": ("Ewan Eddy", Role.ASSESSOR),
    "rita": ("Rita Researcher", Role.RESEARCHER),
    "audrey": ("Audrey Auditor", Role.AUDITOR),
}
HOURLY_RATE = Decimal("24.00")
LANGUAGES = {"ann": "en", "ben": "en ar", "cleo": "en", "dalal": "ar", "ewan": "en"}
LAST_VISIT = timedelta(days=1)
JUDGES = {
    "word-overlap": "word-overlap (scripted)",
    "alder": "alder-70b (scripted)",
    "reed": "reed-1b (scripted)",
    "ann": "Ann Archer",
    "ben": "Ben Brook",
}
"""Names of the judges by the names of their files: a good LLM, a middling one, and one that is weak at partial labels
and at Arabic.
"""
LLMS = ("word-overlap", "alder", "reed")
RUNS = {
    "otter-rag-large": RunOptions("otter", RagTask.RAG, 1),
    "heron-rag-small": RunOptions("heron", RagTask.RAG, 1),
    "beaver-rag-fusion": RunOptions("beaver", RagTask.RAG, 1),
    "stork-rag-hybrid": RunOptions("stork", RagTask.RAG, 1),
    "kingfisher-ag": RunOptions("kingfisher", RagTask.AG, 1),
    "dipper-ag-short": RunOptions("dipper", RagTask.AG, 1),
    "baseline-lead": RunOptions("organizers", RagTask.AG, 1, control=True),
}
NUGGET_LABELS = {
    "0": "not_support",
    "1": "partial_support",
    "2": "support",
    "9": "failed",
    "~": "support (mostly)",
}
"""Labels by their characters in the files; one is in free words, as other tools may write."""
CITATION_LABELS = {"0": "no_support", "1": "partial_support", "2": "full_support", "9": "failed"}


def load_demo() -> bool:
    """Load the demo with its accounts, all or nothing; return whether it was missing."""
    with transaction.atomic(), ids_from(SLUG):
        if Campaign.objects.filter(slug=SLUG).exists():
            return False
        file = read_campaign_file(FILES / "campaign.toml")
        file.protocol.guidelines = (FILES / "guidelines.md").read_text(encoding="utf-8")
        campaign, _ = create_campaign(slug=SLUG, name=file.name, file=file)
        organizer = _make_people(campaign)
        _load_corpus(campaign)
        _load_nuggets(campaign)
        _load_labels(campaign)
        make_lists(campaign, organizer)
        # Labels that are given later make the snapshot out of date.
        take_snapshot(campaign=campaign, name="before-judging", wish=SnapshotContents(), actor=organizer)
        _change_protocol(campaign, organizer)
        judge_answers(campaign, organizer)
        look_again(campaign, organizer)
        record_times(campaign)
        import_practice(campaign=campaign, source=_source("practice.jsonl"))
        practise(campaign)
        load_jobs(campaign, organizer)
        set_hourly_rate(campaign=campaign, rate=HOURLY_RATE, actor=organizer)
        empty, _ = create_campaign(slug=EMPTY_SLUG, name="Delta study")
        add_member(campaign=empty, user=organizer, role=Role.ORGANIZER)
    return True


def start_demo_jobs() -> int:
    """Queue the automatic conditions for whatever LLM is configured; return how many jobs that are.

    The workers take them from the queue; what a job judged before is not judged again.
    """
    request = JobRequest(Campaign.objects.get(slug=SLUG), judge_for(""))
    plans = {
        Work(condition).job_title: plan_evaluation(request, condition)
        for condition in (Condition.AA, Condition.EA, Condition.MA)
    }
    plans[Work.SUPPORT.job_title] = plan_support(request)
    for title, plan in plans.items():
        start(request, title, plan)
    return len(plans)


def logins() -> list[tuple[str, str]]:
    roles = {name: str(role) for name, (_, role) in PEOPLE.items()} | {ADMINISTRATOR[0]: "administrator"}
    there = set(User.objects.filter(demo=True).values_list("username", flat=True))
    return [(name, role) for name, role in roles.items() if name in there]


def _make_people(campaign: Campaign) -> User:
    # Made once: nine hashes take a second. The salt is known because the password is.
    password = make_password(PASSWORD, salt=SLUG)
    ensure_demo_user(username=ADMINISTRATOR[0], full_name=ADMINISTRATOR[1], password=password, administrator=True)
    for username, (full_name, role) in PEOPLE.items():
        user = ensure_demo_user(username=username, full_name=full_name, password=password)
        add_member(campaign=campaign, user=user, role=role)
        if role is Role.ASSESSOR:
            add_judge(name=full_name, kind=JudgeKind.HUMAN, user=user)
            set_languages(campaign=campaign, username=username, languages=LANGUAGES[username], actor=None)
    for judge in LLMS:
        add_judge(name=JUDGES[judge], kind=JudgeKind.LLM, model=JUDGES[judge])
    organizer = User.objects.get(username="olga")
    organizer.last_login = timezone.now() - LAST_VISIT
    organizer.save(update_fields=["last_login"])
    return organizer


def _change_protocol(campaign: Campaign, organizer: User) -> None:
    change_protocol(
        campaign=campaign,
        settings=settings_of(campaign.protocol) | {"manual_cap": 25},
        seal=protocol_hash(campaign),
        reason="Two lists by hand were full before the last passage was read.",
        actor=organizer,
    )


def load_sample(campaign: Campaign) -> None:
    with transaction.atomic():
        _load_corpus(campaign)


def _load_corpus(campaign: Campaign) -> None:
    import_topics(campaign=campaign, source=_source("topics.jsonl"))
    for run_id, options in RUNS.items():
        import_runs(campaign=campaign, sources=[_source(f"runs/{run_id}.jsonl")], options=options)
    for name in ("NIST", "UMBRELA"):
        import_qrels(campaign=campaign, source=_source(f"qrels.{name.lower()}.txt"), name=name)
    import_segments(campaign=campaign, sources=[_source("segments.jsonl")])


def _load_nuggets(campaign: Campaign) -> None:
    for origin, judge, drafts in (
        (Origin.AUTO, "word-overlap", ""),
        (Origin.DRAFT, "word-overlap", ""),
        (Origin.EDITED, "ann", "draft"),
        (Origin.MANUAL, "ann", ""),
    ):
        import_nuggets(
            campaign=campaign,
            source=_source(f"nuggets/{origin}.jsonl"),
            origin=origin,
            judge=JUDGES[judge],
            name=origin,
            drafts=drafts,
        )


def _load_labels(campaign: Campaign) -> None:
    for path in sorted((FILES / "labels").iterdir()):
        origin, judge = path.stem.split(".")
        import_assignments(
            campaign=campaign,
            sources=[_rows_of(path, _nugget_rows(origin))],
            origin=Origin(origin),
            judge=JUDGES[judge],
            kind=_kind(judge),
        )
    for path in sorted((FILES / "support").iterdir()):
        condition, judge = path.stem.split(".")
        import_support(
            campaign=campaign,
            sources=[_rows_of(path, _citation_rows(campaign))],
            judge=JUDGES[judge],
            kind=_kind(judge),
            condition=SupportCondition(condition),
        )


Rows = Callable[[str, str, str], list[dict[str, Any]]]
"""Rows of the formats for a topic, a run, and a string with a character for each label."""


def _rows_of(path: Path, rows: Rows) -> Source:
    """Return a file of label strings as if it were written out in the format that is imported."""
    source = read_source(path)
    lines = [(number, json.dumps(row)) for number, line in source.lines for row in rows(*line.split())]
    return replace(source, lines=tuple(lines))


def _nugget_rows(origin: str) -> Rows:
    lists = [json.loads(line) for _, line in _source(f"nuggets/{origin}.jsonl").lines]
    texts = {row["qid"]: [nugget["text"] for nugget in row["nuggets"]] for row in lists}

    def rows(topic: str, run: str, labels: str) -> list[dict[str, Any]]:
        # A string may be shorter than the list: the last nuggets are then unjudged.
        nuggets = [
            {"text": text, "assignment": NUGGET_LABELS[label]}
            for text, label in zip(texts[topic], labels, strict=False)
        ]
        return [{"qid": topic, "run_id": run, "nuggets": nuggets}]

    return rows


def _citation_rows(campaign: Campaign) -> Rows:
    first = counted_citations(1).filter(segment__campaign=campaign)
    answers = AnswerProvenance.objects.filter(topic__campaign=campaign)
    asked = {
        pk: (topic, run) for pk, topic, run in answers.values_list("answer", "topic__topic_id", "run__run_id")
    }
    cited = {
        (*asked[answer], index): docid
        for answer, index, docid in first.values_list("sentence__answer", "sentence__index", "segment__docid")
    }

    def rows(topic: str, run: str, labels: str) -> list[dict[str, Any]]:
        return [
            {
                "topic_id": topic,
                "run_id": run,
                "sentence": index,
                "docid": cited[topic, run, index],
                "label": CITATION_LABELS[label],
            }
            for index, label in enumerate(labels)
            if label in CITATION_LABELS
        ]

    return rows


def _kind(judge: str) -> JudgeKind:
    return JudgeKind.LLM if judge in LLMS else JudgeKind.HUMAN


def _source(name: str) -> Source:
    return read_source(FILES / name)
