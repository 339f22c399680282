"""Jobs of LLM judges: what they cost, starting them, waiting for them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

from assay_client.connection import Connection
from assay_client.errors import JobFailed, JobPaused, WaitTimeout
from assay_client.lists import Rows
from assay_client.reading import read
from assay_client.rows import JobEstimate, JobRow

Money = Decimal | float | int | str


class Job:
    """A job. `row` is what was last read of it."""

    def __init__(self, connection: Connection, row: JobRow) -> None:
        self._connection, self.row = connection, row

    def __repr__(self) -> str:
        return f"<Job {self.row.id}, {self.row.title}: {self.row.state}>"

    @property
    def id(self) -> int:
        return self.row.id

    @property
    def state(self) -> Literal["running", "paused", "cancelled", "done"]:
        return self.row.state

    def refresh(self) -> Job:
        self.row = read(JobRow, self._connection.get(f"jobs/{self.id}/"))
        return self

    def wait(self, *, timeout: float = 1800, poll: float = 2) -> Job:
        """Wait for the end, so many seconds at most. Raises `JobFailed`, `JobPaused` or `WaitTimeout`."""
        end = time.monotonic() + timeout
        while self.refresh().state == "running":
            left = end - time.monotonic()
            if left <= 0:
                raise WaitTimeout(f"{self._words()} after {timeout:g} s")
            time.sleep(min(poll, left))
        if self.state == "paused":
            raise JobPaused(self._words())
        if self.state == "cancelled" or self.row.items.get("failed"):
            raise JobFailed(self._words())
        return self

    def pause(self) -> Job:
        return self._change("pause")

    def resume(
        self, *, max_requests: int | None = None, max_tokens: int | None = None, max_money: Money | None = None
    ) -> Job:
        """Go on under this budget; what is left out has no limit."""
        budget = {"max_requests": max_requests, "max_tokens": max_tokens, "max_money": _decimal(max_money)}
        return self._change("resume", **budget)

    def cancel(self) -> Job:
        return self._change("cancel")

    def retry(self) -> Job:
        """Queue again what failed."""
        return self._change("retry")

    def _change(self, act: str, **body: Any) -> Job:
        self.row = read(JobRow, self._connection.post(f"jobs/{self.id}/{act}/", body))
        return self

    def _words(self) -> str:
        items = ", ".join(f"{count} {state}" for state, count in self.row.items.items() if count)
        reason = f" ({self.row.waiting_for})" if self.row.waiting_for else ""
        return f"job {self.id} is {self.state}{reason}: {items or 'nothing to do'}"


class Jobs:
    """Jobs of a campaign. Called, it is their list."""

    def __init__(self, connection: Connection, campaign: str) -> None:
        self._connection, self._campaign = connection, campaign

    def __call__(self, **filters: Any) -> Rows[JobRow]:
        return Rows(self._connection, "jobs", JobRow, {"campaign": self._campaign, **filters})

    def get(self, id: int) -> Job:
        return Job(self._connection, read(JobRow, self._connection.get(f"jobs/{id}/")))

    def start(
        self,
        work: str,
        *,
        topics: Sequence[str] = (),
        runs: Sequence[str] = (),
        max_money: Money | None = None,
        **options: Any,
    ) -> Job:
        """Have an LLM judge. `options`: as `POST jobs/` has them, such as `judge` and `max_requests`."""
        order = self._order(work, topics, runs, max_money, options)
        return Job(self._connection, read(JobRow, self._connection.post("jobs/", order)))

    def dry_run(
        self,
        work: str,
        *,
        topics: Sequence[str] = (),
        runs: Sequence[str] = (),
        max_money: Money | None = None,
        **options: Any,
    ) -> JobEstimate:
        """Return what `start` with the same words would cost."""
        order = self._order(work, topics, runs, max_money, options)
        answer = self._connection.post("jobs/", order, {"dry_run": True}, tried_out=True)
        return read(JobEstimate, answer)

    def _order(
        self,
        work: str,
        topics: Sequence[str],
        runs: Sequence[str],
        max_money: Money | None,
        options: dict[str, Any],
    ) -> dict[str, Any]:
        order = {"campaign": self._campaign, "work": work, "topics": list(topics), "runs": list(runs)}
        return {**order, "max_money": _decimal(max_money), **options}


def _decimal(money: Money | None) -> str | None:
    """Return an amount as the server reads it: no float carries prices."""
    return None if money is None else f"{Decimal(str(money)):f}"
