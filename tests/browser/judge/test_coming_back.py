"""Judging without network, in two windows, over reloads and after a reopening: nothing is lost and nothing moves."""

import pytest
from playwright.sync_api import expect

from assessor.models import Desk, WorkingAssignment
from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, TaskAnswer
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from tests.browser.judge.judging_desk import JudgingDesk, Visit, judge_at
from tests.browser.nugget_desk import CALM
from tests.browser.saving.desk_script import BAR, LEASE
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


def test_thirty_labels_without_network_arrive(world: JudgeWorld, visit: Visit) -> None:
    """The next three answers are there; a later one says why it is not."""
    with visit(world.assign) as ann:
        ann.saved()
        expect(ann.page.locator("#s-0")).to_be_visible()
        ann.page.wait_for_timeout(500)  # the next ones are fetched
        seen = TaskAnswer.objects.filter(task=world.assign, seen_at__isnull=False)
        assert list(seen.values_list("position", flat=True)) == [0]
        ann.page.context.set_offline(True)
        ann.press("w", *"1" * 16)
        ann.answer_is(2)
        expect(ann.page.locator("#s-0")).to_contain_text("carry sand")
        ann.press("w", *"2" * 14)
        expect(ann.page.locator(BAR)).to_contain_text("30 labels wait on this device; keep working.")
        assert len(set(ann.checked())) == 1
        ann.press("]", "]", "]")
        expect(ann.page.locator("#answer-problem")).to_contain_text("There is no connection", timeout=CALM)
        ann.press("w", "1")
        assert ann.checked() == []  # nobody judges what is not on the screen
        ann.page.context.set_offline(False)
        expect(ann.page.locator("#answer-problem")).to_be_hidden(timeout=CALM)
        ann.press("3")
        ann.saved()
        values = sorted(ann.labels().values())
        assert values == ["not_support"] + ["partial_support"] * 14 + ["support"] * 16
        expect(ann.page.locator(BAR)).to_contain_text("labels saved")
        ann.console_errors.clear()  # the browser itself tells of each request that failed


def test_a_second_tab_reads_until_it_is_used_there(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("w", "1")
        ann.saved()
        with judge_at(ann.page.context, world, world.assign) as second:
            expect(second.page.locator(LEASE)).to_contain_text("Open in another window")
            second.page.locator(".row").first.focus()
            second.press("2")
            assert second.checked() == ["support"]
            assert second.page.locator(".labels:not(:disabled)").count() == 0
            second.page.get_by_role("button", name="Use it here").click()
            expect(ann.page.locator(LEASE)).to_contain_text("Moved to another window")
            expect(second.page.locator(".labels:disabled")).to_have_count(0)
            second.page.locator(".row").first.focus()
            second.press("2")
            second.saved()
            assert list(second.labels().values()) == ["partial_support"]
            expect(ann.page.locator(".labels:not(:disabled)")).to_have_count(0)


def test_two_devices_that_labelled_one_pair_choose(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as first, visit(world.assign) as second:
        first.page.context.set_offline(True)
        first.page.locator(".row").first.focus()
        first.press("1")
        second.page.get_by_role("button", name="Use it here").click()
        expect(second.page.locator(".labels:disabled")).to_have_count(0)
        second.page.locator(".row").first.focus()
        second.press("3")
        second.saved()
        first.page.context.set_offline(False)
        expect(first.page.locator(LEASE)).to_contain_text("Nothing typed here is lost.", timeout=CALM)
        first.page.get_by_role("button", name="Use it here").click()
        conflict = first.page.locator("#conflict")
        expect(conflict.locator("[data-side=mine]")).to_contain_text("N1 · Support")
        expect(conflict.locator("[data-side=theirs]")).to_contain_text("N1 · Not")
        conflict.get_by_role("button", name="Keep mine").click()
        first.saved()
        assert list(first.labels().values()) == ["support"]
        first.console_errors.clear()
        second.console_errors.clear()


def test_a_reload_leads_back_to_the_same_row_and_undo_goes_on(world: JudgeWorld, visit: Visit) -> None:
    """Check 12 at a judging desk."""
    with visit(world.assign, viewport={"width": 1440, "height": 420}) as ann:
        order = texts_of_all(ann)
        ann.press("]", "w", "1", "2", "3", "x")
        ann.type("half a rea")
        ann.press("Escape", *"1" * 8)
        ann.saved()
        ann.page.locator("#rows").evaluate("(pane) => pane.scrollTo(0, 120)")
        ann.reload()
        assert ann.page.locator("#answer-head").inner_text() == "Answer 2 of 6"
        ann.is_on("N12")
        assert ann.page.locator("#rows").evaluate("(pane) => pane.scrollTop") == 120
        assert texts_of_all(ann) == order
        ann.press("Control+z", "Control+z")
        ann.is_on("N10")
        ann.saved()
        ann.reload()
        assert len(ann.labels()) == 9
        ann.press("Control+Shift+z")
        ann.is_on("N10")
        ann.saved()
        assert len(ann.labels()) == 10
        ann.page.locator(".row").nth(3).focus()
        ann.press("x")
        assert ann.focused("e.tagName") == "INPUT"
        ann.press("Escape")
        assert ann.console_errors == []


def test_a_sentence_typed_before_its_label_survives_a_reload(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.press("e")
        ann.type("2")
        ann.press("Enter")
        ann.reload()
        row = ann.page.locator(".row").first
        expect(row.locator(".row-place")).to_have_text("S2")
        ann.press("3")
        ann.saved()
        ann.reload()
        expect(row.locator(".row-place")).to_have_text("S2")
        assert WorkingAssignment.objects.get().sentence == 1
        ann.press("k", "0")
        expect(row.locator(".row-place")).to_be_hidden()
        assert ann.console_errors == []


def test_a_crashed_page_resumes_at_the_first_unjudged(world: JudgeWorld, visit: Visit) -> None:
    """Check 104 at the judging desks: what the server knows of the place is older than the labels."""
    for task in (world.assign, world.scratch):
        with visit(task) as judge:
            judge.press("1", "2", "3")
            judge.saved()
            [first, *_, current] = judge.desk(
                "desk.progress.keys(desk.progress.answers[0].id).concat(desk.work.current)"
            )
            answer = judge.desk("desk.progress.answers[0].id")
            Desk.objects.filter(task=task).update(place={"answers": {"answer": answer}, "labels": {"row": first}})
            crash(judge)
            with judge_at(judge.page.context, world, task) as resumed:
                resumed.page.locator(".labels:not(:disabled)").first.wait_for()
                assert resumed.desk("desk.work.current") == current


def crash(judge: JudgingDesk) -> None:
    """End a page without a word to the server, as a browser does that is killed."""
    killed, judge.page = judge.page, judge.page.context.new_page()
    judge.page.context.set_offline(True)
    killed.close()
    judge.page.context.set_offline(False)


def test_each_task_has_an_order_of_its_own_and_keeps_it(world: JudgeWorld, visit: Visit) -> None:
    """Check 27. Three orders of the same six answers: that all are alike by chance happens once in half a million."""
    orders = set()
    for task in (world.assign, world.scratch, world.shown):
        with visit(task) as judge:
            order = texts_of_all(judge)
            judge.reload()
            assert texts_of_all(judge) == order
            orders.add(tuple(order[:6]))
    assert len(orders) > 1


def texts_of_all(ann: JudgingDesk) -> list[str]:
    ids: list[str] = ann.desk(
        "[...desk.progress.answers.map(({ id }) => id), ...desk.store.nuggets.map(({ key }) => key)]"
    )
    return ids


def test_a_reopened_task_starts_from_its_labels(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as ann:
        ann.label_all("support")
        ann.submit()
        ann.press("1")
        assert ann.page.locator("[data-act=finish], [data-act=submit]").count() == 0
        change_tasks(
            campaign=world.campaign,
            actor=world.people["olga"],
            order=TaskChange(
                change=Change.REOPEN, tasks=(world.assign.public_id,), reason="look at answer 1 again"
            ),
        )
        ann.reload()
        expect(ann.page.locator("[data-notice=reopened]")).to_contain_text("look at answer 1 again")
        assert len(ann.labels()) == 96
        ann.page.locator(".row").first.focus()
        ann.press("3")
        ann.submit()
        assert ann.console_errors == []
    assignments = Assignment.objects.filter(stands=True)
    assert (assignments.count(), assignments.filter(label=AssignmentLabel.NOT_SUPPORT).count()) == (96, 1)
    assert WorkingAssignment.objects.count() == 96
