"""The form of an answer is asked for in the address, so that it stands in a link: `?format=`."""

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class AsAsked(BaseContentNegotiation):
    """Whatever `Accept` says, what is not asked for otherwise is JSON."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        """Return the parser of the body's type; none for another."""
        return next((one for one in parsers if one.media_type == (request.content_type or "").split(";")[0]), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer."""
        first = next(iter(renderers))
        return first, first.media_type or ""
