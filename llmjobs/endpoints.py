"""Where a judge's calls go. Keys come from the environment only."""

from dataclasses import replace
from functools import lru_cache

from django.conf import settings

from evaluation.models import Judge
from llmjobs.client import Endpoint, endpoint_from_environment

SIMULATED_MODEL = "word-overlap-simulator"


def default_endpoint() -> Endpoint:
    """Return the endpoint of the environment, or the simulated LLM where none is configured."""
    return endpoint_from_environment() or Endpoint(
        base_url=f"http://127.0.0.1:{settings.SIMULATOR_PORT}/v1", model=SIMULATED_MODEL
    )


def endpoint_of(judge: Judge) -> Endpoint:
    """Return the endpoint of a judge: its own address with the environment's key, or the default one."""
    return _endpoint(judge.base_url)


@lru_cache(maxsize=64)
def _endpoint(base_url: str) -> Endpoint:
    endpoint = default_endpoint()
    return replace(endpoint, base_url=base_url, deployment="") if base_url else endpoint
