"""How much a form may bring in files: counted while they arrive, so that nobody fills the disk of the server."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest

TOO_LARGE = "assay.too_large"


class BoundedUploadHandler(FileUploadHandler):
    """Lets the files of a request pass up to `API_UPLOAD_MAX_BYTES` together; then none of them is there.

    The fields before them are, so that the form can say what happened: see `is_too_large`.
    """

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Count, and pass on. Raises `StopUpload`, after which the rest of the request is read and dropped."""
        self.received += len(raw_data)
        if self.received > settings.API_UPLOAD_MAX_BYTES:
            if self.request is not None:
                self.request.META[TOO_LARGE] = True
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> Any:
        """Leave the file to the next handler."""
        return None


def is_too_large(request: HttpRequest) -> bool:
    """Say whether the files of a request were more than may be sent."""
    return bool(request.META.get(TOO_LARGE))
