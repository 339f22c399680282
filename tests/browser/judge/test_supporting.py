"""Judging support in a real browser, in both conditions."""

import pytest
from playwright.sync_api import expect

from assessor.models import Operation, WorkingSupport
from evaluation.labels import SupportLabel
from evaluation.models import Protocol, SupportJudgment
from evaluation.terms import TaskState
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

NOTHING_SHOWN = """() => [...document.querySelectorAll("[id*=shown], [class*=shown], [data-do=accept]")].length"""


def pairs(judge: JudgingDesk) -> int:
    count: int = judge.desk("desk.progress.counts().total")
    return count


def wait_for_pair(judge: JudgingDesk, name: str) -> None:
    expect(judge.page.locator("#pair")).to_be_focused()
    expect(judge.page.locator("#pair-number")).to_have_text(name)


def test_a_topic_from_scratch_by_keyboard(world: JudgeWorld, visit: Visit) -> None:
    """Nothing of the machine's is on the page; a pair without a text is shown and not asked."""
    with visit(world.scratch) as ben:
        total = pairs(ben)
        wait_for_pair(ben, f"Pair 1 of {total}")
        assert ben.page.evaluate(NOTHING_SHOWN) == 0
        assert "machine" not in ben.page.locator("main").inner_text().lower()
        assert ben.page.locator("#desk-state").text_content().count("machine") == 0  # type: ignore[union-attr]
        ben.press("a")
        assert ben.checked() == []
        ben.press("1")
        wait_for_pair(ben, f"Pair 2 of {total}")
        ben.press("ArrowUp")
        assert ben.checked() == ["full_support"]
        ben.press("0", "Control+z")
        expect(ben.page.locator("#pair-state")).to_contain_text("Full")
        ben.press("ArrowDown", "x")
        ben.type("in a language I do not read")
        ben.press("Enter")
        wait_for_pair(ben, f"Pair 3 of {total}")
        ben.press(*"32" * total)
        expect(ben.page.locator("#progress")).to_contain_text(f"{total} of {total} judged")
        assert ben.page.get_by_role("button", name="no text").count() <= 1
        ben.submit()
        assert ben.console_errors == []
    judgments = SupportJudgment.objects.filter(stands=True, judge__user=world.people["ben"])
    assert judgments.count() == total
    assert set(judgments.values_list("shown_label", "shown_ms", "accepted")) <= {
        (None, None, None),
        (None, None, False),
    }
    world.scratch.refresh_from_db()
    assert world.scratch.state == TaskState.SUBMITTED


@pytest.mark.walk
def test_the_shown_label_is_never_chosen_and_each_answer_is_one_key(world: JudgeWorld, visit: Visit) -> None:
    """Check 25: nothing is preselected; accepting and each rejecting cost one key; how long it took is kept."""
    with visit(world.shown) as ann:
        total = pairs(ann)
        widths = set()
        for number, key in enumerate("a123a", start=1):
            wait_for_pair(ann, f"Pair {number} of {total}")
            assert ann.checked() == []
            expect(ann.page.locator("#shown-chip")).to_contain_text("Machine label: ")
            box = ann.page.locator("#shown-chip").bounding_box()
            assert box is not None
            widths.add((box["x"], box["width"]))
            ann.page.wait_for_timeout(60)
            ann.press(key)
        ann.saved()
        assert len(widths) == 1
        rows = list(WorkingSupport.objects.filter(task=world.shown).order_by("pk"))
        are_decided(rows)
        ann.press("k", "k", "k", "k", "k", "3")  # changed after it was accepted
        ann.saved()
        rows[0].refresh_from_db()
        assert (rows[0].accepted, rows[0].label) == (False, SupportLabel.NO_SUPPORT)
        ann.press(*"2" * total)
        expect(ann.page.locator("#progress")).to_contain_text(f"{total} of {total} judged")
        ann.submit()
        assert ann.console_errors == []
    judgments = SupportJudgment.objects.filter(stands=True, judge__user=world.people["ann"])
    assert judgments.count() == total
    assert not judgments.filter(shown_ms=None).exists()


def are_decided(rows: list[WorkingSupport]) -> None:
    assert [row.accepted for row in rows] == [True, False, False, False, True]
    assert [row.label == row.shown_label for row in rows if row.accepted] == [True, True]
    full, partial, none = SupportLabel.FULL_SUPPORT, SupportLabel.PARTIAL_SUPPORT, SupportLabel.NO_SUPPORT
    assert [row.label for row in rows[1:4]] == [full, partial, none]
    assert all(row.shown_ms is not None and 30 < row.shown_ms < 60_000 for row in rows)
    sources = Operation.objects.filter(kind="label").order_by("seq").values_list("source", flat=True)
    assert list(sources) == ["accept", "key", "key", "key", "accept"]


def test_the_passage_is_searched_and_stays_where_it_is_cited_again(world: JudgeWorld, visit: Visit) -> None:
    Protocol.objects.update(place_help=False)
    with visit(world.scratch) as ben:
        ben.press("/")
        ben.type("1 2 3 a x")
        expect(ben.page.locator("#text-search")).to_have_value("1 2 3 a x")
        ben.retype("second")
        expect(ben.page.locator("#text-hits")).to_have_text("1 hit")
        ben.press("Enter", "Escape")
        wait_for_pair(ben, f"Pair 1 of {pairs(ben)}")
        ben.press("/")
        ben.retype("second")
        expect(ben.page.locator("#text-hits")).to_have_text("1 hit")
        ben.page.locator("#pair").focus()
        ben.press("g")
        expect(ben.page.locator("#cited")).to_be_focused()
        ben.press("b")
        expect(ben.page.locator("#pair")).to_be_focused()
        for _ in range(pairs(ben) - 1):
            before = ben.page.locator("#cited article").get_attribute("data-passage")
            ben.press("ArrowDown")
            after = ben.page.locator("#cited article").get_attribute("data-passage")
            assert ben.page.locator("#same-passage").is_visible() == (before == after)
            marked = ben.page.locator("[data-index][aria-current=true]")
            expect(marked).to_have_count(1)
        assert ben.labels() == {}


def test_a_citation_without_a_text_says_why_it_is_not_asked(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch) as ben:
        ben.desk("desk.answers.show(desk.store.pairs.find((pair) => !pair.judgeable).answer)")
        # Playwright does not press what is aria-disabled, people do.
        ben.page.locator("#answer").get_by_role("button", name="no text").first.click(force=True)
        expect(ben.page.get_by_text("is not asked: no text").first).to_be_attached()
