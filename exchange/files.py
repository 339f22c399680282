"""The private folder: files that were sent to the wizard, and exports. Nothing in it is served by its path.

Each import and each export has a folder of its own with a name that nobody can guess. A file has a number for its name:
only the database has the name that somebody gave it.
"""

import hashlib
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from evaluation.errors import Refused

SentFile: TypeAlias = "UploadedFile[Any]"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise `Refused` where the block cannot write to the disk."""
    try:
        yield
    except OSError as error:
        raise Refused("cannot_write", f"{path}: {error.strerror or error}") from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Path to write to: the file appears under its own name only when it is whole. Raises `Refused`."""
    part = path.with_name(f"{path.name}.part")
    with writing(path):
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def new_folder() -> tuple[str, Path]:
    # A name of the random source: whoever knows the number of an export must not find its file by it.
    name = secrets.token_urlsafe(24)
    path = folder_of(name)
    path.mkdir(parents=True, mode=0o700)
    return name, path


def folder_of(name: str) -> Path:
    return Path(settings.FILES_DIR) / name


def keep(files: Iterable[SentFile]) -> tuple[str, list[dict[str, Any]]]:
    """Keep files in a new folder; return its name, and the name, size and checksum of each file."""
    name, folder = new_folder()
    return name, [_kept(folder / str(number), file) for number, file in enumerate(files)]


def _kept(path: Path, sent: SentFile) -> dict[str, Any]:
    digest, size = hashlib.sha256(), 0
    with path.open("xb") as out:
        for chunk in sent.chunks():
            digest.update(chunk)
            size += len(chunk)
            out.write(chunk)
    path.chmod(0o600)
    return {"name": Path(sent.name or "file").name, "size": size, "sha256": digest.hexdigest()}


def open_file(folder: str, number: int = 0) -> IO[bytes]:
    """Open a file. Raises `Refused` where it is gone."""
    try:
        return (folder_of(folder) / str(number)).open("rb")
    except OSError as error:
        raise Refused("file_gone", "The file is not on this server any more. Make or send it again.") from error


def remove(folder: str) -> None:
    # A second worker may have removed it: then nothing is left to do.
    if folder:
        shutil.rmtree(folder_of(folder), ignore_errors=True)


def digest_of(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
