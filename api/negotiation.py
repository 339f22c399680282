"""The form of an answer is asked for in the address, so that it stands in a link: `?format=`."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class AsAsked(BaseContentNegotiation):
    """What the address says, then what `Accept` names, else the first: nobody is turned away for their headers."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        """Return the parser of the body's type; none for another."""
        sent = (request.content_type or "").partition(";")[0].strip()
        return next((one for one in parsers if one.media_type == sent), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the renderer and what its answer is called."""
        there = list(renderers)
        wanted, accepted = request.query_params.get("format"), request.headers.get("Accept", "")
        named = [one for one in there if one.format == wanted]
        found = (named or [one for one in there if one.media_type in accepted] or there)[0]
        return found, found.media_type or ""
