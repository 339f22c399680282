"""The examples of docs/api-writes.md do what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Campaign, Task
from tests import needed
from tests.api.writing import program_of
from tests.worlds.desk import make_desk_world

DOCS = Path(__file__).parents[2] / "docs" / "api-writes.md"


def example(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


@pytest.mark.django_db(transaction=True, databases=["default", "snapshot"])
def test_the_examples_run(live_server: LiveServer, tmp_path: Path) -> None:
    world = make_desk_world(tmp_path)
    environment = os.environ | {
        "ASSAY_URL": live_server.url,
        "ASSAY_TOKEN": program_of(world.people["olga"]).raw,
        "CAMPAIGN": world.campaign.slug,
    }
    (tmp_path / "topics.tsv").write_text("t9\twhere springs rise\n", encoding="utf-8")
    needed.program("curl")
    shell = subprocess.run(
        ["sh", "-ec", example("sh")], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert '"added":1' in shell.stdout
    assert Campaign.objects.get().topics.filter(topic_id="t9").exists()
    python = subprocess.run(
        [sys.executable, "-c", example("python")], env=environment, capture_output=True, text=True, check=False
    )
    assert python.stdout == "2027-01-31\n", python.stderr
    assert Task.objects.get(due="2027-01-31").topic.topic_id == "t3"
