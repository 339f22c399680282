"""Run a command with Python, make, git and the shell's usual commands on the path, and nothing else.

`python3 -m tests.bare_path make test-all`, after `make .venv/installed-dev`. Root gets a network without any other
service and without the folders of servers as well, as on a fresh machine; anybody else only the path.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

NAMES = """
    make git bash sh awk sed grep find xargs tar gzip gunzip diff cmp which
    [ basename cat chgrp chmod chown cp cut date dd df dirname du echo env expr false fold head id install join ln ls
    mkdir mkfifo mktemp mv nl nproc od paste printenv printf pwd readlink realpath rm rmdir seq sha256sum sleep sort
    split stat stty sync tail tee test timeout touch tr true truncate tty uname uniq wc whoami yes
"""
HIDDEN = ("/usr/sbin", "/usr/local/sbin", "/usr/lib/postgresql", "~/.cache/ms-playwright")
"""Folders in which tests look for servers and browsers that are not on the path."""

NAMED_BY = ("CHROMIUM", "CI", "DATABASE_URL", "TEST_POSTGRESQL_URL", "REDIS_URL", "CELERY_BROKER_URL")
"""Variables that name a service or program, or ask for all of them."""


def link_programs(folder: Path) -> None:
    """Fill a folder with links to the programs. One that this machine lacks is missed by the test that needs it."""
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))  # a shim on the path needs further programs
    for name in NAMES.split():
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)


def bare_environment(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in NAMED_BY} | {"PATH": str(folder)}


def isolated(command: Sequence[str], folder: Path) -> list[str]:
    hide = "".join(
        f"if [ -d {place} ]; then mount -t tmpfs none {place}; fi; "
        for place in (shlex.quote(os.path.expanduser(path)) for path in HIDDEN)
    )
    script = f'ip link set lo up; {hide}exec env PATH={shlex.quote(str(folder))} "$@"'
    return ["unshare", "--mount", "--net", "sh", "-ec", script, "sh", *command]


def main(command: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="assay-path-") as made:
        folder = Path(made)
        link_programs(folder)
        environment = bare_environment(folder, os.environ)
        if os.geteuid() == 0:
            command, environment["PATH"] = isolated(command, folder), os.environ["PATH"]
        return subprocess.call(command, env=environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
