"""The demo's campaigns, made by the same imports and services that everybody uses, and written into the demo's files.

Clock and random ids are pinned, so the files are the same whenever they are made.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import time_machine
from django.db import transaction

from accounts.models import User
from assessor.practice.imports import import_practice
from evaluation.campaigns.create import add_member, create_campaign, read_campaign_file, set_hourly_rate
from evaluation.campaigns.people import set_languages
from evaluation.campaigns.protocol import change_protocol, protocol_hash, settings_of
from evaluation.domain.counted_pairs import counted_citations
from evaluation.formats.source import Source, read_source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.support import import_support
from evaluation.judges import add_judge
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import AnswerProvenance, Campaign, fields
from evaluation.terms import JudgeKind, Origin, Role, SupportCondition
from exchange.demo_campaign import BEFORE, CAMPAIGN, PEOPLE, SLUG, load_sample, make_accounts
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import write_campaign
from loadtest.demo.desks import FILES, draw_studies, judge_answers, make_lists, mark_read, practise, record_times
from loadtest.demo.harbour import make_harbour
from loadtest.demo.jobs import JOBS, load_job

NOW, SEED = datetime(2026, 5, 4, 10, tzinfo=UTC), 20260504
HOURLY_RATE = Decimal("24.00")
LANGUAGES = {"ann": "en", "ben": "en ar", "cleo": "en", "dalal": "ar", "ewan": "en"}
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
NUGGETS = {str(code): word for code, word in NUGGET_LABELS.choices} | {"~": "support (mostly)"}
"""Labels by their characters in the files; one is in free words, as other tools may write."""
CITATIONS = {str(code): word for code, word in CITATION_LABELS.choices}


def make(folder: Path) -> None:
    """Write the demo's files, from an empty database, which is left as full as the demo is."""
    with (
        time_machine.travel(NOW, tick=False),
        patch.object(fields, "_random_bytes", Random(SEED).randbytes),  # noqa: S311
        transaction.atomic(),
    ):
        file = read_campaign_file(FILES / "campaign.toml")
        file.protocol.guidelines = (FILES / "guidelines.md").read_text(encoding="utf-8")
        campaign, _ = create_campaign(slug=SLUG, name=file.name, file=file)
        organizer = _add_people(campaign)
        load_sample(campaign)
        _load_nuggets(campaign)
        _load_labels(campaign)
        make_lists(campaign, organizer)
        # Labels that are given later make the snapshot out of date.
        write_campaign(folder / BEFORE, campaign, SnapshotContents())
        _change_protocol(campaign, organizer)
        judge_answers(campaign, organizer)
        draw_studies(campaign, organizer)
        record_times(campaign)
        mark_read(campaign)
        import_practice(campaign=campaign, source=_source("practice.jsonl"))
        practise(campaign)
        for job in JOBS:
            load_job(job, campaign, organizer)
        set_hourly_rate(campaign=campaign, rate=HOURLY_RATE, actor=organizer)
        write_campaign(folder / CAMPAIGN, campaign, SnapshotContents())
        make_harbour(folder, organizer, HOURLY_RATE)


def _add_people(campaign: Campaign) -> User:
    make_accounts()
    for username, (full_name, role) in PEOPLE.items():
        user = User.objects.get(username=username)
        add_member(campaign=campaign, user=user, role=role)
        if role is Role.ASSESSOR:
            add_judge(name=full_name, kind=JudgeKind.HUMAN, user=user)
            set_languages(campaign=campaign, username=username, languages=LANGUAGES[username], actor=None)
    for judge in LLMS:
        add_judge(name=JUDGES[judge], kind=JudgeKind.LLM, model=JUDGES[judge])
    return User.objects.get(username="olga")


def _change_protocol(campaign: Campaign, organizer: User) -> None:
    change_protocol(
        campaign=campaign,
        settings=settings_of(campaign.protocol) | {"manual_cap": 25},
        seal=protocol_hash(campaign),
        reason="Two lists by hand were full before the last passage was read.",
        actor=organizer,
    )


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
        pairs = zip(texts[topic], labels, strict=False)
        nuggets = [{"text": text, "assignment": NUGGETS[label]} for text, label in pairs]
        return [{"qid": topic, "run_id": run, "nuggets": nuggets}]

    return rows


def _citation_rows(campaign: Campaign) -> Rows:
    first = counted_citations(1).filter(segment__campaign=campaign)
    answers = AnswerProvenance.objects.filter(topic__campaign=campaign)
    topic_and_run = {
        pk: (topic, run) for pk, topic, run in answers.values_list("answer", "topic__topic_id", "run__run_id")
    }
    cited = {
        (*topic_and_run[answer], index): docid
        for answer, index, docid in first.values_list("sentence__answer", "sentence__index", "segment__docid")
    }

    def rows(topic: str, run: str, labels: str) -> list[dict[str, Any]]:
        return [
            {
                "topic_id": topic,
                "run_id": run,
                "sentence": index,
                "docid": cited[topic, run, index],
                "label": CITATIONS[label],
            }
            for index, label in enumerate(labels)
            if label in CITATIONS
        ]

    return rows


def _kind(judge: str) -> JudgeKind:
    return JudgeKind.LLM if judge in LLMS else JudgeKind.HUMAN


def _source(name: str) -> Source:
    return read_source(FILES / name)
