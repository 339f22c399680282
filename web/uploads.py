"""Limits of the files in a form, counted while they arrive, so that nobody fills the disk of the server."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest

TOO_LARGE = "assay.too_large"
OF_STRANGERS = 1024**2
"""Bytes that a request may bring before anybody is known: the CSRF check reads forms of strangers too."""

View = TypeVar("View", bound=Callable[..., Any])


def takes_large_files(view: View) -> View:
    view.takes_large_files = True  # type: ignore[attr-defined]
    return view


class BoundedUploadHandler(FileUploadHandler):
    """Lets the files of a request pass up to a limit together; then none of them is there.

    The fields before them are, so that the form can say what happened: see `is_too_large`.
    """

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Count, and pass on. Raises `StopUpload`: the rest of an import is read and dropped, of others not read."""
        self.received += len(raw_data)
        if self.received > _limit(self.request):
            if self.request is not None:
                self.request.META[TOO_LARGE] = True
            # The rest of an import is read and dropped, so that its form can answer; of others it is not read.
            raise StopUpload(connection_reset=not _is_import(self.request))
        return raw_data

    def file_complete(self, file_size: int) -> Any:
        return None


def is_too_large(request: HttpRequest) -> bool:
    return bool(request.META.get(TOO_LARGE))


def _limit(request: HttpRequest | None) -> int:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return OF_STRANGERS
    return int(settings.API_UPLOAD_MAX_BYTES if _is_import(request) else settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def _is_import(request: HttpRequest | None) -> bool:
    match = request.resolver_match if request else None
    view = getattr(match, "func", None)
    return bool(getattr(getattr(view, "cls", view), "takes_large_files", False))
