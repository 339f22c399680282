"""A server of texts that answers as a test wants, and remembers what it was asked for."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import unquote

from web.outbound import TextSource

KEY_NAME, KEY = "TEXT_KEY_LAB", "tk-canary-0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Reply:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def text_of(docid: str) -> Reply:
    return Reply(f"What {docid} says.".encode())


def passage(**fields: object) -> Reply:
    return Reply(json.dumps(fields).encode(), headers={"Content-Type": "application/json"})


@dataclass
class TextServer:
    """`replies`: those to a docid, one after the other; after them, and to all other docids, its text."""

    port: int
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    open: Event = field(default_factory=Event)
    """While it is not set, requests wait."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/texts/{{docid}}"

    def source(self, name: str = "Lab", key: str = "", at_once: int = 2) -> TextSource:
        return TextSource(name, self.address, key, at_once)

    def reply_to(self, docid: str) -> Reply:
        self.asked.append(docid)
        replies = self.replies.get(docid)
        return replies.pop(0) if replies else text_of(docid)


@contextmanager
def running_text_server() -> Iterator[TextServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.keys.add(self.headers["Authorization"])
            reply = server.reply_to(unquote(self.path.removeprefix("/texts/")))
            server.open.wait(60)
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)
            except OSError:  # whoever asked is gone, or has read enough
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server = TextServer(http.server_address[1])
        server.open.set()
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.open.set()
            http.shutdown()
            thread.join()
