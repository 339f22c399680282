"""What a campaign's file holds, what is refused of one, and a copy beside its origin."""

import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, DatabaseError, transaction
from django.db.models import JSONField

from accounts.models import User
from assessor.models import Operation, WorkingNugget
from evaluation.append_only import remove_triggers
from evaluation.campaigns.create import add_member
from evaluation.campaigns.pseudonyms import hide
from evaluation.errors import Refused
from evaluation.imports.segments import import_segments
from evaluation.models import (
    Assignment,
    Campaign,
    Candidate,
    Event,
    Judge,
    ListedNugget,
    Membership,
    Nugget,
    Run,
    Segment,
    SupportJudgment,
    Task,
    Topic,
)
from evaluation.terms import JudgeKind, Role
from exchange.models import LoadedCampaign, Snapshot, SnapshotPart
from exchange.snapshots.archive import MANIFEST, SnapshotManifest, content_of, file_of
from exchange.snapshots.pack import CODES, DATA, OF_DESKS, People, SnapshotContents, may_name
from exchange.snapshots.service import open_snapshot, pieces, take_snapshot
from exchange.snapshots.tables import LEFT_OUT, ROOMS, CampaignRows, Field, missing, tables
from jobs.models import Job, WorkItem
from llmjobs.models import Call, LlmJob
from reports.methods.report import methods_documents
from reports.models import Adjudication
from tests.assessor.desk_client import Window
from tests.worlds.blind import make_blind_world
from tests.worlds.campaign import World, make_world
from tests.worlds.cast import write_source
from tests.worlds.imported import Outcome, run
from tests.worlds.random_checks import make_wide

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]

SCORES = ("report", "scores", "--condition", "A/A", "--judge", "robot", "--format", "json", "--campaign")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def file(world: World, tmp_path: Path) -> Path:
    return written(tmp_path / "river.zip")


def written(path: Path, *options: str) -> Path:
    done = run("export", "campaign", "--campaign", "river", "--output", str(path), *options)
    assert done.code == 0, done.err
    return path


def loaded(path: Path, *options: str) -> Outcome:
    done = run("import_campaign", str(path), *options)
    assert done.code == 0, done.err
    return done


def content(path: Path) -> bytes:
    with ZipFile(path) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


def counts() -> dict[str, int]:
    models = [
        model for room in (*ROOMS, "accounts", "exchange") for model in apps.get_app_config(room).get_models()
    ]
    return {model._meta.label: model._default_manager.count() for model in models}


@pytest.mark.parametrize("held", [False, True])
def test_a_file_that_scores_what_must_not_be_said_is_refused(world: World, tmp_path: Path, held: bool) -> None:
    ListedNugget.objects.filter(position=0).update(
        raw_importance="Must avoid", importance=0, weight=-1 if held else 1
    )
    file = written(tmp_path / "river.zip")
    before = counts()
    outcome = run("import_campaign", str(file), "--slug", "copy")
    if held:
        copied = ListedNugget.objects.filter(nugget_list__nugget_set__campaign__slug="copy", weight=-1)
        assert outcome.code == 0, outcome.err
        assert copied.count() == ListedNugget.objects.filter(weight=-1).count() / 2 > 0
        return
    assert outcome.code == 1
    assert "evaluation.ListedNugget" in outcome.err
    assert (
        "importance: vital or okay: an answer must not contain this nugget, so give it a weight below 0"
        in outcome.err
    )
    assert counts() == before


def test_every_table_is_a_campaign_s_or_left_out_for_a_reason() -> None:
    assert missing() == [], "say in exchange/snapshots/tables.py how its rows belong to a campaign"
    assert {table.name for table in tables()} & LEFT_OUT.keys() == set()


def test_candidates_are_in_a_campaign_s_file(world: World, tmp_path: Path) -> None:
    line = {"query": {"qid": "t1"}, "candidates": [{"docid": "c1", "segment": "Banks move."}]}
    source = write_source(tmp_path, "c.jsonl", json.dumps(line) + "\n")
    import_segments(campaign=world.campaign, sources=[source])
    loaded(written(tmp_path / "river.zip"), "--slug", "copy")
    [candidate] = Candidate.objects.filter(topic__campaign__slug="copy")
    assert (candidate.topic.topic_id, candidate.segment.docid) == ("t1", "c1")
    assert candidate.segment.campaign.slug == "copy"


def test_a_copy_beside_its_origin_has_own_ids_and_the_same_work(tmp_path: Path) -> None:
    world, _ = make_blind_world(tmp_path, with_canaries=False)
    window, passage = Window(world.client(), world.manual).open(), world.segments("t2")[0].public_id
    window.post("hold/", {"window": window.window, "want": "take"})
    window.do("add", key="new", text="Dams crack", importance=1, evidence=[[passage, None]], after=None)
    file = written(tmp_path / "river.zip")
    before = counts()
    loaded(file, "--slug", "copy")
    copy, origin = (Campaign.objects.get(slug=slug) for slug in ("copy", "river"))
    names = dict(Segment.objects.filter(campaign=copy).values_list("public_id", "docid"))
    assert len(names) == Segment.objects.filter(campaign=origin).count()
    rested = [pair for nugget in WorkingNugget.objects.filter(task__campaign=copy) for pair in nugget.evidence]
    assert rested
    assert {segment for segment, _ in rested} <= names.keys()
    assert Operation.objects.filter(task__campaign=copy).count() == before["assessor.Operation"]
    assert Call.objects.filter(event__campaign=copy).count() == Call.objects.filter(event__campaign=origin).count()
    assert not Membership.objects.filter(campaign=copy).exists()
    assert not Job.objects.filter(llm__campaign=copy, state=Job.State.RUNNING).exists()
    assert not WorkItem.objects.filter(job__llm__campaign=copy, state__in=["queued", "leased"]).exists()
    assert counts()["accounts.User"] == before["accounts.User"]


def test_a_copy_s_failed_items_are_not_asked_about_the_rows_of_another_campaign(tmp_path: Path) -> None:
    """Items name what they are about by the keys that it has in the origin's database."""
    make_blind_world(tmp_path, with_canaries=False)
    WorkItem.objects.filter(job__llm__isnull=False).update(state=WorkItem.State.FAILED)
    Job.objects.update(state=Job.State.DONE)
    loaded(written(tmp_path / "river.zip"), "--slug", "copy")
    llm = LlmJob.objects.filter(campaign__slug="copy")[0]
    refused = run("job", "--campaign", "copy", "retry", llm.pk)
    assert (refused.code, "came with the campaign's file" in refused.err) == (1, True)
    assert not WorkItem.objects.filter(job=llm.job, state=WorkItem.State.QUEUED).exists()


def test_a_copy_is_loaded_once_and_not_over_what_was_changed(file: Path) -> None:
    assert "rows" in loaded(file, "--slug", "copy").err
    before = counts()
    assert "Nothing changed" in loaded(file, "--slug", "copy").err
    assert "Nothing changed" in loaded(file).err
    assert counts() == before
    assert run(*SCORES, "copy").out == run(*SCORES, "river").out
    for slug, message in (("copy", "was changed since"), ("river", "in another state")):
        Campaign.objects.filter(slug=slug).update(revision=99)
        done = run("import_campaign", str(file), "--slug", slug)
        assert (done.code, message in done.err) == (1, True), done.err
    assert counts() == before


def test_missing_people_get_closed_accounts_and_roles_if_told(
    tmp_path: Path,
) -> None:
    with transaction.atomic():
        make_world(tmp_path)
        file = written(tmp_path / "river.zip")
        transaction.set_rollback(True)
    message = loaded(file, "--members").err
    assert "closed and without a password: ann, audrey, ben, olga, rita." in message
    ann = User.objects.get(username="ann")
    assert (ann.is_active, ann.has_usable_password()) == (False, False)
    assert set(Membership.objects.values_list("user__username", "role")) >= {("olga", "organizer")}
    assert Event.objects.filter(campaign=None, kind="campaign.loaded").count() == 1


def test_a_file_without_texts_tells_none_and_scores_the_same(world: World, tmp_path: Path) -> None:
    whole, bare = written(tmp_path / "a.zip"), written(tmp_path / "b.zip", "--without-texts")
    for text in (b"Sand moves. <b>raw</b>", b"Water is wet.", b"On bends"):
        assert text in content(whole)
        assert text not in content(bare)
    loaded(bare, "--slug", "bare")
    assert Segment.objects.get(campaign__slug="bare", docid="d1").has_text
    words = ("report", "support", "--condition", "scratch", "--format", "json", "--campaign")
    for command in (SCORES, words):
        assert run(*command, "bare").out == run(*command, "river").out


def test_a_file_of_pseudonyms_names_nobody(tmp_path: Path) -> None:
    make_blind_world(tmp_path, with_canaries=False)
    file = written(tmp_path / "river.zip", "--pseudonyms")
    people = User.objects.filter(pk__in=Task.objects.values("assessor"))
    text = content(file).decode()
    rows = [json.loads(line) for line in ZipFile(file).read(file_of("people")).splitlines()]
    assert len(rows) >= people.count() > 1
    assert all(name.startswith("person-") and first == last == "" for name, first, last in rows)
    assert Campaign.objects.get(slug="river").salt not in text
    judges = [json.loads(line)[0] for line in ZipFile(file).read(file_of("evaluation.Judge")).splitlines()]
    assert not {person.name for person in people} & set(judges)
    loaded(file, "--slug", "copy")


TYPED = "Ann is ill: ask ANTONIA ARCHER (ann) or write to Antonia.Archer@lab.example.org, says ann."
ANN = re.compile(r"\b(ann|antonia|archer)\b", re.IGNORECASE)


def planted(field: Field) -> Any:
    if isinstance(field, JSONField):
        return {"labels": {TYPED: 1}, "reason": [TYPED], "user": "ann", "extras": {"text": TYPED}}
    return TYPED[: field.max_length]


def test_a_name_is_in_no_column_of_a_file_of_pseudonyms(tmp_path: Path) -> None:
    make_blind_world(tmp_path, with_canaries=False)
    names = {"first_name": "Antonia", "last_name": "Archer", "email": "antonia.archer@lab.example.org"}
    User.objects.filter(username="ann").update(**names)
    campaign = Campaign.objects.get(slug="river")
    people = People([], hide(campaign, User.objects.filter(username="ann"), []))
    remove_triggers()
    rows = 0
    for table in tables():
        first = CampaignRows(campaign, DEFAULT_DB_ALIAS).keys(table)[:1]
        columns = {field.name: planted(field) for field in table.fields if may_name(table.name, field)}
        rows += table.model._default_manager.filter(pk__in=first).update(**columns) if columns else 0
        # Of some tables this world has no row.
        for field in table.fields:
            if change := people.hides(table.name, field):
                assert not ANN.search(json.dumps(change(columns[field.name]))), field
    assert rows > 20
    with ZipFile(written(tmp_path / "river.zip", "--pseudonyms")) as archive:
        for name in archive.namelist():
            assert not ANN.search(archive.read(name).decode()), name


def test_what_a_file_of_pseudonyms_leaves_as_it_is_is_there() -> None:
    columns = {(table.name, field.name) for table in tables() for field in table.fields}
    assert {(table, name) for table, names in DATA.items() for name in names} | OF_DESKS <= columns
    assert {name for _, name in columns} >= CODES


def test_pseudonyms_cover_people_whose_labels_came_by_file(tmp_path: Path) -> None:
    make_wide(tmp_path)  # ann has no account, and labelled nothing but a random check
    file = written(tmp_path / "river.zip", "--pseudonyms")
    assert b"ann, study check" not in content(file)
    judges = [json.loads(line)[0] for line in ZipFile(file).read(file_of("evaluation.Judge")).splitlines()]
    assert any(name.startswith("person-") and name.endswith(", study check") for name in judges)
    methods = methods_documents(Campaign.objects.get())
    assert "Assessor 2, study check" in methods["methods.json"]
    assert not any("ann, study" in text for text in methods.values())


def rewritten(path: Path, table: str, change: Callable[[list[list[Any]]], Any]) -> Path:
    with ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    rows = [json.loads(line) for line in parts[file_of(table)].splitlines()]
    change(rows)
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    manifest = SnapshotManifest.model_validate_json(parts[MANIFEST])
    part = manifest.tables[table].model_copy(
        update={"size": len(data), "rows": len(rows), "sha256": sha256(data).hexdigest()}
    )
    known = manifest.tables | {table: part}
    changed = manifest.model_copy(update={"tables": known, "content": content_of(known)})
    parts |= {file_of(table): data, MANIFEST: changed.model_dump_json().encode()}
    return zipped(path.with_name("changed.zip"), parts)


def zipped(path: Path, parts: dict[str, bytes]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def column(table: str, name: str) -> int:
    return [field.name for known in tables() if known.name == table for field in known.fields].index(name)


def put(table: str, row: int, name: str, value: Any) -> Callable[[list[list[Any]]], Any]:
    return lambda rows: rows[row].__setitem__(column(table, name), value)


@pytest.mark.parametrize(
    ("table", "row", "name", "value", "message"),
    [
        (
            "evaluation.Topic",
            1,
            "position",
            "second",
            "position: a whole number of ordinary size, found 'second'",
        ),
        ("evaluation.Topic", 0, "text", None, "Topic.jsonl:1: text: text, not null"),
        ("evaluation.Topic", 0, "campaign", 7, "campaign: the number of a row of evaluation.Campaign, 1 to 1"),
        ("evaluation.Run", 0, "run_id", "x" * 300, "run_id: at most 200 characters, found 300"),
        ("evaluation.Event", 0, "at", "soon", "Event.jsonl:1: at: a time, found 'soon'"),
        (
            "evaluation.Event",
            0,
            "payload",
            {"import": 10**6},
            "payload: JSON that names rows of evaluation.Event",
        ),
        (
            "evaluation.Event",
            0,
            "payload",
            {"dropped": {"x": 1}},
            "payload: JSON that names rows of evaluation.Event",
        ),
        ("evaluation.Event", 0, "payload", {"dropped": [1]}, "payload: JSON that names rows of evaluation.Event"),
        ("evaluation.Run", 0, "task", "XYZ", "a row breaks a rule of the database"),
        (
            "evaluation.Topic",
            1,
            "position",
            2**64,
            "Topic.jsonl:2: position: a whole number of ordinary size, found",
        ),
        ("evaluation.Event", 0, "at", "0001-01-01T00:00:00+14:00", "Event.jsonl:1: at: a time, found '0001"),
        pytest.param(
            *(
                "evaluation.ListedNugget",
                0,
                "weight",
                10**400,
                "ListedNugget.jsonl:1: weight: a number, found 1000",
            ),
            id="endless weight",
        ),
        ("evaluation.Topic", 0, "text", "a\0", "Topic.jsonl:1: row: a list of "),
        ("evaluation.Topic", 1, "text", "\ud800", "Topic.jsonl:2: row: a list of "),
        ("evaluation.Topic", 1, "extra", {"x": float("inf")}, "Topic.jsonl:2: row: a list of "),
    ],
)
def test_a_wrong_row_is_named_and_nothing_is_written(
    file: Path, table: str, row: int, name: str, value: Any, message: str
) -> None:
    before = counts()
    done = run("import_campaign", str(rewritten(file, table, put(table, row, name, value))), "--slug", "copy")
    assert (done.code, message in done.err) == (1, True), done.err
    assert counts() == before


def test_what_is_no_whole_file_is_refused(file: Path, tmp_path: Path) -> None:
    with ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    topics = file_of("evaluation.Topic")
    newer = json.loads(parts[MANIFEST])
    newer["tables"]["evaluation.Tomorrow"] = newer["tables"].pop("evaluation.Finding")
    bad = {
        "checksum": parts | {topics: parts[topics].replace(b"rivers", b"brooks")},
        "it has no tables/evaluation.Topic.jsonl": {name: data for name, data in parts.items() if name != topics},
        "no whole manifest.json": {name: data for name, data in parts.items() if name != MANIFEST},
        "which has form 3 of these files: upgrade Assay first": parts
        | {MANIFEST: parts[MANIFEST].replace(b'"format": 2', b'"format": 3')},
        "does not fit together": parts | {MANIFEST: parts[MANIFEST].replace(b'"content": "', b'"content": "0')},
    }
    for message, changed in bad.items():
        done = run("import_campaign", str(zipped(tmp_path / "bad.zip", changed)), "--slug", "copy")
        assert (done.code, message in done.err) == (1, True), done.err
    locked = bytearray(file.read_bytes())
    for signature, flags in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        place = locked.find(signature)
        while place >= 0:
            locked[place + flags] |= 1  # as one with a password says
            place = locked.find(signature, place + 1)
    (tmp_path / "locked.zip").write_bytes(locked)
    half = tmp_path / "half.zip"
    half.write_bytes(file.read_bytes()[:2000])
    for path in (half, tmp_path / "locked.zip", tmp_path / "nothing.zip"):
        assert run("import_campaign", str(path)).code == 1
    assert run("import_campaign", str(file), "--slug", "no name").code == 1


def test_a_snapshot_stays_as_it_was_and_opens_beside(world: World, tmp_path: Path) -> None:
    before = run(*SCORES, "river").out
    snapshot = take_snapshot(
        campaign=world.campaign, name="submitted", contents=SnapshotContents(), actor=world.people["olga"]
    )
    file = b"".join(pieces(snapshot))
    assert (sha256(file).hexdigest(), len(file)) == (snapshot.sha256, snapshot.size)
    with pytest.raises(Refused, match="already"):
        take_snapshot(campaign=world.campaign, name="submitted", contents=SnapshotContents())
    Run.objects.filter(run_id="alpha").update(run_id="renamed")
    add_member(campaign=world.campaign, user=world.people["rita"], role=Role.ASSESSOR)
    Campaign.objects.update(revision=50)
    copy = open_snapshot(snapshot=snapshot, actor=world.people["olga"]).campaign
    assert (copy.slug, copy.name) == ("river--submitted", "River study (submitted)")
    assert run(*SCORES, copy.slug).out == before != run(*SCORES, "river").out
    assert LoadedCampaign.objects.get(campaign=copy).snapshot == snapshot
    assert set(Membership.objects.filter(campaign=copy).values_list("role", flat=True)) == {
        "organizer",
        "auditor",
    }  # who judges since then is not let in
    remove_triggers()
    SnapshotPart.objects.filter(snapshot=snapshot).update(data=b"forged")
    with pytest.raises(Refused, match="not the one that was made"):
        open_snapshot(snapshot=snapshot, actor=world.people["olga"])


def test_no_program_changes_a_snapshot(world: World) -> None:
    snapshot = take_snapshot(campaign=world.campaign, name="kept", contents=SnapshotContents())
    for change in (
        lambda: Snapshot.objects.update(sha256="forged"),
        lambda: SnapshotPart.objects.update(data=b"forged"),
        lambda: SnapshotPart.objects.filter(number=0).delete(),
        snapshot.delete,
    ):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            change()


def test_the_command_keeps_a_snapshot_too(world: World, tmp_path: Path) -> None:
    file = written(tmp_path / "river.zip", "--snapshot", "kept", "--without-texts")
    kept = Snapshot.objects.get()
    assert (kept.name, kept.texts, kept.sha256) == ("kept", False, sha256(file.read_bytes()).hexdigest())


def test_a_judge_of_that_name_who_is_another_is_not_taken_for_them(world: World, file: Path) -> None:
    Judge.objects.filter(name="robot").update(model="another")
    done = run("import_campaign", str(file), "--slug", "copy")
    assert (done.code, "There is another judge named robot" in done.err) == (1, True)
    assert not Topic.objects.filter(campaign__slug="copy").exists()
    assert Nugget.objects.exists()
    assert SupportJudgment.objects.count() == 1


def test_an_adjudication_comes_with_the_judges_of_its_labels(tmp_path: Path) -> None:
    with transaction.atomic():
        world = make_world(tmp_path)
        label = Assignment.objects.filter(judge__name="robot")[0]
        Adjudication.objects.create(
            campaign=world.campaign,
            answer=label.answer,
            nugget_version=label.nugget_version,
            verdict=2,
            labels=[{"judge": label.judge_id, "condition": "", "label": 0}],
            actor=world.people["olga"],
            event=Event.objects.create(campaign=world.campaign, kind="pair.adjudicated"),
        )
        file = written(tmp_path / "river.zip")
        transaction.set_rollback(True)
    for number in range(5):
        Judge.objects.create(name=f"judge {number}", kind=JudgeKind.HUMAN)
    loaded(file)
    (loaded_label,) = Adjudication.objects.get().labels
    assert loaded_label["judge"] == Judge.objects.get(name="robot").pk
