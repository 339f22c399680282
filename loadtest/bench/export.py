"""A condition's labels over the API, from gunicorn: rows a second, the first byte, what the server's memory grows by.

A row is one label. The server has one process, so that its memory can be watched.
"""

import http.client
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from accounts.tokens import make_token
from evaluation.campaigns.create import add_member
from evaluation.terms import JudgeKind, Origin, Role
from loadtest.bench import synthetic
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import Size
from loadtest.servers.web import WebProcess, running_web

SLUG = "track"
READ = 256 * 1024
FORMS = ("jsonl", "csv")
READER = "bench-reader"


def prepare(size: Size, _turn: int) -> Measured:
    campaign = synthetic.make_campaign(SLUG, size.topics)
    synthetic.make_answers(campaign, size)
    made = synthetic.make_nuggets(campaign, size, Origin.AUTO, "bench-nuggetizer")
    synthetic.store_labels(made, size, "bench-llm", JudgeKind.LLM, 1)
    reader = User.objects.create(username=READER)
    add_member(campaign=campaign, user=reader, role=Role.RESEARCHER)
    return Measured()


def streams(size: Size, _turn: int) -> Measured:
    measured = Measured(rows=size.labels)
    token = _token()
    call_command("collectstatic", interactive=False, verbosity=0)
    with (
        TemporaryDirectory() as folder,
        running_web(Path(folder) / "web.log", own={"WEB_WORKERS": "1"}) as web,
    ):
        _fetch(web, token, "runs", "jsonl")
        for form in FORMS:
            idle, before = _memory(web, "VmRSS"), web.cpu_seconds()
            _forget_peak(web)
            first, whole, lines = _fetch(web, token, "assignments", form)
            if lines != size.labels + (form == "csv"):
                raise SystemExit(f"{form}: {lines:,} lines of {size.labels:,}")
            measured.seconds |= {f"{form} first": first, form: whole, f"{form} cpu": web.cpu_seconds() - before}
            measured.seconds[f"{form} memory"] = _memory(web, "VmHWM") - idle
    return measured


def _token() -> str:
    reader = User.objects.get(username=READER)
    ends = timezone.now() + timedelta(days=1)
    return make_token(user=reader, name="bench", scopes=["read"], expires_at=ends)[1]


def _fetch(web: WebProcess, token: str, collection: str, form: str) -> tuple[float, float, int]:
    connection = http.client.HTTPConnection(web.address)
    started = time.perf_counter()
    path = f"/api/v1/{collection}/?campaign={SLUG}&format={form}"
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    reply = connection.getresponse()
    lines, first = reply.read(1).count(b"\n"), time.perf_counter() - started
    while piece := reply.read(READ):
        lines += piece.count(b"\n")
    if reply.status != http.HTTPStatus.OK:
        raise SystemExit(f"{path}: {reply.status}")
    return first, time.perf_counter() - started, lines


def _memory(web: WebProcess, what: str) -> float:
    """Return the megabytes of the server's worker; Linux only."""
    status = Path(f"/proc/{web.workers()[0]}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(f"{what}:"))


def _forget_peak(web: WebProcess) -> None:
    Path(f"/proc/{web.workers()[0]}/clear_refs").write_text("5")
