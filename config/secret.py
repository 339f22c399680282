"""A secret key for installations that were given none."""

import contextlib
import os
import secrets
from pathlib import Path


def local_secret(path: Path) -> str:
    """Key kept in `path`; the first call makes it, readable by the owner only."""
    if not path.exists():
        draft = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        # Two processes may start at once: the first link wins, and both then read the same key.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()
