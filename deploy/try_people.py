"""The people in deploy/try_compose.py: a browser, a desk, and load that counts what fails."""

import http.client
import json
import re
import ssl
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http.cookies import SimpleCookie
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

PASSWORD = "river-study-demo"  # noqa: S105  # the demo's, as in the README
CAMPAIGN = "river-study"
IDLE = 10.0  # seconds; the proxy closes a connection after a minute without a request
JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"


class Failed(Exception):
    """A step did not do what it should."""


class Client:
    """A browser: cookies, one connection that is kept, and the certificate of the proxy checked."""

    def __init__(self, port: int, certificate: str) -> None:
        context = ssl.create_default_context(cafile=certificate)
        self._connection = http.client.HTTPSConnection("localhost", port, timeout=150, context=context)
        self._cookies: dict[str, str] = {}
        self._used = 0.0
        self._origin = f"https://localhost:{port}"

    def ask(self, method: str, path: str, body: str = "", kind: str = JSON_TYPE) -> tuple[int, str]:
        """Send a request once; return status and text."""
        headers = {"Content-Type": kind, "Origin": self._origin, "Referer": f"{self._origin}/"}
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        headers["X-CSRFToken"] = self._cookies.get("__Host-csrftoken", "")
        if time.monotonic() - self._used > IDLE:
            self._connection.close()  # the next request opens it again
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie") or []:
            self._cookies |= {name: cookie.value for name, cookie in SimpleCookie(line).items()}
        text, self._used = answer.read().decode(), time.monotonic()
        return answer.status, text

    def page(self, path: str) -> str:
        """Return a page. Raises `Failed` where it is none."""
        status, text = self.ask("GET", path)
        if status != 200:
            raise Failed(f"GET {path}: {status}")
        return text

    def form(self, path: str, **fields: str) -> None:
        """Send a form. Raises `Failed` where it is not taken."""
        status, _ = self.ask("POST", path, urlencode(fields), FORM_TYPE)
        if status != 302:
            raise Failed(f"POST {path}: {status}")

    def send(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send JSON as a desk does, and return the answer's. Raises `Failed` where it is not taken."""
        status, text = self.ask("POST", path, json.dumps(body))
        if status != 200:
            raise Failed(f"POST {path}: {status} {text[:200]}")
        return json.loads(text)

    def sign_in(self, name: str) -> "Client":
        """Sign in as one of the demo's people."""
        self.page("/accounts/login/")
        self.form("/accounts/login/", login=name, password=PASSWORD)
        return self


class Desk:
    """A person's post-edit desk, in one window."""

    def __init__(self, client: Client) -> None:
        self._client, self._window = client, str(uuid.uuid4())
        self._url = next(iter(re.findall(r'href="(/desk/[^/"]+/)"', client.page("/desk/"))))
        client.ask("POST", f"{self._url}start/", "", FORM_TYPE)
        client.send(f"{self._url}hold/", {"window": self._window, "want": "take"})

    def add(self, text: str) -> None:
        """Add a nugget. Raises `Failed` unless it is acknowledged."""
        op = {
            "op_id": str(uuid.uuid4()),
            "step": str(uuid.uuid4()),
            "kind": "add",
            "payload": {"key": str(uuid.uuid4()), "text": text},
            "client_at": datetime.now(UTC).isoformat(),
        }
        answer = self._client.send(f"{self._url}ops/", {"window": self._window, "ops": [op]})
        if [receipt["status"] for receipt in answer["receipts"]] != ["applied"]:
            raise Failed(f"the desk did not take a nugget: {answer}")

    def shows(self, text: str) -> bool:
        """Check whether the desk, loaded anew, has a text."""
        return text in self._client.page(self._url)


class Load:
    """One person who saves and one who reads, without a pause, until the block ends. Nothing is sent twice."""

    def __init__(self, desk: Desk, reader: Client) -> None:
        self._desk, self._reader, self._ended = desk, reader, Event()
        self.saved: list[str] = []
        self.read = 0
        self.failed: list[str] = []

    def __enter__(self) -> "Load":
        self._threads = [Thread(target=self._repeat, args=(act,)) for act in (self._save, self._look)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, act: Callable[[], None]) -> None:
        while not self._ended.is_set():
            try:
                act()
            except (Failed, OSError, http.client.HTTPException) as error:
                self.failed.append(f"{type(error).__name__}: {error}")
            time.sleep(0.05)

    def _save(self) -> None:
        text = f"Under load {len(self.saved)}."
        self._desk.add(text)
        self.saved.append(text)

    def _look(self) -> None:
        self._reader.page(f"/campaigns/{CAMPAIGN}/")
        self.read += 1
