"""The client as others have it: a wheel in an empty environment of each Python that is here (P1).

An installation needs a package index that answers, or one beside it on the disk, as pip is told.
"""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from django.conf import settings

from tests.architecture.test_docs import blocks
from tests.production.test_wheel import python

CLIENT = settings.BASE_DIR / "client"
NEEDED = {"httpx", "httpcore", "anyio", "certifi", "h11", "idna", "sniffio", "exceptiongroup", "typing-extensions"}
"""What httpx brings, and what that needs before Python 3.13."""

LISTS = "from importlib.metadata import distributions; print(*(each.name for each in distributions()))"
WITHOUT_SERVER = (
    "import assay_client, sys; assert 'django' not in sys.modules; print(assay_client.connection.VERSION)"
)

MYPY = "[mypy]\nstrict = true\npython_version = 3.10\nfollow_imports = silent"  # as of what is installed


def run(*words: str | Path, cwd: Path | None = None) -> str:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, env=own, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not importlib.util.find_spec("hatchling"):
        pytest.skip("hatchling was not found; make .venv/installed-dev installs it")
    folder = tmp_path_factory.mktemp("client")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, CLIENT)
    [path] = folder.iterdir()
    return path


def test_the_wheel_holds_the_client_and_its_types(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        entry_points = archive.read("assay_client-0.1.0.dist-info/entry_points.txt").decode()
    assert "[pytest11]\nassay = assay_client.pytest_plugin" in entry_points
    assert {"assay_client/py.typed", "assay_client/rows.py"} <= set(names)
    assert {name.split("/")[0] for name in names} == {"assay_client", "assay_client-0.1.0.dist-info"}


@pytest.mark.slow
@pytest.mark.parametrize("minor", [10, 11, 12, 13], ids="3.{}".format)
def test_it_installs_with_httpx_alone(wheel: Path, tmp_path: Path, minor: int) -> None:
    run(python(minor), "-m", "venv", "--without-pip", tmp_path / "empty")
    own = tmp_path / "empty" / "bin" / "python"
    try:
        run(sys.executable, "-m", "pip", "--python", own, "install", "--quiet", wheel)
    except AssertionError as error:
        if "NewConnectionError" not in str(error):
            raise
        pytest.skip("no package index answers")
    names = {name.lower().replace("_", "-") for name in run(own, "-c", LISTS).split()}
    assert {"assay-client", "httpx"} <= names <= {"assay-client", *NEEDED}
    assert run(own, "-c", WITHOUT_SERVER) == "0.1.0\n"
    assert "--save-baseline" in run(own.with_name("assay-client"), "gate", "--help")


@pytest.mark.slow
def test_the_example_is_typed(tmp_path: Path) -> None:
    example = "\n".join(body for info, body in blocks(CLIENT / "README.md") if info == ["python"])
    (tmp_path / "example.py").write_text(example, "utf-8")
    config = tmp_path / "mypy.ini"
    config.write_text(f"{MYPY}\nmypy_path = {CLIENT}\n", "utf-8")
    mypy = (sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", tmp_path / "cache")
    assert "no issues" in run(*mypy, tmp_path / "example.py", cwd=tmp_path)
