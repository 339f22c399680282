"""Working at a judging desk in a real browser, with the keyboard unless a test says otherwise."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from assessor.models import WorkingAssignment, WorkingSupport
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import Task
from tests.browser.nugget_desk import CALM, LAST_WORDS, NuggetDesk
from tests.worlds.judging_desk import JudgeWorld

DESK = "(await (await import('/static/js/judge/main.js')).desk)"
NUGGETS = tuple((f"nugget number {number}", "vital" if number % 2 else "okay") for number in range(1, 17))
KEYS = {"1": "support", "2": "partial_support", "3": "not_support"}
Visit = Callable[..., AbstractContextManager["JudgingDesk"]]


class JudgingDesk(NuggetDesk):
    def desk(self, expression: str) -> Any:
        """Evaluate JavaScript about the page's `desk`, which is a module's and no global."""
        return self.page.evaluate(
            f"async () => {{ const desk = {DESK}; const said = await ({expression}); return said ?? null; }}"
        )

    def press(self, *chords: str) -> None:
        """Press keys one after the other, each when the answer can be read, and could have been."""
        for chord in chords:
            self.is_read()
            super().press(chord)

    def is_read(self) -> None:
        expect(self.page.locator("#answer-problem", has_text="Loading")).to_be_hidden(timeout=CALM)
        expect(self.page.locator("#rows[data-unread]")).to_have_count(0, timeout=CALM)

    def saved(self) -> None:
        self.desk("desk.save.drained()")
        expect(self.page.locator(".row-saving:visible")).to_have_count(0, timeout=CALM)

    def answer_is(self, number: int) -> None:
        self.answer_is_shown(number)
        place = self.page.locator(".row.is-current:visible, #pair:visible").first
        expect(place).to_be_focused(timeout=CALM)

    def answer_is_shown(self, number: int) -> None:
        expect(self.page.locator("#answer-head")).to_contain_text(f"Answer {number} of")

    def progress(self) -> str:
        return self.page.locator("#progress").inner_text()

    def checked(self) -> list[str]:
        """The labels that are chosen on screen, from the top."""
        return [radio.get_attribute("value") or "" for radio in self.page.locator("#rows input:checked").all()]

    def labels(self) -> dict[str, str]:
        """Everything in the database by row key; a label that was cleared is left out."""
        if self.task.stage == "assign":
            rows = WorkingAssignment.objects.filter(task=self.task, label__isnull=False)
            return {
                f"{row.answer.public_id}/{row.nugget_version.nugget.public_id}": AssignmentLabel(
                    row.label
                ).name.lower()
                for row in rows.select_related("answer", "nugget_version__nugget")
                if row.label is not None
            }
        found = WorkingSupport.objects.filter(task=self.task, label__isnull=False)
        return {str(row.pk): SupportLabel(row.label).name.lower() for row in found if row.label is not None}

    def label_all(self, label: str) -> None:
        """Label everything that has no label yet, through the page's store."""
        self.desk(
            "desk.progress.answers.flatMap(({ id }) => desk.progress.unlabelled(id))"
            f".forEach((key) => desk.store.do('label', {{ key, label: '{label}', reason: '', sentence: null }}))"
        )
        self.saved()


@contextmanager
def judge_at(
    context: BrowserContext, world: JudgeWorld, task: Task, page: Page | None = None
) -> Iterator[JudgingDesk]:
    world.client(task.assessor.username).post(f"/desk/{task.public_id}/start/")
    judge = JudgingDesk(page or context.new_page(), task)
    try:
        judge.open()
        judge.desk("desk.lease?.started")
        yield judge
    finally:
        # What the page sends on its way out must have been answered before the database is emptied.
        judge.page.goto("about:blank")
        judge.page.wait_for_timeout(LAST_WORDS)
