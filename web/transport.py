"""Replies within limits: a deadline for the whole exchange, and a size, both for answers and for errors.

The limits of the HTTP package are for one read each, so that an endpoint which sends a byte a second, or a small reply
that unpacks to gigabytes, would never be given up.
"""

import socket
import ssl
import time
import zlib
from collections.abc import Iterable, Iterator
from threading import local
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from web.outbound import resolved_problem

MOST_BYTES = 2**20
_deadline = local()


class ReplyTooLongError(httpx2.TransportError):
    """Reply of more than the transport's `most_bytes`, unpacked."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(f"The reply is too long: over {most_bytes // 2**20} MiB")


class PackingError(httpx2.TransportError):
    """Reply whose packing is broken: its connection stands."""


def time_left(timeout: float | None) -> float | None:
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


class CheckedBackend(httpcore2.SyncBackend):
    """Opens connections only to addresses at which an LLM may be.

    To look and then to connect by name would ask a name server twice, and it may answer differently. TLS still checks
    the certificate against the name.
    """

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        # In the order of the resolver, as a plain connection would.
        trouble: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in _addresses(host, port):
            try:
                stream = super().connect_tcp(address, port, time_left(timeout), local_address, socket_options)
                return DeadlineStream(stream)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
        raise trouble


def _addresses(host: str, port: int) -> list[str]:
    # One address that is not allowed is enough to distrust the name.
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in infos))
    problem = next(filter(None, (resolved_problem(host, address) for address in addresses)), "")
    if problem:
        raise httpcore2.ConnectError(problem)
    return addresses


class LimitedTransport(httpx2.BaseTransport):
    """Transport that reads each reply to its end, within the request's time-out and `most_bytes`."""

    def __init__(self, base_url: str, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        proxy = _proxy_to(base_url)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            proxy=proxy,
            max_connections=MOST_CONNECTIONS,
            keepalive_expiry=KEPT_SECONDS,
            # A configured proxy resolves names itself, and has to refuse.
            network_backend=None if proxy else CheckedBackend(),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        seconds = request.extensions.get("timeout", {}).get("read")
        _deadline.ends = None if seconds is None else time.monotonic() + seconds
        # The only packing that is unpacked here piece by piece.
        request.headers["Accept-Encoding"] = "gzip, deflate"
        sent = httpcore2.Request(
            request.method,
            str(request.url),
            headers=request.headers.raw,
            content=request.read(),
            extensions=request.extensions,
        )
        try:
            response = self._pool.handle_request(sent)
            try:
                body = _limited(_unpacked(response, self._most_bytes), self._most_bytes)
            finally:
                response.close()
        except httpcore2.TimeoutException as error:
            raise httpx2.TimeoutException(str(error), request=request) from error
        except zlib.error as error:
            raise PackingError(str(error), request=request) from error
        except BROKEN as error:
            raise httpx2.TransportError(str(error), request=request) from error
        finally:
            _deadline.ends = None
        headers = [(name, value) for name, value in response.headers if name.lower() not in DESCRIBE_PACKING]
        return httpx2.Response(response.status, headers=headers, content=body, request=request)

    def close(self) -> None:
        self._pool.close()


MOST_CONNECTIONS, KEPT_SECONDS = 1000, 5.0
BROKEN = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
)
GZIP_START = b"\x1f"  # of each part of a reply that was packed in several
DESCRIBE_PACKING = {b"content-encoding", b"content-length", b"transfer-encoding"}


def _proxy_to(base_url: str) -> httpcore2.Proxy | None:
    """Proxy that `HTTPS_PROXY` and its like name for an address, unless `NO_PROXY` names its host."""
    parts, proxies = urlsplit(base_url), getproxies()
    address = proxies.get(parts.scheme) or proxies.get("all")
    if not address or proxy_bypass(parts.netloc):
        return None
    proxy = httpx2.Proxy(address if "://" in address else f"http://{address}")
    return httpcore2.Proxy(str(proxy.url), auth=proxy.raw_auth)


def _limited(pieces: Iterator[bytes], most_bytes: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > most_bytes:
            raise ReplyTooLongError(most_bytes)
        time_left(None)  # a proxy's connection knows no deadline
    return bytes(body)


def _unpacked(response: httpcore2.Response, most_bytes: int) -> Iterator[bytes]:
    packing = httpx2.Headers(response.headers).get("content-encoding", "").strip().lower()
    if packing not in {"gzip", "x-gzip", "deflate"}:
        # Anything else was not asked for, and reads as no completion.
        yield from response.iter_stream()
        return
    wbits = 47 if "gzip" in packing else zlib.MAX_WBITS
    unpacker = zlib.decompressobj(wbits)
    is_begun = False
    for packed in response.iter_stream():
        rest = packed
        while rest:
            if unpacker.eof:
                if not rest.startswith(GZIP_START):
                    break  # what fills up the last block
                unpacker = zlib.decompressobj(wbits)
            is_begun = True
            yield unpacker.decompress(rest, most_bytes + 1)
            rest = unpacker.unconsumed_tail or unpacker.unused_data
    if is_begun and not unpacker.eof:
        raise zlib.error("the reply ends before its packing does")
