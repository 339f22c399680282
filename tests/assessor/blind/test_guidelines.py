"""Guidelines: Markdown becomes text that can do nothing but be read, and only the task's own assessor reads it."""

import pytest

from assessor.blind.guidelines import clean_html, definitions_of
from evaluation.models import Protocol
from evaluation.stages import ASSIGN, MANUAL, STAGES, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from tests.worlds.desk import DeskWorld

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![picture](https://example.org/spy.png)",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](java&#115;cript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "[click](vbscript:x)",
    '<a href="javascript:alert(1)" onclick="alert(1)">x</a>',
    '<p style="position:fixed">x</p>',
    '<iframe src="https://example.org"></iframe>',
    "<svg/onload=alert(1)>",
    "<form action=/accounts/logout/ method=post><button>Go</button></form>",
    '<input name="login"><textarea>x</textarea>',
    '<div id="rows" class="drawer" data-act="submit">x</div>',
    "<style>body{display:none}</style>",
    "<base href=//example.org>",
    "<meta http-equiv=refresh content=0>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
]
ILL = [
    "<script",
    "<img",
    "<iframe",
    "<svg",
    "<form",
    "<input",
    "<textarea",
    "<button",
    "<style",
    "<base",
    "<meta",
    "onerror=",
    "onclick=",
    "onload=",
    "style=",
    "script:",
    "data:text",
    "id=",
    "class=",
    "data-act",
    "src=",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_active_comes_through(text: str) -> None:
    html = clean_html(f"Before\n\n{text}\n\nAfter").lower()
    inside_tags = "".join(part.split(">")[0] for part in html.split("<")[1:])
    assert not [ill for ill in ILL if ill in html and (ill.startswith("<") or ill in inside_tags)]
    assert "before" in html


def test_markdown_is_rendered() -> None:
    html = clean_html("A *nugget* is **one** fact.\n\n- short\n- true\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert "<em>nugget</em>" in html
    assert "<strong>one</strong>" in html
    assert html.count("<li>") == 2
    assert "<table>" in html


def test_headings_stand_below_the_drawer_s_own() -> None:
    html = clean_html("# One\n\n## Two\n\n### Three\n\n#### Four\n\n<h1>raw</h1>")
    assert [n for n in range(1, 7) if f"<h{n}>" in html] == [3, 4, 5, 6]
    assert "<h1" not in html
    assert "<h2" not in html


def test_links_to_pages_work_and_do_not_take_the_desk_away() -> None:
    html = clean_html("[paper](https://example.org/paper)")
    assert 'href="https://example.org/paper"' in html
    assert 'rel="noopener noreferrer"' in html
    assert 'target="_blank"' in html


def test_an_empty_text_is_empty() -> None:
    assert not clean_html("")


@pytest.mark.parametrize("stage", STAGES.values())
def test_every_label_of_a_stage_has_one_line(stage: Stage) -> None:
    lines = definitions_of(stage)
    labels = {label.word for label in stage.labels.by_people}
    expected = labels if stage.judges else {"vital", "okay", "merged", "split"}
    assert expected <= {line.term for line in lines}
    assert all("\n" not in line.meaning and line.meaning.endswith(".") for line in lines)
    assert len({line.term for line in lines}) == len(lines)


def test_by_hand_no_label_speaks_of_proposals() -> None:
    text = " ".join(f"{line.word} {line.meaning}" for line in definitions_of(MANUAL)).lower()
    assert not [word for word in ("propos", "machine", "draft") if word in text]


def test_from_scratch_no_label_speaks_of_a_machine() -> None:
    text = " ".join(f"{line.word} {line.meaning}" for line in definitions_of(SUPPORT_SCRATCH)).lower()
    assert "machine" not in text
    assert "machine" in " ".join(line.meaning for line in definitions_of(SUPPORT_POST_EDIT))


def test_assigning_explains_importance_only_where_it_is_shown() -> None:
    for shown in (True, False):
        terms = {line.term for line in definitions_of(ASSIGN, show_importance=shown)}
        assert ({"vital", "okay"} <= terms) is shown
        assert "vital" not in {line.term for line in definitions_of(SUPPORT_SCRATCH, show_importance=shown)}


def test_an_assessor_reads_the_guidelines_of_the_task(world: DeskWorld) -> None:
    Protocol.objects.update(guidelines="# Nuggets\n\nOne *fact* each. <script>alert(1)</script>")
    address = f"/desk/{world.post_edit.public_id}/guidelines/"
    page = world.client().get(address).content.decode()
    part = world.client().get(f"{address}?part").content.decode()
    for html in (page, part):
        assert "<h3>Nuggets</h3>" in html
        assert "<em>fact</em>" in html
        assert "alert(1)" not in html
        assert "A good answer must contain this." in html
    assert "<header" in page
    assert "<header" not in part


def test_without_guidelines_the_labels_are_still_explained(world: DeskWorld) -> None:
    html = world.client().get(f"/desk/{world.manual.public_id}/guidelines/?part").content.decode()
    assert "no guidelines of its own" in html
    assert "A good answer must contain this." in html


@pytest.mark.parametrize("name", ["ben", "olga", "sam"])
def test_guidelines_of_somebody_else_s_task_are_not_there(world: DeskWorld, name: str) -> None:
    theirs = world.client(name).get(f"/desk/{world.post_edit.public_id}/guidelines/")
    nobodys = world.client(name).get("/desk/nosuchtask000000/guidelines/")
    assert theirs.status_code == nobodys.status_code == 404
