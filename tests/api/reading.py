"""How tests ask the API."""

import csv
import io
import json
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.crawl.canaries import body_of

PAGED = "/api/v1/"
PROBLEM = "application/problem+json"


@dataclass
class Program:
    token: str = ""
    client: Client = field(default_factory=Client)

    def get(self, path: str, **headers: str) -> HttpResponseBase:
        """Ask for a path under /api/v1/, or for a whole address."""
        address = path if path.startswith(("http", "/")) else PAGED + path
        return self.client.get(address, headers=self.own | headers)

    @property
    def own(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    def json(self, path: str) -> Any:
        response = self.get(path)
        assert response.status_code == 200, (path, body_of(response))
        return json.loads(body_of(response))

    def rows(self, path: str) -> list[dict[str, Any]]:
        page = self.json(path)
        found = list(page["results"])
        while page["next"]:
            page = self.json(page["next"])
            found += page["results"]
        return found

    def lines(self, path: str) -> list[dict[str, Any]]:
        response = self.get(with_form(path, "jsonl"))
        assert response.status_code == 200, (path, body_of(response))
        return [json.loads(line) for line in body_of(response).decode().splitlines()]

    def table(self, path: str) -> list[dict[str, str]]:
        response = self.get(with_form(path, "csv"))
        assert response.status_code == 200, (path, body_of(response))
        return list(csv.DictReader(io.StringIO(body_of(response).decode(), newline="")))

    def problem(self, path: str, status: int) -> Any:
        response = self.get(path)
        assert (response.status_code, response["Content-Type"]) == (status, PROBLEM), body_of(response)
        document = json.loads(body_of(response))
        assert document["status"] == status
        return document

    def queries(self, path: str) -> int:
        with CaptureQueriesContext(connection) as context:
            body_of(self.get(path))
        return len(context)


def with_form(path: str, form: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}format={form}"
