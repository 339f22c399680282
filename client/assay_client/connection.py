"""Requests to one server: its token, tries and waits, and its errors as exceptions."""

from __future__ import annotations

import json
import random
import re
import time
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx

from assay_client.errors import AssayError, Incomplete, ServerError, Unreachable, error_of

try:
    VERSION = version("assay-client")
except PackageNotFoundError:  # imported from a clone
    VERSION = ""
TRIES = 4
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
"""Seconds. Whoever should wait for longer is told so at once."""

LONGEST_DOING = 150.0
"""Seconds. After two minutes the server takes a request that did not end for dead."""

BUSY = (429, 502, 503, 504)
BEING_DONE = "idempotency_key_in_use"
TOKEN = re.compile(r"[\x21-\x7e]+")

Body = Callable[[], Mapping[str, Any]]
"""Makes the body of a request, as httpx's `content` or `files`, once more for each try."""


class Connection:
    """The address of a server and a token for it."""

    def __init__(self, url: str, token: str, *, timeout: float, allow_http: bool) -> None:
        self.url = checked_url(url, allow_http=allow_http)
        if not TOKEN.fullmatch(token):
            raise AssayError("token: visible ASCII characters without spaces")
        headers = {"Authorization": f"Bearer {token}", "User-Agent": f"assay-client/{VERSION}".rstrip("/")}
        try:
            # Redirects are not followed: the token is for this server alone.
            self._http = httpx.Client(headers=headers, timeout=timeout, follow_redirects=False)
        except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
            raise AssayError(f"a proxy or a certificate of the environment: {error}") from error
        self._compared = False
        weakref.finalize(self, self._http.close)

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        with self.answer("GET", path, query) as response:
            return document_of(response)

    def post(
        self, path: str, body: Any = None, query: Mapping[str, Any] | None = None, *, tried_out: bool = False
    ) -> Any:
        """Send a JSON body. `tried_out`: the server only says what it would do."""
        raw = json.dumps({} if body is None else body).encode()
        return self.send(
            path, lambda: {"content": raw}, query, {"Content-Type": "application/json"}, tried_out=tried_out
        )

    def send(
        self,
        path: str,
        body: Body,
        query: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        *,
        tried_out: bool = False,
    ) -> Any:
        # The same key at each try: what was done and whose answer was lost is not done again.
        key = {} if tried_out else {"Idempotency-Key": str(uuid.uuid4())}
        with self.answer("POST", path, query, {**headers, **key}, body) as response:
            return document_of(response)

    @contextmanager
    def answer(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Body | None = None,
        *,
        streamed: bool = False,
    ) -> Iterator[httpx.Response]:
        """Give the answer to a request; a streamed one is not read yet. Raises `AssayError` after all tries."""
        tries, end = 0, time.monotonic() + LONGEST_DOING
        while True:
            request = self._request(method, path, query, headers, body)
            try:
                response = self._http.send(request, stream=streamed)
            except httpx.RequestError as broken:
                tries += 1
                if tries == TRIES:
                    raise Unreachable(f"{self.url} did not answer: {broken or type(broken).__name__}") from broken
                time.sleep(_usual_wait(tries))
                continue
            try:
                if response.is_success:
                    self._compare(response)
                    yield response
                    return
                error = self._error(response)
            finally:
                response.close()
            # Our own request of before, whose answer took too long, is still at work under its key.
            being_done = error.code == BEING_DONE and time.monotonic() < end
            tries += not being_done
            seconds = _wait(response, tries) if being_done or response.status_code in BUSY else None
            if tries == TRIES or seconds is None:
                raise error
            time.sleep(seconds)

    def lines(self, path: str, query: Mapping[str, Any]) -> Iterator[bytes]:
        """Yield the lines of a stream with their ends. Raises `Incomplete` where it breaks off."""
        with self.answer("GET", path, {**query, "format": "jsonl"}, streamed=True) as response:
            rest = b""
            try:
                for piece in response.iter_bytes():
                    *whole, rest = (rest + piece).split(b"\n")
                    yield from (line + b"\n" for line in whole)
            except httpx.RequestError as broken:
                raise _broken_off(response) from broken
            if rest:
                raise _broken_off(response)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
        body: Body | None,
    ) -> httpx.Request:
        parameters = {name: _parameter(value) for name, value in (query or {}).items() if value is not None}
        return self._http.build_request(
            method, f"{self.url}/api/v1/{path}", params=parameters, headers=headers, **(body() if body else {})
        )

    def _error(self, response: httpx.Response) -> AssayError:
        if response.is_redirect:
            there = response.headers.get("Location", "")
            return ServerError(
                f"{self.url} sends elsewhere, and no token goes there: {there}", status=response.status_code
            )
        try:
            document = json.loads(response.read())
        except (ValueError, httpx.HTTPError):
            document = None
        refusal = document if isinstance(document, dict) else {}
        return error_of(response.status_code, refusal, _request_id(response))

    def _compare(self, response: httpx.Response) -> None:
        """Warn once where the server is older than this client."""
        servers = response.headers.get("Assay-Version", "")
        if not self._compared and servers and VERSION and numbers(servers) < numbers(VERSION):
            warnings.warn(f"{self.url} is Assay {servers}, older than this client, {VERSION}", stacklevel=5)
        self._compared = True


def checked_url(url: str, *, allow_http: bool) -> str:
    """Return the address without a slash at its end. Raises `AssayError`."""
    try:
        httpx.URL(url)  # which refuses a port and characters that the other takes
        parts = urlsplit(url)
    except (ValueError, httpx.InvalidURL):
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AssayError(f"url: an address such as https://assay.example.org, found {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise AssayError("url: an address without a user, a query or a fragment")
    if parts.scheme == "http" and not (allow_http or _is_loopback(parts.hostname)):
        raise AssayError(f"refused to send a token over http to {parts.hostname} (allow_http=True if you must)")
    return url.rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def document_of(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        kind = response.headers.get("Content-Type", "something")
        raise ServerError(
            f"{response.url.host} answered {kind} and no JSON: is this the address of Assay?",
            status=response.status_code,
        ) from None


def numbers(words: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", words)]


def _wait(response: httpx.Response, tries: int) -> float | None:
    """Return after how many seconds to try again; None: nobody waits for so long."""
    wait = _retry_after(response.headers.get("Retry-After", ""))
    if wait is None:
        return _usual_wait(tries)
    return wait if wait <= LONGEST_WAIT else None


def _usual_wait(tries: int) -> float:
    return FIRST_WAIT * float(2 ** max(tries - 1, 0)) * random.uniform(0.75, 1.25)  # noqa: S311  # not all at once


def _retry_after(words: str) -> float | None:
    if words.isascii() and words.isdigit():
        return float(words)
    try:
        moment = parsedate_to_datetime(words)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(timezone.utc) - datetime.now(timezone.utc)).total_seconds())


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(_parameter, value))
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _request_id(response: httpx.Response) -> str:
    return str(response.headers.get("X-Request-ID", ""))


def _broken_off(response: httpx.Response) -> Incomplete:
    return Incomplete(
        f"{response.url.path} broke off before its end: none of it counts",
        status=response.status_code,
        request_id=_request_id(response),
    )
