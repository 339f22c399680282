"""Assay is at the root of a host: a sub-path is refused at the start, in words."""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from web.environment import check_place


@pytest.mark.parametrize("name", ["SCRIPT_NAME", "FORCE_SCRIPT_NAME"])
def test_a_sub_path_is_refused(name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"{name} is set, and Assay serves no sub-path"):
        check_place({name: "/assay"})
    for root in ("", "/"):
        check_place({name: root})


@pytest.mark.slow
@pytest.mark.parametrize("command", [("manage.py", "check"), ("-m", "gunicorn", "config.wsgi", "--check-config")])
def test_neither_commands_nor_the_server_start_under_one(command: tuple[str, ...]) -> None:
    environment = os.environ | {"SCRIPT_NAME": "/assay"}
    refused = subprocess.run(
        [sys.executable, *command],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode != 0
    assert "it needs a host name of its own" in refused.stderr + refused.stdout
