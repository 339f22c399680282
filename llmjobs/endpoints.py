"""Endpoints of judges' calls. Keys come from the environment only."""

from dataclasses import replace
from functools import lru_cache

from django.conf import settings

from evaluation.errors import Refused
from evaluation.models import Judge
from llmjobs.client import Endpoint, endpoint_from_environment
from llmjobs.simulator.answering import MODEL
from web.outbound import address_problem


def default_endpoint() -> Endpoint:
    endpoint = endpoint_from_environment() or Endpoint(
        base_url=f"http://127.0.0.1:{settings.SIMULATOR_PORT}/v1", model=MODEL
    )
    return replace(endpoint, timeout=settings.LLM_TIMEOUT_SECONDS)


def endpoint_of(judge: Judge) -> Endpoint:
    """Return the endpoint of a judge: the default one, or the judge's own address.

    The environment's key goes to the environment's address only: whoever may name another address must not get it.
    Raises `Refused` for an address of its own that is not allowed: the list may have changed since the judge was made.
    """
    endpoint = _endpoint(judge.base_url)
    own = bool(judge.base_url) and endpoint != default_endpoint()
    problem = address_problem(judge.base_url) if own else ""
    if problem:
        raise Refused("bad_endpoint", problem)
    return endpoint


@lru_cache(maxsize=64)
def _endpoint(base_url: str) -> Endpoint:
    endpoint = default_endpoint()
    if not base_url or base_url.rstrip("/") == endpoint.base_url.rstrip("/"):
        return endpoint
    return Endpoint(base_url=base_url, model=endpoint.model, timeout=endpoint.timeout)
