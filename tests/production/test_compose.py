"""docker-compose.yml brings up what operations.md says, and loses nothing while its containers are replaced."""

import subprocess
import sys

import pytest
from django.conf import settings

from tests import needed

pytestmark = pytest.mark.slow
CANNOT_BEGIN = 2


def test_compose_runs_saves_backs_up_and_replaces() -> None:
    needed.program("docker")
    command = [sys.executable, "deploy/try_compose.py"]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    if done.returncode == CANNOT_BEGIN:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 failed" in done.stdout
