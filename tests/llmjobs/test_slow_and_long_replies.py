"""An endpoint that trickles, or never ends, is given up: by the time of the whole call, and by a size."""

import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from pydantic import SecretStr

from llmjobs.client import CallRefusal, Completion, Endpoint, close_clients, send
from tests.llmjobs.test_client import REQUEST
from web.transport import MOST_BYTES

BODY = json.dumps({"model": "m", "choices": [{"message": {"content": "full_support"}}]}).encode()


class Raw(ThreadingHTTPServer):
    """Writes the pieces of a reply, head and all, as they are; a number is a pause of so many seconds."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), RawHandler)
        self.pieces: Callable[[], Iterator[bytes | float]] = lambda: iter(())


class RawHandler(BaseHTTPRequestHandler):
    server: Raw

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True
        try:
            for piece in self.server.pieces():
                if isinstance(piece, float):
                    time.sleep(piece)
                else:
                    self.wfile.write(piece)
        except OSError:
            pass

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def raw() -> Iterator[Raw]:
    with Raw() as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
    close_clients()


def head(status: int = 200, *more: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", "Connection: close", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def drops(text: bytes, pause: float = 0.05) -> Iterator[bytes | float]:
    for byte in text:
        yield bytes([byte])
        yield pause


def answer_of(server: Raw, pieces: Callable[[], Iterator[bytes | float]], timeout: float = 0.5) -> Any:
    server.pieces = pieces
    at = f"http://127.0.0.1:{server.server_port}/v1"
    return send(Endpoint(base_url=at, api_key=SecretStr("sk-x"), timeout=timeout), REQUEST)


@pytest.mark.parametrize(
    "pieces",
    [
        lambda: iter([head(), *drops(b" " * 200)]),
        lambda: drops(head() * 20),
        lambda: iter([head(503), *drops(b"busy " * 40)]),
        lambda: iter([head(200, "Transfer-Encoding: chunked"), *drops(b"1\r\n \r\n" * 60, 0.03)]),
        lambda: iter([head(), 5.0]),
        lambda: iter([5.0]),
    ],
)
def test_a_reply_that_trickles_ends_at_the_time_out(
    raw: Raw, pieces: Callable[[], Iterator[bytes | float]]
) -> None:
    refusal = answer_of(raw, pieces)
    assert isinstance(refusal, CallRefusal)
    assert (refusal.kind, refusal.message) == ("timeout", "No answer within 0.5 s.")


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("packing", ["", "gzip", "deflate"])
def test_a_reply_that_is_too_long_is_given_up(raw: Raw, status: int, packing: str) -> None:
    whole = b" " * (300 * MOST_BYTES if packing else 2 * MOST_BYTES)
    packed = {
        "": lambda: whole,
        "gzip": lambda: gzip.compress(whole, 1),
        "deflate": lambda: zlib.compress(whole, 1),
    }
    sent = packed[packing]()
    more = [f"Content-Encoding: {packing}"] if packing else []
    refusal = answer_of(raw, lambda: iter([head(status, *more), sent]), timeout=20)
    assert isinstance(refusal, CallRefusal)
    assert (refusal.kind, refusal.message) == ("server_error", "The reply is too long: over 1 MiB.")


@pytest.mark.parametrize("packing", ["", "gzip", "deflate"])
def test_a_packed_reply_is_read(raw: Raw, packing: str) -> None:
    packed = {"": BODY, "gzip": gzip.compress(BODY), "deflate": zlib.compress(BODY)}[packing]
    more = [f"Content-Encoding: {packing}"] if packing else []
    answer = answer_of(raw, lambda: iter([head(200, *more), packed[:9], 0.05, packed[9:]]), timeout=5)
    assert isinstance(answer, Completion)
    assert answer.text == "full_support"


def test_a_packed_reply_that_is_broken_is_no_answer(raw: Raw) -> None:
    refusal = answer_of(raw, lambda: iter([head(200, "Content-Encoding: gzip"), b"not packed"]), timeout=5)
    assert isinstance(refusal, CallRefusal)
    assert refusal.worth_retrying
