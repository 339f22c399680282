"""Servers that stand before the real one, or in its place, and answer what a test says."""

import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """An answer; one without `whole` breaks off behind its body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    whole: bool = True


Act = Callable[["Request"], Answer]


class Server(ThreadingHTTPServer):
    """Does the acts in their order, and what comes then is `rest`. Keeps the requests that came."""

    daemon_threads = False

    def __init__(self, acts: list[Act], rest: Act) -> None:
        self.acts, self.rest, self.requests = acts, rest, list[Request]()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.close_connection = True
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, self.path, dict(self.headers.items()), body)
        self.server.requests.append(request)
        answer = (self.server.acts.pop(0) if self.server.acts else self.server.rest)(request)
        self.send_response(answer.status)
        self.send_header("Connection", "close")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if answer.body:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(answer.body), answer.body))
        if answer.whole:
            self.wfile.write(b"0\r\n\r\n")

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print nothing."""


def says(status: int = 200, body: bytes = b"{}", **headers: str) -> Act:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _request: Answer(status, body, named)


def breaks_off(body: bytes) -> Act:
    return lambda _request: Answer(body=body, whole=False)


def hands_on(url: str) -> Act:
    """Ask the server at an address, and answer what it answers."""

    def ask(request: Request) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        own = {name: value for name, value in request.headers.items() if name not in ("Host", "Connection")}
        connection.request(request.method, request.path, request.body, own)
        response = connection.getresponse()
        kept = {name: value for name, value in response.headers.items() if name not in HOP}
        body = response.read()
        connection.close()
        return Answer(response.status, body, kept)

    return ask


HOP = ("Transfer-Encoding", "Connection", "Content-Length", "Date", "Server")


def loses(act: Act) -> Act:
    """Do an act and lose its answer on the way."""

    def lose(request: Request) -> Answer:
        act(request)
        return Answer(502)

    return lose


@contextmanager
def serving(*acts: Act, rest: Act | None = None) -> Iterator[Server]:
    server = Server(list(acts), rest or says(500))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
