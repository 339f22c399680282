"""Allowed targets of requests: hosts that are allowed by name, and sources of texts by their whole address.

An LLM judge's address is typed by people and called from inside the network. So its host and port must be those of the
environment's own endpoint, of OpenAI, of the simulated LLM, or stand in `LLM_ALLOWED_HOSTS`; or the whole address is
one of `LLM_ENDPOINTS`. Names are resolved again when a connection is made, because they can be made to point elsewhere
between the two.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, quote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from web.environment import secret

PORTS = {"http": 80, "https": 443}
PUBLIC = "api.openai.com"
OWN_ADDRESSES = ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT")
# Letters, digits and what IPv6 and ports need. All else that a URL may hold there is a trick or a password.
PLAIN = re.compile(r"[A-Za-z0-9._:\[\]-]+")

# NAT64: its last 32 bits are an IPv4 address. Networks without IPv4 reach everything so, OpenAI too.
TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))
# NAT64 of one's own network, 6to4, Teredo: the address inside is hidden or goes through a stranger's relay.
TUNNELS = (IPv6Network("64:ff9b:1::/48"), IPv6Network("2002::/16"), IPv6Network("2001::/32"))
# Services that give a cloud machine's secrets away, beside the link-local ones: AWS (and its pods), Google, Oracle,
# Scaleway, Alibaba, Azure.
METADATA = frozenset(
    map(
        ip_address,
        (
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "fd00:c1::a9fe:a9fe",
            "fd00:42::42",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
        ),
    )
)

Address = IPv4Address | IPv6Address
Target = tuple[str, int]

DEFAULT = "default"
"""Name of the endpoint that OPENAI_BASE_URL, or Azure's variables, describe."""
LONGEST_NAME, LONGEST_ADDRESS = 60, 200
KEY_NAME = re.compile(r"LLM_KEY_[A-Z0-9_]+(?<!_FILE)")


@dataclass(frozen=True, slots=True)
class ListedEndpoint:
    """An endpoint of `LLM_ENDPOINTS`. `key`: name of the environment variable with its key, '' where it wants none."""

    name: str
    address: str
    key: str = ""


def listed_endpoints(environ: Mapping[str, str] = os.environ) -> tuple[ListedEndpoint, ...]:
    """Endpoints of `LLM_ENDPOINTS`: `NAME = ADDRESS LLM_KEY_NAME`, the key may be left out, with semicolons between.

    Raises `ImproperlyConfigured` for an endpoint that cannot be called safely, and for a key that cannot be read.
    """
    endpoints: list[ListedEndpoint] = []
    for entry in filter(None, map(str.strip, environ.get("LLM_ENDPOINTS", "").split(";"))):
        name, _, rest = entry.partition("=")
        address, _, key = " ".join(rest.split()).partition(" ")
        endpoint = ListedEndpoint(name.strip(), address.rstrip("/"), key)
        if problem := _listing_problem(endpoint, endpoints, _default_addresses(environ)):
            raise ImproperlyConfigured(f"LLM_ENDPOINTS: {endpoint.name[:LONGEST_NAME]}: {problem}.")
        if key:
            secret(key, environ)
        endpoints.append(endpoint)
    return tuple(endpoints)


def _listing_problem(
    endpoint: ListedEndpoint, others: Collection[ListedEndpoint], default: Collection[str]
) -> str:
    # Nothing of the entry is quoted but its name: somebody may have written a password or the key itself there.
    if not endpoint.name or len(endpoint.name) > LONGEST_NAME or not endpoint.name.isprintable():
        return f"a name of at most {LONGEST_NAME} characters, then = and the address"
    if _target(endpoint.address) is None or len(endpoint.address) > LONGEST_ADDRESS:
        return "the address is http:// or https://, a host and the path, without user, password, query or fragment"
    if endpoint.key and not KEY_NAME.fullmatch(endpoint.key):
        return (
            "the key is named by an environment variable that begins with LLM_KEY_, without _FILE; "
            "no other secret may be sent to an endpoint, and the key itself never stands here"
        )
    if endpoint.name.lower() in {DEFAULT, *(other.name.lower() for other in others)}:
        return "another endpoint has this name"
    if endpoint.address in {*default, *(other.address for other in others)}:
        return "another endpoint has this address, and only one key can belong to it"
    return ""


DOCID = "{docid}"
TEXT_KEY_NAME = re.compile(r"TEXT_KEY_[A-Z0-9_]+(?<!_FILE)")
AT_ONCE, MOST_AT_ONCE = 4, 32


@dataclass(frozen=True, slots=True)
class TextSource:
    """A source of `TEXT_SOURCES`, where texts of passages are fetched. `key`: as that of an endpoint.

    `address`: with `{docid}` where a docid stands; `at_once`: requests that a worker may have under way.
    """

    name: str
    address: str
    key: str = ""
    at_once: int = AT_ONCE

    def address_of(self, docid: str) -> str:
        # As one part of the path, whatever it holds; dots alone would name another part.
        part = quote(docid, safe="")
        return self.address.replace(DOCID, part if part.strip(".") else part.replace(".", "%2E"))


def text_sources(environ: Mapping[str, str] = os.environ) -> tuple[TextSource, ...]:
    """Sources of `TEXT_SOURCES`: `NAME = ADDRESS TEXT_KEY_NAME NUMBER`, with semicolons between.

    Key and number may be left out. Raises `ImproperlyConfigured` for a source that cannot be called safely, and for a
    key that cannot be read.
    """
    sources: list[TextSource] = []
    for entry in filter(None, map(str.strip, environ.get("TEXT_SOURCES", "").split(";"))):
        name, _, rest = entry.partition("=")
        address, *more = rest.split() or [""]
        number = more.pop() if more and more[-1].isdecimal() else str(AT_ONCE)
        source = TextSource(name.strip(), address, " ".join(more), int(number[:9]))
        if problem := _source_problem(source, sources):
            raise ImproperlyConfigured(f"TEXT_SOURCES: {source.name[:LONGEST_NAME]}: {problem}.")
        if source.key:
            secret(source.key, environ)
        sources.append(source)
    return tuple(sources)


def _source_problem(source: TextSource, others: Collection[TextSource]) -> str:
    # As for endpoints: nothing of the entry is quoted but its name.
    if not source.name or len(source.name) > LONGEST_NAME or not source.name.isprintable():
        return f"a name of at most {LONGEST_NAME} characters, then = and the address"
    if not _takes_docid(source.address):
        return (
            f"the address is http:// or https://, a host and a path or query with {DOCID} once, "
            "without user, password or fragment"
        )
    if source.key and not TEXT_KEY_NAME.fullmatch(source.key):
        return (
            "the key is named by an environment variable that begins with TEXT_KEY_, without _FILE; "
            "no other secret may be sent to a source, and the key itself never stands here"
        )
    if not 1 <= source.at_once <= MOST_AT_ONCE:
        return f"from 1 to {MOST_AT_ONCE} requests at once"
    if any(source.name.lower() == other.name.lower() or source.address == other.address for other in others):
        return "another source has this name or address, and only one key can belong to it"
    return ""


def _takes_docid(address: str) -> bool:
    place, _, query = address.partition("?")
    if address.count(DOCID) != 1 or len(address) > LONGEST_ADDRESS or "#" in query or _split(address) is None:
        return False
    # A docid must not decide which host is asked: the host of a target has no braces.
    return _target(place) is not None


def _default_addresses(environ: Mapping[str, str]) -> set[str]:
    own = {environ[name].rstrip("/") for name in OWN_ADDRESSES if environ.get(name)}
    return own or ({f"https://{PUBLIC}/v1"} if secret("OPENAI_API_KEY", environ) else set())


def address_problem(url: str) -> str:
    """Reason against calls to an address, '' without one. Nothing is resolved."""
    target = _target(url)
    if target is None:
        return "base URL: http:// or https://, a host, and no user, password, query or fragment."
    listed = {endpoint.address for endpoint in settings.LLM_ENDPOINTS}
    if target not in set(_allowed()) and url.rstrip("/") not in listed:
        host, port = target
        return f"base URL: {host}:{port} is not allowed; an administrator can add it to LLM_ALLOWED_HOSTS."
    return ""


def resolved_problem(host: str, resolved: str) -> str:
    """Reason against a connection, '' without one. OpenAI is never inside the network; other allowed names may be."""
    address = _meant(ip_address(resolved.partition("%")[0]))
    name = host.strip("[]").rstrip(".").lower()
    # Link-local addresses hold the secrets of cloud machines, and no LLM is there.
    nowhere = address.is_link_local or address.is_multicast or address.is_unspecified
    if nowhere or address in METADATA or any(address in network for network in TUNNELS):
        return f"{name} stands for {address}, where no LLM can be"
    # This machine is meant only by a name that says so, by its address, or by a name without a dot,
    # which no foreign name server answers for.
    if address.is_loopback and not _means_this_machine(name):
        return f"{name} stands for {address}, which is this machine"
    if name == PUBLIC and not address.is_global:
        return f"{name} stands for {address}, which is inside the network"
    return ""


def _meant(address: Address) -> Address:
    """IPv4 address inside an IPv6 one, where the network translates."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if any(address in network for network in TRANSLATED) and not address.is_loopback:
            return IPv4Address(address.packed[-4:])
    return address


def _means_this_machine(named: str) -> bool:
    local = "." not in named or named.endswith(".localhost")
    literal = _literal(named)
    return literal.is_loopback if literal else local


def _allowed() -> Iterator[Target]:
    yield (PUBLIC, 443)
    yield from ((name, settings.SIMULATOR_PORT) for name in ("127.0.0.1", "localhost"))
    for name in OWN_ADDRESSES:
        parts = _split(os.environ.get(name, ""))
        if parts and parts.hostname:
            yield _host(parts.hostname), parts.port or PORTS[parts.scheme]
    for entry in settings.LLM_ALLOWED_HOSTS:
        parts = _split(f"http://{entry}")
        if parts and parts.hostname:
            yield from ((_host(parts.hostname), port) for port in ([parts.port] if parts.port else PORTS.values()))


def _target(url: str) -> Target | None:
    parts = _split(url)
    if parts is None or not PLAIN.fullmatch(parts.netloc) or not parts.hostname:
        return None
    if parts.query or parts.fragment or url.endswith(("?", "#")):
        return None
    return _host(parts.hostname), parts.port or PORTS[parts.scheme]


def _split(url: str) -> SplitResult | None:
    # `urlsplit` drops line breaks and tabs silently, and others would not.
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in PORTS and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def _host(name: str) -> str:
    """Return one spelling of a host. Numbers that a resolver would take for an address stay what they are: unknown."""
    literal = _literal(name)
    return str(literal) if literal else name.rstrip(".").lower()


def _literal(name: str) -> Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None
