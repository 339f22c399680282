"""The examples of docs/api.md, run as a reader would run them: curl and Python, against a server that listens."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from pytest_django.live_server_helper import LiveServer

from api.collections import COLLECTIONS
from tests import needed
from tests.api.conftest import program_of
from tests.worlds.campaign import World

GUIDE = (Path(settings.BASE_DIR) / "docs" / "api.md").read_text(encoding="utf-8")


def blocks(language: str) -> str:
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", GUIDE, flags=re.DOTALL))


def test_the_guide_names_every_collection_and_filter() -> None:
    for collection in COLLECTIONS:
        names = {parameter.name for parameter in collection.filters}
        assert f"| `{collection.name}` |" in GUIDE
        assert all(f"`{name}`" in GUIDE for name in names), collection.name


@pytest.mark.django_db(transaction=True)
def test_the_examples_do_what_the_guide_says(live_server: LiveServer, world: World, tmp_path: Path) -> None:
    needed.program("curl")
    own = os.environ | {"ASSAY": live_server.url, "TOKEN": program_of(world, "rita").token}
    for command in (["bash", "-ec", blocks("sh")], [sys.executable, "-c", blocks("python")]):
        done = subprocess.run(command, env=own, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert done.stdout == "alpha 2\nbeta 1\n"
    assert len((tmp_path / "labels.jsonl").read_text().splitlines()) == 4
    assert (tmp_path / "scores.csv").read_text().startswith("campaign,condition,judge,")


@pytest.mark.django_db(transaction=True)
def test_the_guide_s_program_gets_the_server_s_scores(live_server: LiveServer, world: World) -> None:
    page = (Path(settings.BASE_DIR) / "docs" / "guide-researchers.md").read_text(encoding="utf-8")
    program = "\n".join(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL))
    own = os.environ | {"ASSAY": live_server.url, "TOKEN": program_of(world, "rita").token}
    done = subprocess.run([sys.executable, "-c", program], env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "alpha 1.0 1.0\nbeta 0.0 0.0\n"
