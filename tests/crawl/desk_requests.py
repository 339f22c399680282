"""What a browser may send to each address of a task's desk: what makes sense, what makes little, and nonsense."""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max

from assessor.models import Operation, PracticeAnswer, PracticeItem, WorkingNugget
from evaluation.models import Answer, Citation, Nugget, Task
from evaluation.stages import STAGES

AT = "2026-05-04T10:00:00Z"
PRACTICE = {"practice", "practice_state", "practice_answer"}
READ_ONLY = {"task", "state", "review", "history", "guidelines", "answer", *PRACTICE}
FORMS = {"start", "restore"}
POSTED = {"start", "practice_ops", "ops", "beat", "hold", "gap", "submit", "restore", "remark"}
"""Names of the addresses below a task that take a POST; all of `FORMS` take a form, the others JSON."""
OF_NO_TASK = {"find", "home", "keys", "session"}
NONSENSE = ["", "{", "[]", "null", "5", '{"window": 5}', '{"window": "w2345678", "ops": [{"kind": "?"}]}']
QUERIES = ["", "?part", "?again", "?page=2", "?page=x"]


@dataclass(frozen=True, slots=True)
class Known:
    """What the sender knows or guesses: a window, passages, and ids that belong to others."""

    segments: tuple[str, ...] = ("nowhere",)
    op_ids: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    window: str = field(default_factory=lambda: str(uuid.uuid4()))


def bodies(name: str, task: str, known: Known) -> Iterator[dict[str, Any]]:
    """Yield what makes sense at one of a task's addresses, in an order in which it can be sent."""
    window = {"window": known.window}
    if name == "ops":
        judged = judging_operations(task)
        ops = judged or operations(known, newest_seq(task) + 1, keys_of(task))
        yield from (window | {"ops": [op]} for op in ops)
    elif name == "submit":
        yield window | {"seq": newest_seq(task)}
        yield {"window": str(uuid.uuid4()), "seq": 0}
    else:
        fixed: dict[str, list[dict[str, Any]]] = {
            "start": [{}],
            "practice_ops": [window | {"ops": [op]} for op in practice_operations(task)],
            "beat": [
                window | {"segments": [], "elapsed_ms": 15_000, "place": {"row": "d1"}, "hold": True},
                window | {"segments": [stretch(0)], "elapsed_ms": 15_000},
            ],
            "hold": [window | {"want": want} for want in ("hold", "take", "release", "hold")],
            "gap": [window | {"number": 0, "gap_answer": "away"}],
            "restore": [{"key": "d1", "seq": 0, "text": "as before"}, {"key": "d1", "seq": 1}, {"seq": "x"}],
            "remark": [
                *(remark(kind) for kind in ("comment", "flag", "reopen request", "interruption")),
                *(remark("comment") | {"public_id": taken} for taken in known.remarks),
            ],
        }
        yield from fixed[name]


def remark(kind: str) -> dict[str, Any]:
    return {"kind": kind, "about": "N1", "text": "unclear", "public_id": str(uuid.uuid4())}


def operations(known: Known, seq: int, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield operations of every kind that apply, then some on what is not there and some with others' ids.

    `seq`: the number that the first will have; `keys`: rows that are there already.
    """
    taken_apart = str(uuid.uuid4())
    segments = (*known.segments, "nowhere")
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("add", {"key": "a1", "text": "rivers bend", "importance": 1, "evidence": []}),
        ("add", {"key": "a2", "text": "banks erode", "importance": 2, "after": None}),
        ("edit", {"key": "a1", "text": "rivers bend slowly"}),
        ("decide", {"key": "a1", "decision": "rejected"}),
        *(("decide", {"key": key, "decision": "kept"}) for key in (*keys, "nowhere")),
        *(("importance", {"key": key, "importance": 2}) for key in (*keys, "nowhere")),
        *(("weight", {"key": key, "weight": weight}) for key in (*keys, "nowhere") for weight in (-2.5, None)),
        ("restore", {"key": "a1", "seq": seq}),
        ("move", {"key": "a2", "after": None}),
        ("merge", {"key": "m1", "from": ["a1", "a2"], "text": "rivers bend and banks erode", "importance": 1}),
        ("split", {"from": "m1", "into": [{"key": key, "text": key, "importance": 1} for key in ("s1", "s2")]}),
        ("undo", {"target": taken_apart}),
        ("redo", {"target": taken_apart}),
        ("undo", {"target": str(uuid.uuid4())}),
        ("compose", {"slot": "new", "draft": {"text": "half a th"}}),
        ("search", {"words": "otter"}),
        ("nonsense", {}),
    ]
    for segment in segments:
        payloads += [
            ("link", {"key": "s1", "segment": segment, "sentence": 0}),
            ("unlink", {"key": "s1", "segment": segment, "sentence": 0}),
            ("mark", {"segment": segment, "mark": "read"}),
        ]
    for kind, payload in payloads:
        yield operation(kind, payload) | ({"step": taken_apart} if kind == "split" else {})
    for taken in known.op_ids:
        yield operation("add", {"key": f"t{taken[:8]}", "text": "again"}) | {"op_id": taken}


def judging_operations(task: str) -> list[dict[str, Any]]:
    if not Task.objects.filter(
        public_id=task, stage__in=[stage for stage in STAGES.values() if stage.judges]
    ).exists():
        return []
    answers = list(Answer.objects.values_list("public_id", flat=True))
    nuggets = list(Nugget.objects.values_list("public_id", flat=True))
    keys = [f"{answer}/{nugget}" for answer in answers for nugget in nuggets]
    keys += [*Citation.objects.values_list("public_id", flat=True), "nowhere"]
    words = ("support", "full_support")
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("label", {"key": key, "label": label}) for key in keys for label in words
    ]
    more = ("cant_judge", None, "partial_support")
    payloads += [
        ("label", {"key": key, "label": label, "reason": "unclear"}) for key in keys[:2] for label in more
    ]
    payloads += [("locate", {"key": key, "sentence": 0}) for key in keys[:3]]
    payloads += [("evidence", {"key": key, "sentence": 0}) for key in keys[-4:]]
    payloads += [
        ("label", {"key": key, "label": "full_support", "accepted": True, "shown_ms": 9}) for key in keys[-4:]
    ]
    payloads += [("open", {"answer": answer}) for answer in (*answers, "nowhere")]
    payloads += [("sweep", {}), ("search", {"words": "otter"}), ("decide", {"key": keys[0], "decision": "kept"})]
    return [operation(kind, payload) for kind, payload in payloads]


def practice_operations(task: str) -> list[dict[str, Any]]:
    assessor = Task.objects.filter(public_id=task).values_list("assessor", flat=True)
    answered = PracticeAnswer.objects.filter(user__in=assessor).values_list("item__public_id", flat=True)
    payloads: list[tuple[str, dict[str, Any]]] = [("label", {"key": key, "label": "okay"}) for key in answered]
    for key in [*PracticeItem.objects.values_list("public_id", flat=True), "nowhere"]:
        payloads += [
            *(("label", {"key": key, "label": label}) for label in (None, "cant_judge", "nonsense")),
            ("locate", {"key": key, "sentence": 0}),
            ("open", {"answer": key}),
        ]
    payloads += [("undo", {"target": str(uuid.uuid4())}), ("search", {"words": "otter"}), ("nonsense", {})]
    return [operation(kind, payload) for kind, payload in payloads]


def operation(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    ids = {"op_id": str(uuid.uuid4()), "step": str(uuid.uuid4())}
    return ids | {"kind": kind, "payload": payload, "base": {}, "source": "key", "client_at": AT}


def stretch(number: int) -> dict[str, Any]:
    fields = {"number": number, "kind": "gap", "ms_before_now_start": 9_000, "ms_before_now_end": 0}
    return fields | {"words": 100, "blurred": False, "offline": False, "item": "d1"}


def keys_of(task: str) -> list[str]:
    found = Task.objects.filter(public_id=task).values_list("pk", flat=True)
    return list(WorkingNugget.objects.filter(task__in=found).values_list("key", flat=True))


def newest_seq(task: str) -> int:
    found = Task.objects.filter(public_id=task).values_list("pk", flat=True)
    newest = Operation.objects.filter(task__in=found).aggregate(Max("seq"))["seq__max"]
    return int(newest or 0)


def encoded(body: dict[str, Any]) -> str:
    return json.dumps(body)
