"""A server of Assay, with somebody's token."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any
from urllib.parse import quote

from assay_client.campaign import Campaign
from assay_client.connection import Connection
from assay_client.errors import AssayError
from assay_client.lists import Rows
from assay_client.reading import read
from assay_client.rows import AccountOut, CampaignRow


class Assay:
    """A server. Proxies and certificates are those of the environment."""

    def __init__(self, url: str, *, token: str, timeout: float = 30, allow_http: bool = False) -> None:
        self._connection = Connection(url, token, timeout=timeout, allow_http=allow_http)

    @classmethod
    def from_env(cls, *, timeout: float = 30, allow_http: bool = False) -> Assay:
        """Return the server at ASSAY_URL, with the token ASSAY_TOKEN. Raises `AssayError` where one is not set."""
        url, token = os.environ.get("ASSAY_URL"), os.environ.get("ASSAY_TOKEN")
        if not url:
            raise AssayError("ASSAY_URL is not set (the server's address, such as https://assay.example.org)")
        if not token:
            raise AssayError("ASSAY_TOKEN is not set (make one at /accounts/tokens/)")
        return cls(url, token=token, timeout=timeout, allow_http=allow_http)

    def __repr__(self) -> str:
        return f"<Assay at {self._connection.url}>"

    def __enter__(self) -> Assay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def whoami(self) -> AccountOut:
        """Return whose token this is, and what it may."""
        return read(AccountOut, self._connection.get("account/"))

    def campaigns(self) -> Rows[CampaignRow]:
        return Rows(self._connection, "campaigns", CampaignRow, {})

    def campaign(self, slug: str) -> Campaign:
        """Raises `NotFound` at once."""
        answer = self._connection.get(f"campaigns/{quote(slug, safe='')}/")
        return Campaign(self._connection, read(CampaignRow, answer))

    def create_campaign(self, slug: str, *, replace: bool = False, **protocol: Any) -> Campaign:
        """Make a campaign, as administrators may. `protocol`: the fields of a campaign's file."""
        body, query = {"slug": slug, **protocol}, {"replace": True} if replace else None
        return Campaign(self._connection, read(CampaignRow, self._connection.post("campaigns/", body, query)))
