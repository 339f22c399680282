"""Replies within limits: a deadline for the whole exchange, and a size, both for answers and for errors.

The limits of the HTTP package are for one read each, so that an endpoint which sends a byte a second, or a small reply
that unpacks to gigabytes, would never be given up.
"""

import ssl
import time
import zlib
from collections.abc import Iterator
from threading import local
from typing import Any

import httpcore2
import httpx2

MOST_BYTES = 2**20
_deadline = local()


class ReplyTooLongError(httpx2.TransportError):
    """Reply of more than `MOST_BYTES`, unpacked."""

    def __init__(self) -> None:
        super().__init__(f"The reply is too long: over {MOST_BYTES // 2**20} MiB")


def time_left(timeout: float | None) -> float | None:
    """Seconds for the next step of this thread's exchange."""
    ends: float | None = getattr(_deadline, "ends", None)
    if ends is None:
        return timeout
    left = ends - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("the time for the whole call is over")
    return left if timeout is None else min(left, timeout)


class DeadlineStream(httpcore2.NetworkStream):
    """Connection whose every step ends with the exchange's deadline: heads of replies and TLS can trickle too."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, time_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, time_left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, time_left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class LimitedTransport(httpx2.BaseTransport):
    """Transport that reads each reply to its end, within the request's time-out and `MOST_BYTES`."""

    def __init__(self, transport: httpx2.BaseTransport) -> None:
        self._transport = transport

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        seconds = request.extensions.get("timeout", {}).get("read")
        _deadline.ends = None if seconds is None else time.monotonic() + seconds
        # The only packing that is unpacked here piece by piece.
        request.headers["Accept-Encoding"] = "gzip, deflate"
        try:
            response = self._transport.handle_request(request)
            try:
                body = _limited(_unpacked(response))
            finally:
                response.close()
        except httpcore2.ReadTimeout as error:
            raise httpx2.ReadTimeout(str(error), request=request) from error
        finally:
            _deadline.ends = None
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in DESCRIBE_PACKING]
        return httpx2.Response(
            response.status_code, headers=headers, content=body, request=request, extensions=_plain(response)
        )

    def close(self) -> None:
        self._transport.close()


DESCRIBE_PACKING = {b"content-encoding", b"content-length", b"transfer-encoding"}


def _plain(response: httpx2.Response) -> dict[str, Any]:
    return {name: value for name, value in response.extensions.items() if name != "network_stream"}


def _limited(pieces: Iterator[bytes]) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > MOST_BYTES:
            raise ReplyTooLongError
        time_left(None)  # a proxy's connection knows no deadline
    return bytes(body)


def _unpacked(response: httpx2.Response) -> Iterator[bytes]:
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in {"gzip", "x-gzip", "deflate"}:
        # Anything else was not asked for, and reads as no completion.
        yield from response.iter_raw()
        return
    unpacker = zlib.decompressobj(wbits=47 if "gzip" in packing else zlib.MAX_WBITS)
    for packed in response.iter_raw():
        rest = packed
        while rest:
            try:
                yield unpacker.decompress(rest, MOST_BYTES + 1)
            except zlib.error as error:
                raise httpx2.RemoteProtocolError(str(error)) from error
            rest = unpacker.unconsumed_tail
