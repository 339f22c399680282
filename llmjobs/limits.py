"""How much endpoints take: by the environment for the default one, and as an administrator set it for others."""

from collections.abc import Collection

from django.conf import settings

from llmjobs.client import Endpoint
from llmjobs.endpoints import default_endpoint
from llmjobs.models import EndpointLimits
from llmjobs.pacing import Limits


def limits_of(names: Collection[str]) -> dict[str, Limits]:
    """Limits by endpoint name; endpoints without any are left out."""
    # The environment's own endpoint is limited by its settings, whatever a row says.
    rows = EndpointLimits.objects.filter(address__in=names)
    found = {row.address: Limits(row.requests_per_minute, row.tokens_per_minute, row.most_at_once) for row in rows}
    own = Limits(settings.LLM_REQUESTS_PER_MINUTE, settings.LLM_TOKENS_PER_MINUTE, settings.LLM_MOST_AT_ONCE)
    if own and (default := default_endpoint().name) in names:
        found[default] = own
    return {name: limits for name, limits in found.items() if limits}


def set_limits(base_url: str, limits: Limits) -> str:
    """Write the limits of an endpoint, and return its address as calls have it. Raises `Refused` for no address."""
    address = Endpoint(base_url=base_url).name
    if not limits:
        EndpointLimits.objects.filter(address=address).delete()
        return address
    EndpointLimits.objects.update_or_create(
        address=address,
        defaults={
            "requests_per_minute": limits.requests,
            "tokens_per_minute": limits.tokens,
            "most_at_once": limits.at_once,
        },
    )
    return address
