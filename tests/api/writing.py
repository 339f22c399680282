"""A program that talks to the API with a token."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils.timezone import now

from accounts.models import User
from accounts.tokens import Scope, make_token

API = "/api/v1"


@dataclass(frozen=True, slots=True)
class Program:
    """What a program of somebody's sends; the test client raises what a view lets through."""

    raw: str
    client: Client

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(f"{API}{path}", headers=self._headers(headers))

    def post(self, path: str, body: Any = None, kind: str = "application/json", **headers: str) -> Any:
        return self.client.post(f"{API}{path}", body, content_type=kind, headers=self._headers(headers))

    def load(self, path: str, text: str | bytes, **headers: str) -> Any:
        raw = text.encode() if isinstance(text, str) else text
        return self.post(path, raw, "application/octet-stream", **headers)

    def _headers(self, more: dict[str, str]) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in more.items()}
        return {"Authorization": f"Bearer {self.raw}"} | named


def program_of(user: User, *scopes: Scope) -> Program:
    """Make a program with a token of somebody's, which may read and write unless said otherwise."""
    ends = now() + timedelta(days=1)
    _, raw = make_token(user=user, name="program", scopes=scopes or tuple(Scope), expires_at=ends)
    return Program(raw, Client())
