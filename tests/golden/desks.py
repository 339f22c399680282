"""What desks answer: the receipt of each kind of operation, of refused ones and of one sent twice, and the state."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.test import Client

from evaluation.models import Task
from tests.assessor.desk_client import Window
from tests.crawl.desk_requests import stretch
from tests.golden.keeping import Documents
from tests.worlds.desk import make_desk_world
from tests.worlds.judging_desk import make_judge_world


@dataclass
class Recorder(Window):
    """A window that keeps every answer to what it posts, and which kinds of operations these were."""

    answers: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)

    def post(self, name: str, body: dict[str, Any]) -> Any:
        """Send JSON, and keep what is answered."""
        response = super().post(name, body)
        kinds = [op["kind"] for op in body.get("ops", [])]
        self.kinds |= set(kinds)
        self.keep(f"{name} {' '.join(kinds)}".strip(), response)
        return response

    def keep(self, name: str, response: Any) -> None:
        text = json.dumps(response.json(), indent=1, ensure_ascii=False)
        self.answers.append(f"{name}: {response.status_code}\n{text}\n")

    def document(self) -> bytes:
        self.keep("state/", self.client.get(self.url("state/")))
        return "\n".join(self.answers).encode()


def desk_documents(folder: Path) -> tuple[Documents, set[str]]:
    """Return the answers of each kind of desk, and the kinds of operations that were sent."""
    nuggets = make_desk_world(folder)
    desks = {"post-edit": _recorder(nuggets.post_edit), "manual": _recorder(nuggets.manual)}
    _post_edit(desks["post-edit"], nuggets.segments("t1")[0].public_id)
    _write(desks["manual"], nuggets.segments("t2")[0].public_id)
    return _documents(desks)


def judging_documents(folder: Path) -> tuple[Documents, set[str]]:
    judging = make_judge_world(folder)
    desks = {
        "assign": _recorder(judging.assign),
        "support-scratch": _recorder(judging.scratch),
        "support-post-edit": _recorder(judging.shown),
    }
    for desk in desks.values():
        _judge(desk)
    return _documents(desks)


def _documents(desks: dict[str, Recorder]) -> tuple[Documents, set[str]]:
    kinds = set().union(*(desk.kinds for desk in desks.values()))
    return iter([("desk", name, desk.document()) for name, desk in desks.items()]), kinds


def _recorder(task: Task) -> Recorder:
    client = Client()
    client.force_login(task.assessor)
    window = Recorder(client, task)
    window.open()
    return window


def _post_edit(desk: Recorder, passage: str) -> None:
    desk.post("hold/", {"window": desk.window, "want": "take"})
    desk.do("decide", {"d1": 1}, key="d1", decision="kept", importance=2)
    desk.do("edit", {"d1": 1}, key="d1", text="too late")  # a conflict
    desk.do("edit", key="d2", text="   ")
    desk.do("edit", key="d2", text="a better wording")
    desk.do("importance", key="d2", importance=1)
    desk.do("merge", key="m1", from_=["d2", "d3"], text="both in one", importance=2)
    parts = [{"key": "s1", "text": "the first half", "importance": 2}, {"key": "s2", "text": "the second half"}]
    desk.do("split", from_="d4", into=parts)
    desk.do("move", key="s2", after="d1")
    desk.do("link", key="d1", segment=passage, sentence=0)
    desk.do("unlink", key="d1", segment=passage, sentence=0)
    desk.undo()
    desk.undo()
    desk.redo()
    desk.do("restore", key="d1", seq=1)
    desk.do("no such kind", key="d1")
    repeated = desk.op("decide", key="d5", decision="rejected")
    desk.send(repeated)
    desk.send(repeated)
    _beat(desk)
    desk.post("submit/", {"window": desk.window, "seq": desk.state()["seq"]})  # refused: something is undecided
    desk.finish()
    desk.submit()
    desk.do("edit", key="d1", text="after the end")


def _write(desk: Recorder, passage: str) -> None:
    """Write a list by hand, in one window beside another."""
    desk.do("compose", slot="new", draft={"text": "Dams"})
    desk.do("search", words="water")
    desk.do("mark", segment=passage, mark="read")
    desk.do("add", key="a1", text="Dams crack", importance=2, evidence=[[passage, 1]])
    desk.do("add", key="a2", text="Dams leak", after="a1")
    desk.do("add", key="a2", text="twice")
    desk.do("weight", key="a2", weight=-1.5)
    other = Recorder(desk.client, desk.task, answers=desk.answers)
    other.do("add", key="b1", text="from another window")
    other.post("hold/", {"window": other.window, "want": "take"})
    other.do("add", key="b1", text="from another window")
    other.post("hold/", {"window": other.window, "want": "release"})


def _judge(desk: Recorder) -> None:
    """Label, point at a sentence, take back, sweep, and submit."""
    state = desk.state()
    keys = (
        [pair["key"] for pair in state["pairs"] if pair["judgeable"]]
        if "pairs" in state
        else [f"{answer['id']}/{nugget['key']}" for answer in state["answers"] for nugget in state["nuggets"]]
    )
    label = "partial_support"
    desk.do("open", answer=state["answers"][0]["id"])
    desk.do("label", {keys[0]: 0}, key=keys[0], label=label, sentence=0, shown_ms=1200, reason="It says so.")
    desk.do("label", {keys[0]: 0}, key=keys[0], label=label)  # a conflict
    desk.do("label", key=keys[1], label="no such label")
    desk.do("locate", key=keys[0], sentence=None)
    desk.do("evidence", key=keys[1], sentence=0)
    desk.do("label", key=keys[1], label=label, accepted=True)
    desk.undo()
    desk.redo()
    desk.do("search", words="water")
    desk.do("sweep")
    _beat(desk)
    desk.submit()
    for key in keys:
        desk.do("label", key=key, label=label)
    desk.submit()


def _beat(desk: Recorder) -> None:
    body = {"window": desk.window, "segments": [stretch(0)], "elapsed_ms": 15_000, "place": {"row": "d1"}}
    desk.post("beat/", body)
