"""Connections of the LLM client: a name is resolved once, what it stands for is looked at, and that is connected to."""

import logging
import socket
from collections.abc import Iterable
from typing import Any, cast

import httpcore2
import httpx2

from web.outgoing import resolved_problem

# These write addresses with the password in them at INFO, and at DEBUG what was asked and answered, headers and all.
for _talkative in ("httpcore2", "httpx2", "openai"):
    logging.getLogger(_talkative).setLevel(logging.WARNING)


class CheckedBackend(httpcore2.SyncBackend):
    """Opens connections only to addresses at which an LLM may be.

    To look and then to connect by name would ask a name server twice, and it may answer differently. TLS still checks
    the certificate against the name.
    """

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        # In the order of the resolver, as a plain connection would.
        trouble: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in _addresses(host, port):
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
        raise trouble


def guarded(client: httpx2.Client) -> httpx2.Client:
    # Where a proxy is configured, the proxy resolves names, and this backend is not asked.
    cast(Any, client)._transport._pool._network_backend = CheckedBackend()
    return client


def _addresses(host: str, port: int) -> list[str]:
    # One address that is not allowed is enough to distrust the name.
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    problem = next(filter(None, (resolved_problem(host, address) for address in addresses)), "")
    if problem:
        raise httpcore2.ConnectError(problem)
    return addresses
