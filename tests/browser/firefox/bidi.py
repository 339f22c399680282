"""Debian's Firefox over WebDriver BiDi: the little that a walk needs. Playwright drives only a Firefox of its own."""

import base64
import json
import os
import re
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PREFS = (
    'user_pref("remote.active-protocols", 1);\n'
    'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
    'user_pref("app.update.auto", false);\n'
    'user_pref("browser.shell.checkDefaultBrowser", false);\n'
)
PATIENCE = 60.0
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Control": "\ue009", "ArrowUp": "\ue013", "ArrowDown": "\ue015"}
"""Keys without a character, as WebDriver names them."""


class Firefox:
    """One window of a Firefox. `complaints`: errors of the console and of scripts so far."""

    def __init__(self, port: int) -> None:
        self.complaints: list[str] = []
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._read = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET /session HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while self._read.readline().strip():
            pass
        self._number = 0
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        # The first window never has the focus, so that no row of a desk would be told that it has it.
        self._context = self.ask("browsingContext.create", type="window")["context"]
        self.ask("browsingContext.setViewport", context=self._context, viewport={"width": 1440, "height": 900})

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its result; raise where it failed."""
        self._number += 1
        self._send(json.dumps({"id": self._number, "method": method, "params": params}).encode())
        while True:
            message = json.loads(self._receive())
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.complaints.append(message["params"]["text"])
            if message.get("id") == self._number:
                assert message["type"] == "success", message
                return message["result"]

    def close(self) -> None:
        self._read.close()
        self._socket.close()

    def sign_in(self, session: str) -> None:
        cookie = {"name": "sessionid", "value": {"type": "string", "value": session}, "domain": "localhost"}
        self.ask("storage.setCookie", cookie=cookie)

    def goto(self, address: str) -> None:
        self.ask("browsingContext.navigate", context=self._context, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        code = f"(async () => JSON.stringify((await ({expression})) ?? null))()"
        found = self.ask("script.evaluate", expression=code, target={"context": self._context}, awaitPromise=True)
        assert found["type"] == "success", found
        return json.loads(found["result"]["value"])

    def wait_for(self, expression: str) -> None:
        self.evaluate(
            "new Promise((done, fail) => { const end = Date.now() + 20000; const look = () => "
            f"({expression}) ? done(true) : Date.now() > end ? fail(new Error({json.dumps(expression)})) "
            ": setTimeout(look, 50); look(); })"
        )

    def press(self, *chords: str) -> None:
        """Press keys one after the other, "Control+Enter" together, as a keyboard does."""
        for chord in chords:
            keys = [KEYS.get(key, key) for key in chord.split("+")]
            steps = [{"type": "keyDown", "value": key} for key in keys]
            steps += [{"type": "keyUp", "value": key} for key in reversed(keys)]
            keyboard = {"type": "key", "id": "keyboard", "actions": steps}
            self.ask("input.performActions", context=self._context, actions=[keyboard])

    def _send(self, payload: bytes) -> None:
        mask, length = os.urandom(4), len(payload)
        head = b"\x81" + (
            struct.pack("!B", 0x80 | length)
            if length < 126
            else struct.pack("!BH", 0xFE, length)
            if length < 65536
            else struct.pack("!BQ", 0xFF, length)
        )
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        self._socket.sendall(head + mask + masked)

    def _receive(self) -> bytes:
        """One message, put together of its frames; answers to pings are not needed between our own commands."""
        whole = b""
        while True:
            first, second = self._read.read(2)
            length = second & 0x7F
            if length == 126:
                [length] = struct.unpack("!H", self._read.read(2))
            elif length == 127:
                [length] = struct.unpack("!Q", self._read.read(8))
            payload = self._read.read(length)
            if first & 0x0F in (0, 1):
                whole += payload
                if first & 0x80:
                    return whole


@contextmanager
def started(program: str, profile: Path) -> Iterator[Firefox]:
    (profile / "user.js").write_text(PREFS, "utf-8")
    command: Sequence[str] = (program, "--headless", "--no-remote", "--profile", str(profile))
    with subprocess.Popen(
        [*command, "--remote-debugging-port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(profile)},
    ) as process:
        try:
            assert process.stderr
            lines = (re.search(r"ws://127\.0\.0\.1:(\d+)", line) for line in process.stderr)
            found = next(filter(None, lines))
            firefox = Firefox(int(found[1]))
            try:
                yield firefox
            finally:
                firefox.close()
        finally:
            process.terminate()
