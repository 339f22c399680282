"""A ZIP as a text: what it holds, without what depends on the version of Assay or on how it was compressed."""

import json
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from zipfile import ZipFile

MANIFEST = "manifest.json"


def listed(archive: bytes) -> bytes:
    """Return a line for each file with its size and SHA-256; a manifest is shown itself."""
    return "".join(f"{line}\n" for line in _lines(archive)).encode()


def _lines(archive: bytes) -> Iterator[str]:
    with ZipFile(BytesIO(archive)) as files:
        for name in files.namelist():
            body = files.read(name)
            if name != MANIFEST:
                yield f"{name} {len(body):,} {sha256(body).hexdigest()}"
                continue
            manifest = json.loads(body)
            del manifest["migrations"]  # which ones are the newest depends on the version
            yield json.dumps(manifest, indent=1)
