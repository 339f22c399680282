"""A window at a desk, as the page's scripts drive it, over real requests."""

import uuid
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from assessor.models import WorkingNugget
from evaluation.models import Task

AT = "2026-05-04T10:00:00Z"


@dataclass
class Window:
    """One window of one person at one task. It knows the versions it saw, as a page does."""

    client: Client
    task: Task
    window: str = field(default_factory=lambda: str(uuid.uuid4()))

    def url(self, name: str = "") -> str:
        return f"/desk/{self.task.public_id}/{name}"

    def post(self, name: str, body: dict[str, Any]) -> Any:
        return self.client.post(self.url(name), body, content_type="application/json")

    def open(self) -> "Window":
        self.client.post(self.url("start/"))
        return self

    def op(self, kind: str, base: dict[str, int] | None = None, **payload: Any) -> dict[str, Any]:
        """Make an operation without sending it. `from_` is sent as `from`."""
        sent = {key.rstrip("_"): value for key, value in payload.items()}
        made = {"op_id": str(uuid.uuid4()), "step": str(uuid.uuid4()), "kind": kind, "payload": sent}
        return made | {"base": base or {}, "source": "key", "client_at": AT}

    def send(self, *ops: dict[str, Any]) -> list[dict[str, Any]]:
        response = self.post("ops/", {"window": self.window, "ops": list(ops)})
        assert response.status_code == 200, response.content
        receipts: list[dict[str, Any]] = response.json()["receipts"]
        return receipts

    def do(self, kind: str, base: dict[str, int] | None = None, **payload: Any) -> dict[str, Any]:
        return self.send(self.op(kind, base, **payload))[0]

    def state(self) -> dict[str, Any]:
        response = self.client.get(self.url("state/"))
        assert response.status_code == 200, response.content
        state: dict[str, Any] = response.json()
        return state

    def undo(self) -> dict[str, Any]:
        return self.do("undo", target=self.state()["undo"][-1]["step"])

    def redo(self) -> dict[str, Any]:
        return self.do("redo", target=self.state()["redo"][-1]["step"])

    def texts(self, *decisions: str) -> list[str]:
        rows = WorkingNugget.objects.filter(task=self.task, decision__in=decisions or ["kept", "undecided"])
        return list(rows.order_by("position").values_list("text", flat=True))

    def finish(self) -> None:
        """Keep every proposal that is undecided, and call every kept nugget vital."""
        for row in WorkingNugget.objects.filter(task=self.task).order_by("position"):
            if row.decision == "undecided":
                self.do("decide", key=row.key, decision="kept")
            if row.decision in ("undecided", "kept") and not row.importance:
                self.do("importance", key=row.key, importance=2)

    def submit(self, seq: int | None = None) -> Any:
        return self.post("submit/", {"window": self.window, "seq": self.state()["seq"] if seq is None else seq})
