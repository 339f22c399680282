"""No name of a person is in what leaves under pseudonyms, wherever somebody typed it and in whatever capitals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zipfile import ZipFile

import pytest
from django.core import mail
from django.utils import timezone
from pytest_django.fixtures import Settings

from api.collections import COLLECTIONS
from evaluation.campaigns.pseudonyms import Hiding, pseudonym_of
from evaluation.models import Assignment, Campaign, Event, Finding, Judge, Judgment, Study, Task
from evaluation.stages import GRADE
from exchange.exports.lines import EXPORTS, lines_of
from exchange.snapshots.pack import SnapshotContents, pack
from jobs.models import Job, Notice
from jobs.queue import note
from organizer.jobs.mails import send_due
from reports.methods.report import methods_documents
from tests.api.conftest import hand_out_to, program_of
from tests.api.reading import with_form
from tests.crawl.canaries import body_of
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import run
from tests.worlds.jobs import make_job
from tests.worlds.random_checks import FIVE, judge, make_example, people_rows

NAMES = ("ann", "Antonia Archer", "antonia.archer@lab.example.org")
TYPED = "Ann is ill: ask ANTONIA ARCHER (ann) or write to Antonia.Archer@lab.example.org, says ann."


@pytest.fixture
def planted(world: World) -> World:
    """Ann's names stand in the log, in findings and in the reasons of her task, and labels are hers."""
    ann = world.people["ann"]
    ann.first_name, ann.last_name, ann.email = "Antonia", "Archer", NAMES[2]
    ann.save()
    Judge.objects.filter(name="person").update(name="ann", user=ann)
    Assignment.objects.filter(judge__user=ann).update(raw=TYPED)
    Judgment.objects.filter(judge__user=ann).update(raw=TYPED, extras={"better": TYPED})
    hand_out_to(world, "ann")
    Task.objects.filter(assessor=ann).update(blocked_reason=TYPED, reopened_reason=TYPED)
    Campaign.objects.update(description=TYPED)
    Judge.objects.filter(name="robot").update(prompt_versions={"assign": "ann@1"})
    payload = {"text": TYPED, "user": ann.pk, "actor": "ann", "all": [TYPED, {"note": TYPED}]}
    event = Event.objects.create(campaign=world.campaign, kind="note", actor=ann, payload=payload)
    Finding.objects.create(
        campaign=world.campaign, event=event, code="empty_answer", file="ann.jsonl", message=TYPED
    )
    return world


OF_OTHER_WORLDS = {"random-check", "battles"}
"""Exports of which this world has nothing: below, and in the tests of the report of battles."""


def exported(campaign: Campaign, what: str, options: dict[str, Any]) -> str:
    return "\n".join(lines_of(what, campaign, options | {"pseudonyms": True}))


def names_in(text: str) -> list[str]:
    return [name for name in NAMES if Hiding({name: "x"}).text(text) != text]


def outputs(world: World, folder: Path) -> Iterator[tuple[str, str]]:
    program = program_of(world, "rita")
    for collection in COLLECTIONS:
        if collection.name != "scores":
            yield f"API {collection.name}", body_of(program.get(with_form(collection.name, "jsonl"))).decode()
    for what in EXPORTS.keys() - OF_OTHER_WORLDS:
        condition = "scratch" if what == "support" else "A/M"
        options = {"condition": condition, "nuggets": "auto-robot", "stage": GRADE}
        yield f"export {what}", exported(world.campaign, what, options)
    yield "export segments of time", exported(world.campaign, "time", {"segments": True})
    pack(folder / "river.zip", world.campaign, SnapshotContents(names=False))
    with ZipFile(folder / "river.zip") as archive:
        yield from ((f"snapshot {name}", archive.read(name).decode()) for name in archive.namelist())
    yield from methods_documents(world.campaign).items()
    yield "mail about a job", mail_about_a_job(world)


def mail_about_a_job(world: World) -> str:
    job = make_job(world, state=Job.State.PAUSED).job
    job.title = job.waiting_for = TYPED
    job.save()
    note(Notice.Kind.PAUSED, [job], timezone.now())
    send_due()
    [sent] = mail.outbox
    return f"{sent.subject}\n{sent.body}"


def test_no_output_has_a_planted_name(planted: World, tmp_path: Path, settings: Settings) -> None:
    settings.MAIL_ABOUT_JOBS, seen = True, 0
    for place, text in outputs(planted, tmp_path):
        seen += "person-" in text
        assert names_in(text) == [], place
    assert seen > 5


def test_a_study_that_names_a_person_is_asked_for_as_the_api_names_it(db: None, tmp_path: Path) -> None:
    make_example(tmp_path)
    assert run(*FIVE).code == 0
    campaign = Campaign.objects.get()
    program = program_of(World(campaign, make_cast(campaign)), "rita")
    Study.objects.update(name="check by Ann")
    [study] = program.json("studies")["results"]
    assert names_in(study["name"]) == []
    report = program.get(f"reports/corrected/?{urlencode({'campaign': campaign.slug, 'study': study['name']})}")
    assert report.status_code == 200
    assert names_in(body_of(report).decode()) == []


def test_no_output_of_a_random_check_has_a_planted_name(db: None, tmp_path: Path) -> None:
    make_example(tmp_path)
    assert run(*FIVE).code == 0
    campaign = Campaign.objects.get()
    world = World(campaign, make_cast(campaign))
    judge(tmp_path, people_rows())
    ann = world.people["ann"]
    Judge.objects.filter(name="ann, study check").update(name="Antonia Archer, study check", user=ann)
    type(ann).objects.filter(pk=ann.pk).update(first_name="Antonia", last_name="Archer")
    file = exported(campaign, "random-check", {"study": "check"})
    assert f'"{pseudonym_of(campaign, ann.pk)}, study check": ' in file
    program = program_of(world, "rita")
    answers = [
        body_of(program.get(place)).decode()
        for place in (
            "reports/corrected/?campaign=river&study=check",
            "studies/?format=jsonl",
            "judges/?format=jsonl",
        )
    ]
    assert [names_in(text) for text in (file, *answers, *methods_documents(campaign).values())] == [[]] * 7
