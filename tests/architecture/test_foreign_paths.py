"""Nothing in the repository names a place that a clone does not have."""

import re

from tests.architecture.tree import files, named

TEXTS = (".py", ".html", ".js", ".css", ".md", ".toml", ".txt", ".yml", ".yaml", ".in", ".example", "")
# Assembled, so that this file does not name them either.
FOLDERS = re.compile(r"(?<!\w)/(?:work|root|Users|mnt)/\w|/home/(?!you\b)\w+/|[A-Z]:\\\\Users")
HOSTS = re.compile(
    r"\b(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b|\.(?:internal|corp|lan)\b(?!\.\w)"
)


def test_no_file_names_a_folder_of_somebody_s_machine() -> None:
    assert [found for found in places(FOLDERS) if "test_foreign_paths" not in found] == []


def test_no_file_names_a_private_host() -> None:
    assert [found for found in places(HOSTS) if "test_foreign_paths" not in found] == []


def places(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{named(path)}:{number}: {line.strip()[:80]}"
        for path in files(*TEXTS)
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if pattern.search(line)
    ]
