"""Practice items of every kind, in words by which one can tell where they are shown."""

import json
from pathlib import Path
from typing import Any

from accounts.models import User
from assessor.models import PracticeItem
from assessor.practice.imports import import_practice
from assessor.practice.items import answer_practice, practice_of
from assessor.practice.rules import word_of
from evaluation.imports.base import LoadReceipt
from evaluation.models import Campaign, Task
from evaluation.terms import PracticeKind
from tests.worlds.cast import write_source

Row = dict[str, Any]


def item(kind: str, name: str, label: str, **more: str) -> Row:
    row = {"kind": kind, "question": f"question of {name}", "statement": f"statement {name}", "label": label}
    text = {} if kind == "importance" else {"text": f"text of {name}"}
    return row | text | {"explanation": f"because of {name}"} | more


IMPORTANCE = [item("importance", "i1", "vital"), item("importance", "i2", "okay")]
ASSIGN = [item("assign", "a1", "support"), item("assign", "a2", "not_support")]
SUPPORT = [item("support", "s1", "full_support"), item("support", "s2", "no_support")]
SHOWN = [item("support", "m1", "partial_support", shown_label="full_support")]
GRADE = [item("grade", "g1", "grade_3"), item("grade", "g2", "grade_0")]
BATTLE = [item("battle", "b1", "left"), item("battle", "b2", "bad")]
ALL = [*IMPORTANCE, *ASSIGN, *SUPPORT, *SHOWN, *GRADE, *BATTLE]


def load_practice(campaign: Campaign, folder: Path, rows: list[Row], *, replace: bool = False) -> LoadReceipt:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    return import_practice(campaign=campaign, source=write_source(folder, "practice.jsonl", text), replace=replace)


def left(task: Task, user: User) -> list[PracticeItem]:
    pks = practice_of(user, [task.campaign_id]).left(task)
    items = {practice_item.pk: practice_item for practice_item in PracticeItem.objects.filter(pk__in=pks)}
    return [items[pk] for pk in pks]


def practise(task: Task, user: User, *, wrong: int = 0) -> None:
    """Answer all that is left, the first ones `wrong`."""
    for number, practice_item in enumerate(left(task, user)):
        kind = PracticeKind(practice_item.kind)
        other = 1 if practice_item.label != 1 else 2
        label = word_of(kind, other if number < wrong else practice_item.label)
        answer_practice(task=task.public_id, user=user, item=practice_item.public_id, label=label)
