"""Long lists pass through little memory, and what breaks off is never taken for the whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from assay_client import Assay, Incomplete
from tests.client.servers import Act, Answer, Request, Server, breaks_off, says, serving

TOKEN = "assay_of_a_test"
CAMPAIGN = {
    "slug": "library",
    "name": "Library",
    "description": "",
    "language": "en",
    "created_at": "2026-11-23T09:00:00.000001Z",
    "revision": 1,
    "protocol_version": 1,
    "topics": 1,
    "runs": 1,
}
LABEL = {
    "id": 1,
    "campaign": "library",
    "topic_id": "t1",
    "run_id": "v42",
    "sample": 1,
    "answer": "a" * 16,
    "nugget": "n" * 16,
    "nugget_version": 1,
    "nugget_set": "manual-mara",
    "judge": "robot",
    "label": "support",
    "raw": "",
    "sentence": None,
    "first_label": None,
    "submission": 1,
    "given_at": "2026-11-23T09:00:00Z",
    "event": 1,
}
LINE = json.dumps(LABEL).encode() + b"\n"
MANY = 100_000
READS = """
import re
from pathlib import Path
from assay_client import Assay

labels = Assay.from_env().campaign("library").assignments(condition="M/A")
print(sum(label.label == "support" for label in labels))
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


def campaign(_request: Request) -> Answer:
    return Answer(body=json.dumps(CAMPAIGN).encode())


def labels_of(server: Server) -> list[str]:
    return [label.topic for label in Assay(server.url, token=TOKEN).campaign("library").assignments()]


def test_a_hundred_thousand_labels_take_less_than_100_mb() -> None:
    with serving(campaign, says(body=LINE * MANY)) as server:
        own = {"ASSAY_URL": server.url, "ASSAY_TOKEN": TOKEN, "PYTHONPATH": str(settings.BASE_DIR / "client")}
        done = subprocess.run([sys.executable, "-c", READS], env=own, capture_output=True, text=True, check=True)
    count, megabytes = map(int, done.stdout.split())
    assert count == MANY
    assert megabytes < 100


@pytest.mark.parametrize(
    "stream", [breaks_off(LINE * 2), breaks_off(LINE + LINE[:40]), says(body=LINE + LINE[:-1])]
)
def test_a_list_that_breaks_off_is_incomplete(stream: Act, tmp_path: Path) -> None:
    with serving(campaign, stream) as server, pytest.raises(Incomplete, match="assignments"):
        labels_of(server)
    assert len(server.requests) == 2


def test_a_file_of_a_list_that_breaks_off_is_not_there(tmp_path: Path) -> None:
    with serving(campaign, breaks_off(LINE * 2)) as server:
        labels = Assay(server.url, token=TOKEN).campaign("library").assignments()
        with pytest.raises(Incomplete):
            labels.to_jsonl(tmp_path / "labels.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_fields_of_a_later_server_are_left_out() -> None:
    line = json.dumps({**LABEL, "mood": "good"}).encode() + b"\n"
    with serving(campaign, says(body=line)) as server:
        assert labels_of(server) == ["t1"]
