"""HTTP of a simulated browser: with a session of its own, over a network that loses, cuts and doubles."""

import http.client
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

from accounts.models import User
from loadtest.desk.seats import PASSWORD, Seat, own_connection
from loadtest.servers.sessions import end_session, new_session

PATIENCE = 40.0  # seconds until a request counts as unanswered
IDLE = 1.5  # seconds after which a connection is not used again: the server closes it after two
JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"


class Fate(StrEnum):
    ANSWERED = "answered"
    LOST = "lost"  # the server answers, and the answer is thrown away
    CUT = "cut"  # the connection ends as soon as the request is out
    HALF = "half"  # the connection ends in the middle of the request
    TWICE = "twice"  # sent on two connections at once


class NoAnswer(Exception):
    """A request without an answer. Whether the server has done what it asks for is not known."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply of the server. `body` is a text where that is no JSON."""

    status: int
    body: Any


class Browser:
    def __init__(
        self,
        address: str,
        seat: Seat,
        counts: Counter[str],
        failed: Callable[[str], None],
        draw: random.Random,
        session: str = "",
        token: str = "",
    ) -> None:
        self._address, self._seat = address, seat
        self._counts, self._failed, self._draw = counts, failed, draw
        self._cookies = {"sessionid": session or self._session(), "csrftoken": token}
        self._open: http.client.HTTPConnection | None = None
        self._used = 0.0

    def end_session(self) -> None:
        with own_connection():
            end_session(self._cookies["sessionid"])
        self._counts["sessions ended"] += 1

    def _session(self) -> str:
        with own_connection():
            return new_session(User.objects.get(pk=self._seat.pk))

    def break_token(self) -> None:
        self._cookies["csrftoken"] = "0" * 32

    def get(self, path: str) -> Any:
        """Return JSON. Raises `NoAnswer`, also after signing in anew."""
        return self._checked(self._ask("GET", path)).body

    def post(self, path: str, body: object, fate: Fate = Fate.ANSWERED) -> Answer:
        """Send JSON. Raises `NoAnswer` as the fate has it, and after signing in anew."""
        if fate is Fate.TWICE:
            return self.post_both(path, body, body)[0]
        return self._checked(self._ask("POST", path, json.dumps(body), fate))

    def form(self, path: str, fields: Mapping[str, object]) -> Answer:
        """Send a form, as a page does. Raises `NoAnswer`, also after taking a fresh token."""
        return self._checked(self._ask("POST", path, urlencode(fields, doseq=True), kind=FORM_TYPE))

    def post_both(self, path: str, first: object, second: object) -> list[Answer]:
        """Send two requests at once, on connections of their own, and wait for both answers."""
        connections = [http.client.HTTPConnection(self._address, timeout=PATIENCE) for _ in range(2)]
        try:
            for connection, body in zip(connections, (first, second), strict=True):
                connection.request("POST", path, json.dumps(body), self._headers(JSON_TYPE))
            return [self._checked(self._read(connection)) for connection in connections]
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer from error
        finally:
            for connection in connections:
                connection.close()

    def _checked(self, answer: Answer) -> Answer:
        """Sign in where that is needed. The request itself is sent again by whoever made it."""
        if answer.status in (401, 403):
            self._sign_in()
            raise NoAnswer
        if answer.status >= 500:
            self._counts["server errors"] += 1
            self._failed(f"{self._seat.username}: the server answered {answer.status}")
            raise NoAnswer
        return answer

    def _ask(
        self, method: str, path: str, body: str = "", fate: Fate = Fate.ANSWERED, kind: str = JSON_TYPE
    ) -> Answer:
        connection = self._connection()
        try:
            if fate is Fate.HALF:
                self._send_half(connection, path, body)
            connection.request(method, path, body, self._headers(kind))
            if fate is Fate.CUT:
                time.sleep(self._draw.choice((0, 0.002, 0.02)))
                raise NoAnswer
            answer = self._read(connection)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NoAnswer from error
        except NoAnswer:
            connection.close()
            raise
        self._open, self._used = connection, time.monotonic()
        if fate is Fate.LOST:
            raise NoAnswer
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        kept, self._open = self._open, None
        if kept and time.monotonic() - self._used < IDLE:
            return kept
        if kept:
            kept.close()
        return http.client.HTTPConnection(self._address, timeout=PATIENCE)

    def _send_half(self, connection: http.client.HTTPConnection, path: str, body: str) -> None:
        connection.putrequest("POST", path)
        for name, value in self._headers(JSON_TYPE).items():
            connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body[: len(body) // 2].encode())
        raise NoAnswer

    def _headers(self, kind: str) -> dict[str, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items() if value)
        headers = {"Accept": JSON_TYPE, "X-Requested-With": "XMLHttpRequest", "Content-Type": kind}
        return {**headers, "Cookie": cookies, "X-CSRFToken": self._cookies["csrftoken"]}

    def _read(self, connection: http.client.HTTPConnection) -> Answer:
        response = connection.getresponse()
        text = response.read()
        for line in response.headers.get_all("Set-Cookie") or []:
            self._cookies |= {name: cookie.value for name, cookie in SimpleCookie(line).items()}
        is_json = response.headers.get("Content-Type", "").startswith(JSON_TYPE)
        return Answer(response.status, json.loads(text) if is_json else text.decode(errors="replace"))

    def _sign_in(self) -> None:
        """Take a fresh token, and sign in where the session has ended. Too many sign-ins a minute are refused."""
        if self._who() is not None:
            return
        form = urlencode({"login": self._seat.username, "password": PASSWORD})
        answer = self._ask("POST", "/accounts/login/", form, kind=FORM_TYPE)
        if answer.status == 429:
            self._cookies["sessionid"] = self._session()
        if self._who() is not None:
            self._counts["sign-ins"] += 1

    def _who(self) -> str | None:
        answer = self._ask("GET", "/desk/session/")
        if answer.status != 200:
            raise NoAnswer
        user: str | None = answer.body["user"]
        return user
