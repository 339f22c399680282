"""The file of a backup: a tar of a manifest, of its signature, and of the database's dump."""

import gzip
import hashlib
import hmac
import io
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Literal

from django.conf import settings
from django.utils.crypto import salted_hmac
from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.errors import Refused

FORMAT = 1
MANIFEST, SIGNATURE, DATA = "manifest.json", "signature", "database"
PIECE = 1 << 20


class BackupManifest(BaseModel):
    """Contents of a backup: engine, migrations, and the number of rows in each table."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: int
    engine: Literal["sqlite", "postgresql"]
    server: str
    made_at: str
    migrations: list[str]
    rows: dict[str, int]
    sha256: str
    size: int

    @property
    def total(self) -> int:
        return sum(self.rows.values())


def write_archive(path: Path, data: Path, manifest: BackupManifest) -> None:
    """Write a backup. It appears under its name only when it is whole and on the disk; only its owner may read it."""
    part = path.with_name(f"{path.name}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            with tarfile.open(fileobj=out, mode="w") as tar:
                packed = manifest.model_dump_json(indent=1).encode()
                _add(tar, MANIFEST, io.BytesIO(packed), len(packed))
                signature = signature_of(packed, settings.SECRET_KEY).encode()
                _add(tar, SIGNATURE, io.BytesIO(signature), len(signature))
                with data.open("rb") as content:
                    _add(tar, DATA, content, manifest.size)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
        with suppress(OSError):  # not every file system lets a folder be synchronised
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
    finally:
        part.unlink(missing_ok=True)


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes], size: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    tar.addfile(entry, content)


def signature_of(manifest: bytes, key: str | bytes) -> str:
    # The manifest names the checksum of the dump, so its signature covers the dump too.
    return salted_hmac("exchange.backups", manifest, secret=key, algorithm="sha256").hexdigest()


def check_signature(path: Path) -> None:
    """Raise `Refused` unless this installation wrote the backup: the dump is run as it is, so it has to be ours."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    manifest, found = _content(path, MANIFEST), b""
    with suppress(Refused):  # older versions signed nothing
        found = _content(path, SIGNATURE)
    if not any(hmac.compare_digest(signature_of(manifest, key).encode(), found) for key in keys):
        raise Refused(
            "not_ours",
            f"{path} does not carry the signature of this installation's SECRET_KEY: it was changed, or made "
            "by another installation or by an older version. --from-elsewhere restores it all the same. "
            "Whoever made it then decides on every account and row, and may run commands here: use it only "
            "for a file of your own.",
        )


def _content(path: Path, name: str) -> bytes:
    with _member(path, name) as content:
        return content.read(PIECE)


def read_manifest(path: Path) -> BackupManifest:
    """Read what a backup holds. Raises `Refused` where it is none, or of a later form."""
    content = _content(path, MANIFEST)
    try:
        manifest = BackupManifest.model_validate_json(content)
    except ValidationError as error:
        raise damaged(path, "its manifest cannot be read") from error
    if manifest.format != FORMAT:
        raise Refused(
            "other_form", f"{path} has form {manifest.format}; this version of Assay reads form {FORMAT}."
        )
    return manifest


def unpack(path: Path, manifest: BackupManifest, data: Path) -> None:
    """Write the dump of a backup into a file. Raises `Refused` where it is not what was written then."""
    digest, size = hashlib.sha256(), 0
    with _member(path, DATA) as content, data.open("wb") as out:
        while piece := content.read(PIECE):
            digest.update(piece)
            size += len(piece)
            out.write(piece)
    if (digest.hexdigest(), size) != (manifest.sha256, manifest.size):
        raise damaged(path, "its checksum is not the one of its content")


def damaged(path: Path, why: str) -> Refused:
    return Refused("not_a_backup", f"{path} is not a backup that Assay made, or is damaged: {why}.")


@contextmanager
def _member(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a part of a backup. Raises `Refused` where that cannot be done, also in the middle of reading."""
    try:
        with tarfile.open(path, mode="r:") as tar:
            content = tar.extractfile(name)
            if content is None:
                raise KeyError(name)
            with content:
                yield content
    except (tarfile.TarError, KeyError, EOFError) as error:
        raise damaged(path, f"it has no whole {name}") from error
    except OSError as error:
        raise Refused("cannot_read", f"{path}: {error.strerror or error}") from error


def checksum(data: Path) -> str:
    with data.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def compress(source: Path, target: Path) -> None:
    # Level 3: quickly rather than tightly.
    with source.open("rb") as content, gzip.open(target, "wb", compresslevel=3) as out:
        shutil.copyfileobj(content, out, PIECE)


def decompress(source: Path, target: Path) -> None:
    with gzip.open(source, "rb") as content, target.open("wb") as out:
        shutil.copyfileobj(content, out, PIECE)
