"""Files that are sent: as the body itself, or as the parts of a form. They are read once, and never held whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import Any

from django.conf import settings
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from api.writes.said import WrongBody
from evaluation.formats.stream import Readable

MULTIPART = "multipart/form-data"
PART = "file"
CHUNK = 1_048_576
IN_MEMORY = 2 * CHUNK
UNNAMED = "body"


class TooLarge(APIException):
    """More than may be sent."""

    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"

    def __init__(self, most: int) -> None:
        super().__init__(f"At most {most:,} bytes can be sent.")


@dataclass(frozen=True, slots=True)
class Upload:
    """One file: what it is called, and its bytes from the beginning."""

    name: str
    stream: Readable


@dataclass(frozen=True, slots=True)
class Sent:
    """What came with a request. `digest` is the same when the same is sent again."""

    digest: str
    raw: bytes = b""
    files: tuple[Upload, ...] = ()


def read_body(request: Request, most: int) -> Sent:
    """Return a body that fits into memory."""
    check_length(request, most)
    raw = b"".join(_chunks(request))
    return Sent(sha256(raw).hexdigest(), raw)


@contextmanager
def received(request: Request, name: str) -> Iterator[Sent]:
    """Give the files of a request; `name` is what one is called that comes as the body itself."""
    check_length(request, settings.API_UPLOAD_MAX_BYTES)
    if (request.content_type or "").startswith(MULTIPART):
        yield _parts(request)
        return
    with SpooledTemporaryFile(max_size=IN_MEMORY) as spooled:
        digest = sha256()
        for chunk in _chunks(request):
            digest.update(chunk)
            spooled.write(chunk)
        spooled.seek(0)
        yield Sent(digest.hexdigest(), files=(Upload(name or UNNAMED, spooled),))


def check_length(request: Request, most: int) -> None:
    """Raise `TooLarge` before anything is read. Without a length there is no body: the server sees to that."""
    if _length(request) > most:
        raise TooLarge(most)


def _length(request: Request) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isascii() and length.isdigit() else 0


def _chunks(request: Request) -> Iterator[bytes]:
    stream: Any = request.stream
    if stream is not None:
        yield from iter(lambda: stream.read(CHUNK), b"")


def _parts(request: Request) -> Sent:
    """Return the files of a form, each under the name it was sent with."""
    others = [name for name in request.data if name != PART]
    files = request.FILES.getlist(PART)
    if others or not files:
        wrong = {name: [f"The parts of the form are called {PART}."] for name in others}
        raise WrongBody(wrong or {PART: ["A file is needed."]})
    digest = sha256()
    for file in files:
        digest.update(f"{len(file.name)}:{file.name}:{file.size}:".encode())
        for chunk in file.chunks():
            digest.update(chunk)
        file.seek(0)
    return Sent(digest.hexdigest(), files=tuple(Upload(PurePosixPath(one.name).name, one) for one in files))
