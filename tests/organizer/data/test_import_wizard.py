"""The import wizard: files are tried out, shown, and loaded; what is wrong is told in full; nothing happens twice."""

import csv
import gzip
import json
from io import BytesIO, StringIO
from pathlib import Path
from threading import Event as Signal
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now

from evaluation.models import Answer, Event, Finding, Run, SupportJudgment, Topic
from exchange import background
from exchange.models import ImportAttempt
from tests.worlds.campaign import World, make_world
from tests.worlds.imported import run

pytestmark = pytest.mark.postgresql

DATA = "/campaigns/river/data/"


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.FILES_DIR = tmp_path / "files"


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def sent(client: Client, kind: str, *files: tuple[str, str | bytes], **options: str) -> ImportAttempt:
    given = [SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text) for name, text in files]
    response = client.post(f"{DATA}load/{kind}/", {"files": given, **options})
    assert response.status_code == 302, response.content.decode()
    return ImportAttempt.objects.latest("pk")


def page_of(client: Client, attempt: ImportAttempt) -> str:
    return client.get(f"{DATA}imports/{attempt.pk}/").content.decode()


def loaded(client: Client, attempt: ImportAttempt) -> str:
    return client.post(f"{DATA}imports/{attempt.pk}/commit/", follow=True).content.decode()


def run_line(run: str, topic: str, **changed: object) -> str:
    row = {"run_id": run, "topic_id": topic, "references": ["d1"], "answer": [{"text": "So.", "citations": [0]}]}
    return json.dumps(row | changed)


VERDICT = '{"topic_id": "t1", "left": "alpha", "right": "beta", "verdict": "left"}\n'


def test_files_are_tried_out_and_then_loaded(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("more.tsv", "t1\twhy rivers bend\nt3\thow deep\n"))
    page = page_of(olga, attempt)
    assert all(text in page for text in ("Tried out.", "new topics", "how deep", "more.tsv"))
    assert not Topic.objects.filter(topic_id="t3").exists()
    page = loaded(olga, attempt)
    assert "1 topic added, 1 already loaded." in page
    assert "Next: load" not in page  # nothing is missing that a campaign is filled with
    SupportJudgment.objects.all().delete()
    assert "Next: load citation labels" in page_of(olga, attempt)
    attempt.refresh_from_db()
    event = Event.objects.latest("pk")
    assert (attempt.state, attempt.event, event.kind) == ("loaded", event, "import.topics")
    assert (event.actor, attempt.loaded_by) == (world.people["olga"],) * 2
    assert Topic.objects.filter(topic_id="t3").exists()
    assert list(Path(django_settings.FILES_DIR).iterdir()) == []


def test_the_same_file_again_says_that_there_is_nothing_to_load(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "qrels", ("more.txt", "t1 0 d1 3\nt1 0 d2 0\nt2 0 d1 1\n"), source="NIST")
    page = page_of(olga, attempt)
    assert "There is nothing to load." in page
    assert "Nothing changed: 3 grades already loaded." in page
    assert '<button class="go">Load</button>' not in page


def test_findings_are_shown_before_and_stored_after(world: World) -> None:
    olga = world.client("olga")
    before = Finding.objects.count()
    attempt = sent(olga, "runs", ("gamma.jsonl", run_line("gamma", "t1", response_length=900)), group="g")
    assert "response_length is 900" in page_of(olga, attempt)
    assert Finding.objects.count() == before
    loaded(olga, attempt)
    assert Finding.objects.count() == before + attempt.outcome["findings"] > before
    assert Run.objects.get(run_id="gamma").group == "g"


@pytest.mark.parametrize(
    ("kind", "text", "options"),
    [
        (
            "segments",
            '{"docid": "d9", "title": "", "headings": "", "url": "", "segment": "Deep."}',
            {"needed_only": "on"},
        ),
        ("nuggets", '{"qid": "t2", "nuggets": [{"text": "so"}]}', {"origin": "draft", "judge": "gpt"}),
        (
            "nuggets",
            '{"query_id": "t2", "nugget_bank": {"Q?": {"question": "Q?"}}}',
            {"origin": "manual", "judge": "Eve"},
        ),
        (
            "assignments",
            '{"qid": "t1", "run_id": "alpha", "nuggets": [{"text": "sand moves", "assignment": "support"}]}',
            {"origin": "auto", "judge": "Eve", "by": "human"},
        ),
        (
            "support",
            '{"run_id": "alpha", "topic_id": "t1", "sentence": 0, "docid": "d1", "label": "no_support"}',
            {"judge": "Eve", "by": "human", "condition": "scratch"},
        ),
        ("battles", VERDICT, {"by": "human", "judge": "Eve", "battle_set": "imported"}),
        ("scores", "run_id,vital\nalpha,0.5\n", {"table": "published"}),
        (
            "practice",
            '{"kind": "support", "text": "a", "statement": "b", "label": "no_support", "explanation": "c"}',
            {},
        ),
    ],
)
def test_every_kind_can_be_loaded(world: World, kind: str, text: str, options: dict[str, str]) -> None:
    olga = world.client("olga")
    attempt = sent(olga, kind, ("file", text), **options)
    assert (attempt.state, attempt.outcome.get("added")) == ("checked", 1), attempt.outcome
    assert attempt.outcome["preview"]["rows"]
    assert "<b>Loaded.</b>" in loaded(olga, attempt)


def test_score_files_of_several_judges_come_with_a_judges_yml(world: World) -> None:
    judges = ("judges.yml", "judges: {a.txt: {name: A, method: pointwise}, b: {name: B}}\n")
    files = (("a.txt", "alpha f1 t1 0.5\n"), ("b.txt", "alpha f1 t1 0.25\n"))
    olga = world.client("olga")
    attempt = sent(olga, "scores", judges, *files)
    assert [row[:2] for row in attempt.outcome["preview"]["rows"]] == [["A", "alpha"], ["B", "alpha"]]
    assert attempt.outcome["preview"]["columns"][0] == "Judge"
    assert "f1 t1 0.5" in page_of(olga, attempt)
    assert "2 scores added" in loaded(olga, attempt)
    page = page_of(olga, sent(olga, "scores", judges, *files, ("c.txt", "alpha f1 t1 1\n")))
    assert "a file of: a.txt, b" in page
    assert "Say whose scores these are" in page_of(olga, sent(olga, "scores", *files))


def test_a_refusal_that_is_no_bad_line_is_said_as_it_is(world: World) -> None:
    olga = world.client("olga")
    assert "where the file does not say, or in its place" in olga.get(f"{DATA}load/battles/").content.decode()
    text = '{"qid": "t2", "nuggets": []}'
    page = page_of(olga, sent(olga, "nuggets", ("n", text), origin="auto", judge="gpt", drafts=""))
    assert "Tried out." in page
    attempt = sent(olga, "scores", ("s", "run_id,vital\nalpha,1\n"), table="A/A")
    assert "A/A is a condition of Assay" in page_of(olga, attempt)


def test_45_runs_with_3_bad_rows_are_refused_whole_and_loaded_once(world: World) -> None:
    """Check 29 of docs/acceptance-checks.md."""
    olga = world.client("olga")
    topics = [f"q{number}" for number in range(21)]
    loaded(olga, sent(olga, "topics", ("topics.tsv", "".join(f"{topic}\tquestion {topic}\n" for topic in topics))))
    good = {f"run{n}.jsonl": [run_line(f"run{n}", topic) for topic in topics] for n in range(45)}
    bad = {name: list(lines) for name, lines in good.items()}
    bad["run7.jsonl"][4] = run_line("run7", "q4", answer=[{"text": 7}])
    bad["run7.jsonl"][11] = run_line("run7", "q99")
    bad["run30.jsonl"][20] = run_line("run30", "q20", references=None)
    before = Answer.objects.count(), Run.objects.count(), Event.objects.count()

    refused = sent(olga, "runs", *((name, "\n".join(lines)) for name, lines in bad.items()))
    table = list(csv.reader(StringIO(olga.get(f"{DATA}imports/{refused.pk}/problems.csv").content.decode())))
    assert table[1:] == [
        ["run7.jsonl", "5", "answer.0.text", "a string, found an integer"],
        ["run7.jsonl", "12", "topic_id", "a topic of the campaign, not q99"],
        ["run30.jsonl", "21", "references", "a list of docids, the field is missing"],
    ]
    assert "3 problems" in page_of(olga, refused)
    assert (Answer.objects.count(), Run.objects.count(), Event.objects.count()) == before
    assert olga.post(f"{DATA}imports/{refused.pk}/commit/").status_code == 422

    files = [(name, "\n".join(lines)) for name, lines in good.items()]
    assert "45 runs added" in loaded(olga, sent(olga, "runs", *files))
    assert Answer.objects.count() == before[0] + 45 * 21
    repeated = sent(olga, "runs", *files)
    assert "Nothing changed: 45 runs already loaded." in page_of(olga, repeated)
    assert Answer.objects.count() == before[0] + 45 * 21


def test_large_files_are_left_to_a_worker(world: World, settings: Any) -> None:
    settings.IMPORT_AT_ONCE_BYTES = 10
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("t.tsv.gz", gzip.compress(b"t8\tso\n")))
    page = page_of(olga, attempt)
    assert all(text in page for text in ("Being tried out.", "No worker runs", 'hx-trigger="every 1s"'))
    background.run("w", Signal())
    assert "Tried out." in page_of(olga, attempt)
    assert "Being loaded." in loaded(olga, attempt)
    background.run("w", Signal())
    assert "1 topic added." in page_of(olga, attempt)


def test_files_that_are_too_many_bytes_are_not_taken(world: World, settings: Any) -> None:
    settings.API_UPLOAD_MAX_BYTES = 1000
    text = SimpleUploadedFile("t.tsv", b"t3\t" + b"x" * 2000)
    response = world.client("olga").post(f"{DATA}load/topics/", {"files": text})
    assert (response.status_code, "Ask an administrator to load larger files" in response.content.decode()) == (
        422,
        True,
    )
    assert not ImportAttempt.objects.exists()


def test_a_rubric_shows_its_weights_before_it_is_loaded(world: World) -> None:
    olga = world.client("olga")
    criteria = '{"qid": "t1", "criteria": [{"text": "bends", "weight": 4.5}, {"text": "sand", "weight": -3}]}'
    page = page_of(olga, sent(olga, "nuggets", ("rubric.jsonl", criteria), origin="manual", judge="panel"))
    assert "Weight</th>" in page
    assert ">4.5</td>" in page
    assert ">-3</td>" in page


def test_what_is_put_aside_or_too_old_leaves_no_file(world: World) -> None:
    olga = world.client("olga")
    aside, old = (sent(olga, "topics", ("t.tsv", f"t{n}\tso\n")) for n in (5, 6))
    olga.post(f"{DATA}imports/{aside.pk}/discard/")
    ImportAttempt.objects.filter(pk=old.pk).update(expires_at=now())
    background.sweep()
    assert list(Path(django_settings.FILES_DIR).iterdir()) == []
    page = " ".join(olga.get(DATA).content.decode().split())
    assert all(text in page for text in ("discarded", "too old"))
    assert olga.post(f"{DATA}imports/{old.pk}/commit/").status_code == 422


def test_nobody_but_organizers_loads(world: World) -> None:
    attempt = sent(world.client("olga"), "topics", ("t.tsv", "t5\tso\n"))
    for name, status in (("rita", 403), ("ann", 404), ("sam", 404)):
        client = world.client(name)
        assert client.get(f"{DATA}load/topics/").status_code == status
        assert client.post(f"{DATA}imports/{attempt.pk}/commit/").status_code == status
    assert world.client("olga").get(f"{DATA}load/nonsense/").status_code == 404
    assert not Topic.objects.filter(topic_id="t5").exists()


def test_a_formula_in_a_file_name_is_none_in_the_table_of_problems(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("=cmd.tsv", "\n"))
    text = olga.get(f"{DATA}imports/{attempt.pk}/problems.csv").content.decode()
    assert "'=cmd.tsv" in text
    assert BytesIO(text.encode())


def test_check_92_broken_lines_and_conflicts_are_told_in_one_try(world: World) -> None:
    """Line 2 says something else than what is loaded, line 3 is broken, line 4 names no topic of the campaign."""
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("t.tsv", "t3\thow deep\nt1\tanother text\nbroken\n"))
    assert [row[1:3] for row in attempt.problems] == [[2, "text"], [3, "columns"]]
    qrels = sent(olga, "qrels", ("q.txt", "t1 0 d1 3\nt1 0 d2 2\nt1 0\nt9 0 d1 1\n"), source="NIST")
    assert [row[1:3] for row in qrels.problems] == [[2, "grade"], [3, "columns"], [4, "topic"]]
    for refused in (attempt, qrels):
        page = page_of(olga, refused)
        assert "--replace" not in page
        assert "Send again, changing what is loaded" in page
        assert "Change what is loaded</button>" not in page  # a broken line has to be mended first
    assert Topic.objects.get(topic_id="t1").text == "why rivers bend"


def test_unreadable_lines_are_told_with_the_rest(world: World) -> None:
    attempt = sent(world.client("olga"), "topics", ("t.tsv", b"t3\thow \xff deep\nt1\tanother text\nbroken\n"))
    assert [row[1] for row in attempt.problems] == [1, 2, 3]


def test_check_92_a_conflict_is_resolved_by_a_button(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("t.tsv", "t2\tanother <b>text</b>\n"))
    assert attempt.state == "refused"
    page = page_of(olga, attempt)
    assert "how dams fail" in page  # what is loaded
    assert "another &lt;b&gt;text&lt;/b&gt;" in page
    assert "--replace" not in page
    done = olga.post(f"{DATA}imports/{attempt.pk}/change/", follow=True).content.decode()
    assert "1 changed" in done
    assert Topic.objects.get(topic_id="t2").text == "another <b>text</b>"
    assert list(Path(django_settings.FILES_DIR).iterdir()) == []
    assert olga.post(f"{DATA}imports/{attempt.pk}/change/").status_code == 422  # its files are gone


def test_labels_keep_a_text_and_are_counted(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("t.tsv", "t1\tanother text\n"))
    page = olga.post(f"{DATA}imports/{attempt.pk}/change/", follow=True).content.decode()
    assert "labels hang on it" in page
    assert "cannot be replaced: " in page
    assert Topic.objects.get(topic_id="t1").text == "why rivers bend"


@pytest.mark.parametrize(
    ("kind", "text", "options", "was", "becomes"),
    [
        ("qrels", "t1 0 d1 2\n", {"source": "NIST"}, "3", "2"),
        (
            "segments",
            '{"docid": "d1", "url": "", "title": "On bends", "headings": "", "segment": "Mud stays."}\n',
            {},
            "Sand moves. <b>raw</b>",
            "Mud stays.",
        ),
        (
            "nuggets",
            '{"qid": "t1", "nuggets": [{"text": "mud stays", "importance": "okay"}]}',
            {"origin": "auto", "judge": "robot"},
            "sand moves (vital); banks erode (okay)",
            "mud stays (okay)",
        ),
        (
            "assignments",
            '{"qid": "t1", "run_id": "alpha", "nuggets": [{"text": "sand moves", "assignment": "not_support"}]}',
            {"origin": "auto", "judge": "robot", "by": "llm"},
            "support",
            "not_support",
        ),
        (
            "support",
            '{"run_id": "alpha", "topic_id": "t1", "sentence": 0, "docid": "d1", "label": "no_support"}',
            {"judge": "person", "by": "human", "condition": "scratch"},
            "full_support",
            "no_support",
        ),
    ],
)
def test_a_conflict_shows_old_and_new(
    world: World, kind: str, text: str, options: dict[str, str], was: str, becomes: str
) -> None:
    attempt = sent(world.client("olga"), kind, ("file", text), **options)
    assert [row[4:] for row in attempt.problems] == [[was, becomes]]


def test_conflicts_that_are_put_aside_or_too_old_leave_no_file(world: World) -> None:
    olga = world.client("olga")
    aside, old = (sent(olga, "topics", ("t.tsv", "t2\tanother text\n")) for _ in range(2))
    olga.post(f"{DATA}imports/{aside.pk}/discard/")
    ImportAttempt.objects.filter(pk=old.pk).update(expires_at=now())
    background.sweep()
    assert list(Path(django_settings.FILES_DIR).iterdir()) == []
    assert olga.post(f"{DATA}imports/{old.pk}/change/").status_code == 422


def test_five_problems_of_a_kind_stand_on_the_page_and_all_in_its_csv(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("t.tsv", "broken\n" * 1200))
    assert len(attempt.problems) == 1000
    page = page_of(olga, attempt)
    assert page.count("<code>columns</code>") == 5
    assert "and 995 more of this kind" in page
    assert olga.get(f"{DATA}imports/{attempt.pk}/problems.csv").content.count(b",columns,") == 1000


def test_a_command_prints_each_kind_of_problem(world: World, tmp_path: Path) -> None:
    file = tmp_path / "t.tsv"
    file.write_text("t1\tanother text\n" + "broken\n" * 30, encoding="utf-8")
    done = run("import_topics", "--campaign", "river", str(file))
    assert done.code == 1
    assert f"{file}:1: text: what is already loaded for topic t1; --replace changes it" in done.err
    assert f"and 25 more like {file}:2" in done.err


def test_what_is_loaded_cannot_be_put_aside(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("t.tsv", "t3\thow deep\n"))
    loaded(olga, attempt)
    olga.post(f"{DATA}imports/{attempt.pk}/discard/")
    attempt.refresh_from_db()
    assert attempt.state == "loaded"


LABELS = {"qid": "t1", "run_id": "alpha", "nuggets": [{"text": "sand moves", "assignment": "support"}]}
TWO_KINDS = {
    "topics": ("topics", {"id": "t9", "title": "tides", "text": "Tides rise."}, "topics", ["segments"]),
    "passages": ("segments", {"id": "t9", "title": "tides", "text": "Tides rise."}, "passages", ["topics"]),
    "labels": ("nuggets", LABELS, "nuggets", ["assignments"]),
}


@pytest.mark.parametrize("case", TWO_KINDS)
def test_a_file_that_is_valid_as_two_kinds_is_said_to_be_so_before_it_is_loaded(world: World, case: str) -> None:
    kind, row, words, others = TWO_KINDS[case]
    olga = world.client("olga")
    options = {"origin": "manual", "judge": "Ann"} if kind == "nuggets" else {}
    page = page_of(olga, sent(olga, kind, ("rows.jsonl", json.dumps(row) + "\n"), **options))
    standing = " ".join(page[page.index("Tried out.") : page.index("</p>", page.index("Tried out."))].split())
    assert f"It will be loaded as {words}, and could be read as" in standing
    assert [f"{DATA}load/{other}/" in standing for other in others] == [True]
    sure = page_of(olga, sent(olga, "topics", ("more.tsv", "t8\thow deep\n")))
    assert "could be read as" not in sure


def test_conflicts_are_listed_by_kind_with_five_places(world: World) -> None:
    olga = world.client("olga")
    lines = [f"t{number}\told {number}\n" for number in range(20, 29)]
    loaded(olga, sent(olga, "topics", ("many.tsv", "".join(lines))))
    attempt = sent(olga, "topics", ("many.tsv", "".join(lines).replace("old", "new")))
    page = page_of(olga, attempt)
    assert "9 lines say something" in " ".join(page.split())
    assert page.count('data-head="In the file"') == 5
    assert "and 4 more of this kind" in page
    whole = olga.get(f"{DATA}imports/{attempt.pk}/problems.csv").content.decode()
    assert len(list(csv.reader(StringIO(whole)))) == 10
