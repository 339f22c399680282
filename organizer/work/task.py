"""A task: its submissions, its changes, the lineage of its list, and its desk as the assessor sees it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from assessor.blind.cited import CitedPassage
from assessor.blind.desk import DeskPage, TaskHead, desk_page, task_head
from assessor.blind.guidelines import Guidelines, guidelines_of
from assessor.blind.judging import ShownAnswer, shown_answer
from assessor.blind.passages import Passage
from assessor.blind.practice import PracticeProgress, practice_progress
from assessor.desk.task_labels import SEPARATOR
from assessor.progress import matrix as work_rows
from assessor.progress.matrix import task_for
from evaluation.campaigns.access import may_organize
from evaluation.domain.lineage import Wording, derivation_of
from evaluation.errors import NoSuchTask
from evaluation.labels import LabelSet
from evaluation.models import Campaign, Submission, Task
from evaluation.rules.tasks import Act, can_act
from evaluation.tasks.changes import Change, change_tasks
from evaluation.tasks.hand_out import reassign
from evaluation.terms import Decision, Importance, Making, TaskState
from organizer.access import get_row
from organizer.work.forms import DONE, PRIORITIES, TaskForm
from reports.metrics.edits import EDIT_CLASSES
from reports.nuggets.descriptives import edits_of
from web import audit_log


@require_safe
def task(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, task = get_row(request.user, slug, task_for, public_id)
    submissions = work_rows.submissions_of(task)
    version = request.GET.get("version", "")
    of_version = (submission for submission in submissions if str(submission.version) == version)
    opened = next(of_version, next(iter(submissions), None))
    context = {
        "campaign": campaign,
        "task": task,
        "cell": work_rows.task_cells([task])[0],
        "submissions": submissions,
        "chosen": opened,
        "picture": picture_of(opened) if opened else None,
        "remarks": task.remarks.select_related("answered_by"),
        "history": work_rows.history_of(task),
        **_acts(request, campaign, task),
    }
    return render(request, "organizer/task.html", context)


def _acts(request: UserRequest, campaign: Campaign, task: Task) -> dict[str, Any]:
    if not may_organize(request.user, campaign):
        return {"may": {}}
    state = TaskState(task.state)
    assessors = work_rows.assessors_for(request.user, campaign)
    return {
        "may": {
            **{act.value: can_act(act, state) for act in (Act.REOPEN, Act.BLOCK, Act.UNBLOCK, Act.WITHDRAW)},
            # Nobody works on it any more, so there is no day to keep.
            "reschedule": state not in (TaskState.SUBMITTED, TaskState.WITHDRAWN),
            "answer": True,
        },
        "others": [assessor for assessor in assessors if assessor.pk != task.assessor_id],
        "priorities": PRIORITIES,
    }


@require_POST
def change_task(request: UserRequest, slug: str, public_id: str, change: Change) -> HttpResponse:
    campaign, task = get_row(request.user, slug, task_for, public_id, may_organize)
    order = TaskForm(request.POST).order(change, (task.public_id,))
    change_tasks(campaign=campaign, order=order, actor=request.user)
    messages.success(request, f"{DONE[change]}.")
    return redirect("organizer:task", campaign.slug, public_id)


@require_POST
def reassign_task(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, task = get_row(request.user, slug, task_for, public_id, may_organize)
    assessor, reason = request.POST.get("assessor", ""), request.POST.get("reason", "")
    new = reassign(campaign=campaign, task=task.public_id, assessor=assessor, reason=reason, actor=request.user)
    text = "Reassigned: this is the new, empty task. What was done before is kept and not counted."
    messages.success(request, text)
    return redirect("organizer:task", campaign.slug, new)


WIDTH, ROW, MARGIN = 1000, 28, 24
LEFT, RIGHT = 430, 570  # where the lines begin and end
LETTERS = 62  # of a text that fit beside them


@dataclass(frozen=True, slots=True)
class LineageBox:
    """A nugget at its height in the picture. `fate`: outcome of a draft, or origin of a nugget."""

    number: int
    text: str
    short: str
    y: int
    fate: str
    importance: Importance


@dataclass(frozen=True, slots=True)
class LineageStep:
    """A row of the table that says the same as the picture; a removed draft is one without a nugget."""

    drafts: tuple[LineageBox, ...]
    what: str
    nugget: LineageBox | None = None

    @property
    def paths(self) -> list[str]:
        if self.nugget is None:
            return []
        middle, end = (LEFT + RIGHT) // 2, self.nugget.y - 4
        return [f"M{LEFT} {box.y - 4} C{middle} {box.y - 4} {middle} {end} {RIGHT} {end}" for box in self.drafts]


@dataclass(frozen=True, slots=True)
class LineagePicture:
    """Drafts on the left, the final list on the right, and the taxonomy's classes of this topic."""

    drafts: list[LineageBox]
    nuggets: list[LineageBox]
    steps: list[LineageStep]
    classes: list[str]
    width: int = WIDTH

    @property
    def height(self) -> int:
        return max(len(self.drafts), len(self.nuggets), 1) * ROW + MARGIN


def picture_of(submission: Submission) -> LineagePicture | None:
    """Picture of a submitted list; None where no lineage was recorded, which is not the same as no change."""
    derivation = derivation_of(submission)
    if derivation is None or derivation.parents is None or derivation.relations is None:
        return None
    parents, relations = derivation.parents, derivation.relations
    fates = {place: relation for places, relation in zip(parents, relations, strict=True) for place in places}
    drafts = [_box(place, draft, fates.get(place, "removed")) for place, draft in enumerate(derivation.drafts)]
    nuggets = [
        _box(place, nugget, relation or "added")
        for place, (nugget, relation) in enumerate(zip(derivation.nuggets, relations, strict=True))
    ]
    kept = [
        LineageStep(tuple(drafts[place] for place in places), nugget.fate, nugget)
        for nugget, places in zip(nuggets, parents, strict=True)
    ]
    removed = [LineageStep((draft,), draft.fate) for draft in drafts if draft.fate == "removed"]
    edit_classes = edits_of(derivation).classes
    return LineagePicture(drafts, nuggets, kept + removed, [name for name in EDIT_CLASSES if name in edit_classes])


def _box(place: int, wording: Wording, fate: str) -> LineageBox:
    text = wording.text
    short = text if len(text) <= LETTERS else f"{text[: LETTERS - 1].rstrip()}…"
    return LineageBox(place + 1, text, short, place * ROW + MARGIN, fate, wording.importance)


NOT_JUDGED = "▢ not judged"
WEIGHTS = {Importance.VITAL: "◆ vital", Importance.OKAY: "◇ okay"}


@dataclass(frozen=True, slots=True)
class PaneRow:
    """A row of the right pane in words. `evidence`: places as the screen names them, P1 S2."""

    number: int
    text: str
    tags: tuple[str, ...]
    label: str = ""
    reason: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssessorView:
    """Current view of the assessor of a task. Before the task is opened: its first page, without passages and lines."""

    head: TaskHead
    practice: PracticeProgress
    guidelines: Guidelines
    passages: tuple[Passage, ...] = ()
    without_text: int = 0
    lines: tuple[PaneRow, ...] = ()
    put_away: tuple[PaneRow, ...] = ()
    answers: Sequence[dict[str, Any]] = ()
    answer: ShownAnswer | None = None
    cited: tuple[CitedPassage, ...] = ()


def assessor_view(task: Task, answer: str) -> AssessorView | None:
    """View of a task; None where its assessor cannot see it any more. `answer`: public id of an answer."""
    # The desk's own getters are asked as the assessor, so that nothing else can stand on the page.
    # They only read: the look makes no time, mark, operation or lease.
    public_id, assessor = task.public_id, task.assessor
    try:
        head = task_head(public_id, assessor)
        first = AssessorView(head, practice_progress(public_id, assessor), guidelines_of(public_id, assessor))
        if not head.opened:
            return first
        desk = desk_page(public_id, assessor)
    except NoSuchTask:
        return None
    if head.judges:
        return _judging(task, first, desk.state, answer)
    lines, put_away = _nuggets(desk)
    return replace(first, passages=desk.passages, without_text=desk.without_text, lines=lines, put_away=put_away)


def _judging(task: Task, first: AssessorView, state: dict[str, Any], wanted: str) -> AssessorView:
    answers = state["answers"]
    opened = next((answer for answer in answers if answer["id"] == wanted), next(iter(answers), None))
    if opened is None:
        return first
    shown, cited = shown_answer(task.public_id, task.assessor, opened["id"])
    lines = (_pairs if "pairs" in state else _assigned)(state, opened, task.protocol.labels_of(task.stage))
    return replace(first, lines=tuple(lines), answers=answers, answer=shown, cited=cited)


def _assigned(state: dict[str, Any], answer: dict[str, Any], labels: LabelSet) -> Iterator[PaneRow]:
    row_of = {row["key"]: row for row in state["rows"]}
    # A study asks for the drawn pairs only, not for every nugget in every answer.
    counted = answer.get("nuggets")
    nuggets = [nugget for nugget in state["nuggets"] if counted is None or nugget["key"] in counted]
    for number, nugget in enumerate(nuggets, start=1):
        row = row_of.get(f"{answer['id']}{SEPARATOR}{nugget['key']}", {})
        tags = (nugget["importance"],) if nugget["importance"] else ()
        place = row.get("sentence")
        evidence = () if place is None else (f"S{place + 1}",)
        label = _label_text(row, labels, nugget.get("unit", ""))
        yield PaneRow(number, nugget["text"], tags, label, row.get("reason", ""), evidence)


def _pairs(state: dict[str, Any], answer: dict[str, Any], labels: LabelSet) -> Iterator[PaneRow]:
    row_of = {row["key"]: row for row in state["rows"]}
    for number, pair in enumerate((pair for pair in state["pairs"] if pair["answer"] == answer["id"]), start=1):
        row = row_of.get(pair["key"], {})
        label = _label_text(row, labels) if pair["judgeable"] else "no text to judge by"
        # Only a stage that shows the machine's label has it in its state.
        machine = pair.get("machine")
        tags = (
            (f"machine: {_label_text({'label': machine}, labels) if machine in labels.by_word else machine}",)
            if machine
            else ()
        )
        caption = f"Sentence {pair['sentence'] + 1}, citation [{pair['citation']}]"
        yield PaneRow(number, caption, tags, label, row.get("reason", ""))


def _label_text(row: dict[str, Any], labels: LabelSet, unit: str = "") -> str:
    if not row.get("label"):
        return NOT_JUDGED
    label = labels.by_word[row["label"]]
    return f"{label.glyph} {labels.caption(label, unit)}"


def _nuggets(desk: DeskPage) -> tuple[tuple[PaneRow, ...], tuple[PaneRow, ...]]:
    """Nuggets of the list in its order, and the rejected or deleted ones."""
    places = {passage.public_id: passage.number for passage in desk.passages}
    rows = sorted(desk.state["rows"], key=lambda row: row["position"])
    listed = [row for row in rows if row["decision"] in (Decision.UNDECIDED, Decision.KEPT)]
    away = [row for row in rows if row["decision"] == Decision.REJECTED]
    return tuple(_numbered(listed, places)), tuple(_numbered(away, places))


def _numbered(rows: list[dict[str, Any]], places: dict[str, int]) -> Iterator[PaneRow]:
    for number, row in enumerate(rows, start=1):
        edited = row["draft"] is not None and row["draft"] != row["text"]
        tags = [
            "undecided" if row["decision"] == Decision.UNDECIDED else "",
            row["making"] if row["making"] != Making.ADDED else "",
            "edited" if edited else "",
            WEIGHTS.get(row["importance"], ""),
            "" if row["weight"] is None else f"weight {row['weight']:g}",
        ]
        sentences = [(places[segment], sentence) for segment, sentence in row["evidence"] if segment in places]
        evidence = tuple(f"P{place} S{sentence + 1}" for place, sentence in sentences)
        yield PaneRow(number, row["text"], tuple(filter(None, tags)), evidence=evidence)


@require_safe
@never_cache
def view_as(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, task = get_row(request.user, slug, task_for, public_id, may_organize)
    audit_log.record_if_possible(
        "view.as_assessor",
        actor=audit_log.actor_of(request.user),
        campaign=campaign.slug,
        about=audit_log.actor_of(task.assessor),
        path=request.path,
    )
    context = {"campaign": campaign, "task": task, "view": assessor_view(task, request.GET.get("answer", ""))}
    return render(request, "organizer/view_as.html", context)
