"""Every address that the resolver knows, filled with the ids of a world."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from django.urls import URLPattern, URLResolver, get_resolver

PARAMETER = re.compile(r"<(?:[^:<>]+:)?(?P<name>[^<>]+)>|\(\?P<(?P<named>[^<>]+)>[^()]*(?:\([^()]*\)[^()]*)*\)")
MOST_PER_PATTERN = 40
API = "/api/v1/"
FORMS = ("", "?format=jsonl", "?format=csv")
FILES: dict[str, Sequence[str]] = {
    "picture": ["svg"],
    "table": ["csv", "json", "tex"],
    "document": ["html", "tex", "json"],
    "part": ["overview", "runs", "taus", "counts"],
    "kind": ["topics"],
}
"""What reports leave as, the first sections of theirs, and what the wizard loads."""


def addresses(candidates: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield addresses for every pattern: each parameter takes the candidates of its name, or `1`."""
    candidates = FILES | dict(candidates)
    for route in dict.fromkeys(_routes(get_resolver().url_patterns)):
        names = [match["name"] or match["named"] for match in PARAMETER.finditer(route)]
        choices = product(*(candidates.get(name, ["1"]) for name in names))
        for values in islice(choices, MOST_PER_PATTERN):
            yield "/" + _filled(route, iter(values))


def variants_of(address: str, slugs: Sequence[str] = ()) -> Iterator[str]:
    yield address
    if not address.startswith(API) or not address.endswith("/"):
        return
    yield from (address + form for form in FORMS[1:])
    if address.removeprefix(API).count("/") > 1:
        return  # what lies below a list is one row's, of whatever campaign it is
    for slug in slugs:
        yield f"{address}?campaign={slug}"
        if address == f"{API}scores/":
            yield from (
                f"{address}?campaign={slug}&condition={condition}&format=csv" for condition in ("A/A", "scratch")
            )


def _routes(patterns: Sequence[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = prefix + plain(str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        else:
            yield route


def _filled(route: str, values: Iterator[str]) -> str:
    return PARAMETER.sub(lambda _match: next(values), route)


def plain(route: str) -> str:
    """Return a route without the anchors of a regular expression."""
    return route.removeprefix("^").removesuffix("$").removesuffix("\\Z").replace("\\-", "-").replace("\\.", ".")
