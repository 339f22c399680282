"""Acceptance checks 37 and 38 at the judging desks: everything is said once, none at each key, the focus never lost.

The page runs on a clock of the test's own, so that three seconds between two messages take no three seconds.
"""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import LiveRegions, record_announcements
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.browser.nugget_desk import CALM
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

GAP_MS, STEP_MS = 3000, 1000
NAME_OF_FOCUS = """() => document.activeElement.getAttribute("aria-labelledby").split(" ")
  .map((id) => document.getElementById(id).textContent.trim()).join(" ").replace(/\\s+/g, " ")"""


class Listener(JudgingDesk):
    announcements: LiveRegions

    def hears(self, *expected: str) -> None:
        """Let the time pass between two messages; what was said since is this, and nothing else."""
        for _ in range(2 * GAP_MS // STEP_MS):
            self.saved()  # else a save under way would seem to take seconds
            self.page.clock.run_for(STEP_MS)
        assert [text.replace("\u00a0", " ") for text in self.announcements.new_texts()] == list(expected)


def listening(judge: JudgingDesk) -> Listener:
    """Open the desk anew, so that it is heard from the first moment."""
    listener = Listener(judge.page, judge.task)
    listener.announcements = record_announcements(judge.page)
    judge.page.clock.install()
    listener.reload()
    return listener


def is_calm(listener: Listener) -> None:
    """Two messages have three seconds between them, and the focus was never on nothing."""
    times = listener.announcements.times()
    # The first load's messages and the second's: each has a clock that starts anew.
    assert [after - before for before, after in pairwise(times) if 0 <= after - before < GAP_MS - 50] == []
    assert listener.announcements.lost() == []


def test_an_answer_is_judged_and_everything_is_said_once(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.assign) as judge:
        ann = listening(judge)
        ann.hears()
        ann.press("w", "1")
        ann.hears("N1 support, 15 left")
        ann.press(*"23231")
        late = "N3 not, 13 left. N4 partial, 12 left. N5 not, 11 left. N6 support, 10 left."
        ann.hears("N2 partial, 14 left", late)  # what comes too fast is said together
        ann.press("x", "Enter")
        ann.hears("Say why in a few words.")
        ann.type("in Latin")
        ann.hears()
        ann.press("Enter")
        ann.hears("N7 can't judge, 9 left")
        ann.press("k", "e")
        ann.type("2")
        ann.press("Enter")
        ann.hears("N7 in S2")
        ann.press("Control+z")
        ann.hears("Undone: Answer 1, N7, Can't judge: in Latin")
        ann.press("Control+Enter")
        ann.hears()  # the question has the focus, and so is read out
        ann.press("Tab", "Enter")
        ann.hears("Answer 2 of 6")
        lose_the_server(ann)
        is_calm(ann)


def lose_the_server(ann: Listener) -> None:
    """An outage is said once, though work goes on, and so is its end."""
    ann.page.route("**/ops/", lambda route: route.fulfill(status=503, body="no"))
    ann.press("w", "1")
    # The answer comes in real time; to a clock that runs ahead of it the server would seem slow.
    ann.page.clock.run_for(STEP_MS)
    expect(ann.page.locator("[data-notice=save]")).to_contain_text("could not save", timeout=CALM)
    ann.page.clock.run_for(GAP_MS)
    ann.press("2")
    ann.page.clock.run_for(2 * GAP_MS)
    assert " ".join(ann.announcements.new_texts()).count("could not save") == 1
    ann.page.unroute("**/ops/")
    ann.page.get_by_role("button", name="Try now").press("Enter")
    ann.saved()
    ann.page.clock.run_for(GAP_MS)
    assert " ".join(ann.announcements.new_texts()).count("labels saved") == 1


def test_pairs_are_judged_and_everything_is_said_once(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.shown) as judge:
        ann = listening(judge)
        ann.hears()
        label = ann.page.locator("#shown-chip").inner_text().removeprefix("Machine label: ").lower()
        count = ann.desk("desk.progress.keys(desk.answers.current).length")
        is_alone = count == 1
        border = "Answer 2 of 6. " if is_alone else ""  # a label that leads into the next answer says so
        left = "Answer 1 done." if is_alone else f"{count - 1} left"
        ann.press("a")
        ann.hears(f"{border}S1 [1] accepted: {label}, {left}")
        ann.press("k", "3")
        ann.hears(*(["Answer 1 of 6"] if is_alone else []), f"{border}S1 [1] none, {left}")
        ann.press("[" if ann.desk("desk.answers.answer.number") > 1 else "]")
        ann.hears(ann.page.locator("#answer-head").inner_text())
        is_calm(ann)


def test_a_pair_is_called_by_its_sentence_and_its_passage(world: JudgeWorld, visit: Visit) -> None:
    with visit(world.scratch) as ben:
        for _ in range(3):
            name = ben.page.evaluate(NAME_OF_FOCUS)
            sentence = ben.page.locator("#pair-sentence").inner_text()
            passage = " ".join(ben.page.locator(".cited-text [data-at]").all_inner_texts())
            for part in (ben.page.locator("#pair-name").inner_text(), sentence, passage, "no label"):
                assert part in name, name
            ben.press("ArrowDown")
