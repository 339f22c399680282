"""Passages are graded by keys alone, exported, and compared with an LLM's grades."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import expect
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from evaluation.imports.segments import import_segments
from evaluation.imports.topics import import_qrels
from evaluation.models import Judgment, Segment
from evaluation.stages import GRADE
from tests.browser.accessibility import axe, layout
from tests.browser.judge.judging_desk import Visit
from tests.worlds.cast import write_source
from tests.worlds.imported import report
from tests.worlds.judging_desk import JudgeWorld, make_judging_task

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

PASSAGES = 40


@pytest.fixture
def llms(world: JudgeWorld, tmp_path: Path) -> dict[str, int]:
    """Load passages with the grades of an LLM on 40 in all, those that runs cite included; return them by docid."""
    there = Segment.objects.filter(campaign=world.campaign, has_text=True).count()
    docids = [f"more-{number}" for number in range(PASSAGES - there)]
    texts = "".join(
        f'{{"docid": "{docid}", "title": "On {docid}", "segment": "Rivers bend. Sand moves."}}\n'
        for docid in docids
    )
    import_segments(campaign=world.campaign, sources=[write_source(tmp_path, "s.jsonl", texts)])
    graded = Segment.objects.filter(campaign=world.campaign, has_text=True).values_list("docid", flat=True)
    grades = {docid: number * 7 // 3 % 4 for number, docid in enumerate(graded)}
    lines = "".join(f"t1 0 {docid} {grade}\n" for docid, grade in grades.items())
    import_qrels(campaign=world.campaign, source=write_source(tmp_path, "q.txt", lines), name="UMBRELA")
    return grades


def test_forty_passages_are_graded_by_forty_keys_and_compared_with_an_llm(
    world: JudgeWorld, visit: Visit, llms: dict[str, int]
) -> None:
    task = make_judging_task(world.campaign, world.people["ann"], GRADE)
    keys = [str(place * 5 // 2 % 4) for place in range(PASSAGES)]
    with visit(task) as ann:
        expect(ann.page.locator("#h-labels")).to_have_text("How relevant is the passage?")
        expect(ann.page.locator("#answer-head")).to_have_text(f"Passage 1 of {PASSAGES}")
        ann.press("w", "2")
        expect(ann.page.locator("#answer-head")).to_contain_text("Passage 2 of")
        ann.press("Control+z")
        ann.press("1", "[", "Backspace")
        assert ann.progress() == f"Passage 1 of {PASSAGES} · 0 of {PASSAGES} judged"
        for place, key in enumerate(keys, start=1):
            expect(ann.page.locator("#answer-head")).to_have_text(f"Passage {place} of {PASSAGES}")
            ann.press(key)
        expect(ann.page.locator("[data-act=finish]")).to_contain_text("Review and submit")
        ann.submit()
        assert ann.console_errors == []
    mine = dict(Judgment.objects.current().values_list("segment__docid", "label"))
    assert len(mine) == PASSAGES
    assert sorted(mine.values()) == sorted(map(int, keys))
    out = StringIO()
    call_command("export", "qrels", "--campaign", "river", "--judge", "ann", stdout=out)
    assert sorted(out.getvalue().splitlines()) == sorted(f"t1 0 {docid} {grade}" for docid, grade in mine.items())
    compared = report("confusion", "--rows", "qrels:grade-ann", "--columns", "qrels:UMBRELA")
    pairs = [(mine[docid], llms[docid]) for docid in sorted(mine)]
    rows, columns = zip(*pairs, strict=True)
    assert compared["labels"] == ["0", "1", "2", "3"]
    assert compared["counts"] == confusion_matrix(rows, columns, labels=range(4)).tolist()
    for name, weights in (("kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")):
        theirs = cohen_kappa_score(rows, columns, labels=list(range(4)), weights=weights)
        assert compared[name] == pytest.approx(theirs, abs=1e-12)


def test_the_desk_is_clean_in_both_themes_at_a_desk_and_on_a_phone(
    world: JudgeWorld, visit: Visit, llms: dict[str, int]
) -> None:
    with visit(make_judging_task(world.campaign, world.people["ann"], GRADE)) as ann:
        ann.press("2")
        for width, height in ((1280, 720), (390, 844)):
            ann.page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                ann.page.emulate_media(color_scheme=scheme)
                assert layout(ann.page) == [], f"{width}, {scheme}"
                assert axe(ann.page) == [], f"{width}, {scheme}"
        ann.saved()
