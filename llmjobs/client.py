"""Endpoints of judges, and one request to one of them. Trouble is a value here, so that the engine decides about it.

Keys come from the environment only. A key goes into the request's header and nowhere else: it is in no `repr`, no
message and no log.
"""

import logging
import math
import os
import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast
from urllib.parse import unquote, urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import SimpleLazyObject
from pydantic import BaseModel, BeforeValidator, Field, SecretStr, ValidationError, model_validator

from evaluation.errors import Refused
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from web.environment import secret
from web.outbound import address_problem
from web.transport import LimitedTransport, ReplyTooLongError

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionMessageParam
else:
    # A third of the start of every process, and few of them send.
    openai = SimpleLazyObject(partial(import_module, "openai"))

# These write addresses with the password in them at INFO, and at DEBUG whole requests and replies with their headers.
for _talkative in ("httpcore2", "httpx2", "openai"):
    logging.getLogger(_talkative).setLevel(logging.WARNING)


RefusalKind = Literal["rate_limited", "server_error", "timeout", "unreachable", "bad_request", "auth"]

OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4o"
NO_KEY = SecretStr("")
AZURE_VERSION = "2024-10-21"
WORTH_RETRYING: frozenset[RefusalKind] = frozenset({"rate_limited", "server_error", "timeout", "unreachable"})
KIND_OF_STATUS: dict[int, RefusalKind] = {
    401: "auth",
    402: "auth",
    403: "auth",
    408: "timeout",
    409: "server_error",
    429: "rate_limited",
}
LONGEST_MESSAGE = 500
TEXT_PARTS = {"text", "output_text"}
REFUSED = "refusal"
NO_STRUCTURED = "The endpoint refuses structured output; use a judge without it. It says: "
NO_PARAMETER = "The model refuses the parameter {}; use a judge that leaves it out or has another. It says: "
PARAMETERS = ("temperature", "reasoning_effort", "max_completion_tokens")
SHORTEST_KEY = 16
LONGEST_MODEL, MOST_MODELS = 200, 1_000
FIRST_WAIT, LONGEST_WAIT, LONGEST_REQUESTED_WAIT = 0.5, 60.0, 300.0


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """Address of requests. With `deployment` it is Azure, whose `base_url` is the resource's address.

    Raises `Refused` for an address, a key or a time-out with which no request could be made.
    """

    base_url: str = OPENAI_URL
    api_key: SecretStr = NO_KEY
    model: str = DEFAULT_MODEL
    deployment: str = ""
    api_version: str = AZURE_VERSION
    timeout: float = 120.0

    def __post_init__(self) -> None:
        key = self.api_key.get_secret_value()
        # Not left to the package, which would quote such a key in its error.
        if not (key.isascii() and key.isprintable()):
            raise Refused("bad_endpoint", "The API key of the LLM endpoint holds characters that no key has.")
        if not _is_address(self.base_url):
            raise Refused("bad_endpoint", "The base URL of the LLM endpoint is not an http or https address.")

    @property
    def name(self) -> str:
        parts = urlsplit(self.base_url)
        address = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
        return f"{address}/openai/deployments/{self.deployment}" if self.deployment else address

    def __repr__(self) -> str:
        return f"Endpoint({self.name}, {self.model})"

    def without_key(self, reply: str) -> str:
        # Some servers repeat the key. A key of a few characters may be a word, so it is left in.
        return _blotted(reply, (hidden for hidden in self._secrets() if len(hidden) >= SHORTEST_KEY))

    def hide_secrets(self, text: str) -> str:
        return _blotted(text, self._secrets())

    def _secrets(self) -> Iterator[str]:
        yield self.api_key.get_secret_value()
        parts = urlsplit(self.base_url)
        if parts.password:
            user, password = unquote(parts.username or ""), unquote(parts.password)
            # As it is sent, as it is meant, and as it is written in the address.
            yield from (b64encode(f"{user}:{password}".encode()).decode(), password, parts.password)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Request of a completion: (role, text) messages and the parameters that decide the answer, None where not sent.

    `response_format`: the JSON schema in which the reply is wanted; None asks for plain text.
    """

    model: str
    messages: tuple[tuple[str, str], ...]
    temperature: float | None = 0.0
    reasoning_effort: str | None = None
    max_completion_tokens: int | None = None
    response_format: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion, with the model as the endpoint named it.

    `finish_reason`: in the words of the endpoint, or "refusal" where the message has words of a model that declines.
    """

    text: str
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: int
    finish_reason: str


@dataclass(frozen=True, slots=True)
class CallRefusal:
    kind: RefusalKind
    status: int | None
    message: str
    retry_after: float | None
    latency_ms: int

    @property
    def worth_retrying(self) -> bool:
        return self.kind in WORTH_RETRYING

    @property
    def whole_endpoint(self) -> bool:
        """Whether every other request would fail alike, so that the job waits and no item is to blame."""
        redirected = self.status is not None and 300 <= self.status < 400
        return self.kind in {"unreachable", "auth"} or redirected or self.status in {502, 503}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _tokens(number: object) -> int | None:
    if isinstance(number, bool) or not isinstance(number, int | float | str):
        return None
    try:
        return math.ceil(float(number))
    except (ValueError, OverflowError):
        return None


def _words(content: object) -> object:
    """Words of a message: parts of text joined; parts that are thinking, or a refusal, left aside."""
    if not isinstance(content, list):
        return content
    parts = [part if isinstance(part, dict) else {"text": part} for part in content]
    return "".join(_text(part.get("text")) for part in parts if part.get("type", "text") in TEXT_PARTS)


def _refusal(message: Any) -> str:
    """Words of a model that declines, empty where it does not: some endpoints always send the key, with false."""
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    refusals = [value for value in (each.get("refusal") for each in (message, *parts)) if value]
    return _text(refusals[0]).strip() or REFUSED if refusals else ""


# An odd word beside the message is not known, and costs no reply.
Text = Annotated[str, BeforeValidator(_text)]
TokenCount = Annotated[int | None, BeforeValidator(_tokens)]


class _Message(BaseModel):
    """Message of a reply. Asked for JSON, endpoints put the words of a model that declines elsewhere."""

    content: Annotated[str | None, BeforeValidator(_words)] = None
    refusal: str = ""

    @model_validator(mode="before")
    @classmethod
    def _take_refusal(cls, message: Any) -> Any:
        return message | {"refusal": _refusal(message)} if isinstance(message, dict) else message


class _Choice(BaseModel):
    message: _Message
    finish_reason: Text = ""


class _Usage(BaseModel):
    prompt_tokens: TokenCount = None
    completion_tokens: TokenCount = None


def _first(choices: object) -> object:
    return choices[:1] if isinstance(choices, list) else choices


def _object(usage: object) -> object:
    return usage if isinstance(usage, dict) else {}


class _CompletionBody(BaseModel):
    model: Text = ""
    choices: Annotated[list[_Choice], BeforeValidator(_first), Field(min_length=1)]
    usage: Annotated[_Usage, BeforeValidator(_object)] = _Usage()


class _Model(BaseModel):
    id: str


class _ModelsBody(BaseModel):
    data: list[_Model]


def _blotted(text: str, secrets: Iterable[str]) -> str:
    for hidden in filter(None, secrets):
        text = text.replace(hidden, "***")
    return text


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def endpoint_from_environment(environ: Mapping[str, str] = os.environ) -> Endpoint | None:
    model = environ.get("OPENAI_MODEL") or DEFAULT_MODEL
    key = _key("OPENAI_API_KEY", environ)
    if environ.get("OPENAI_BASE_URL") or (key.get_secret_value() and not environ.get("AZURE_OPENAI_ENDPOINT")):
        return Endpoint(base_url=environ.get("OPENAI_BASE_URL") or OPENAI_URL, api_key=key, model=model)
    if environ.get("AZURE_OPENAI_ENDPOINT"):
        return Endpoint(
            base_url=environ["AZURE_OPENAI_ENDPOINT"],
            api_key=_key("AZURE_OPENAI_API_KEY", environ),
            model=model,
            deployment=environ.get("AZURE_OPENAI_DEPLOYMENT") or model,
            api_version=environ.get("AZURE_OPENAI_API_VERSION") or AZURE_VERSION,
        )
    return None


def _key(name: str, environ: Mapping[str, str]) -> SecretStr:
    try:
        return SecretStr(secret(name, environ))
    except ImproperlyConfigured as error:
        raise Refused("bad_endpoint", str(error)) from None


def default_endpoint() -> Endpoint:
    endpoint = endpoint_from_environment() or Endpoint(
        base_url=f"http://127.0.0.1:{settings.SIMULATOR_PORT}/v1", model=SIMULATED_MODEL
    )
    return replace(endpoint, timeout=settings.LLM_TIMEOUT_SECONDS)


def endpoint_at(base_url: str) -> Endpoint:
    """Return the endpoint at an address, with its own key if any; without an address the default endpoint.

    Raises `Refused` for an address that is not allowed: the list may have changed since it was stored.
    """
    endpoint = _endpoint(base_url)
    own = bool(base_url) and endpoint != default_endpoint()
    problem = address_problem(base_url) if own else ""
    if problem:
        raise Refused("bad_endpoint", problem)
    return endpoint


@lru_cache(maxsize=64)
def _endpoint(base_url: str) -> Endpoint:
    endpoint, address = default_endpoint(), base_url.rstrip("/")
    if not base_url or address == endpoint.base_url.rstrip("/"):
        return endpoint
    # The key that is bound to this whole address or none: whoever may name an address must not get another's.
    key = next((listed.key for listed in settings.LLM_ENDPOINTS if listed.address == address), "")
    return Endpoint(base_url, _key(key, os.environ) if key else NO_KEY, endpoint.model, timeout=endpoint.timeout)


def send(endpoint: Endpoint, request: ChatRequest) -> Completion | CallRefusal:
    """Send a request once; the caller retries."""
    import_module("openai")  # before the time that is measured
    started = time.monotonic()
    try:
        status, body = _post(endpoint, request)
    except openai.APIStatusError as error:
        return _refused_by_status(endpoint, request, error, _since(started))
    except openai.APITimeoutError:
        message = f"No answer within {endpoint.timeout:g} s."
        return CallRefusal("timeout", None, message, None, _since(started))
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, ReplyTooLongError):
            return CallRefusal("server_error", None, f"{error.__cause__}.", None, _since(started))
        why = endpoint.hide_secrets(str(error.__cause__ or error).rstrip(".")) or type(error.__cause__).__name__
        return CallRefusal("unreachable", None, f"{why[:LONGEST_MESSAGE]}.", None, _since(started))
    except (openai.OpenAIError, ValueError) as error:
        message = endpoint.hide_secrets(f"The request could not be made: {error}")
        return CallRefusal("bad_request", None, message[:LONGEST_MESSAGE], None, _since(started))
    return _read(endpoint, status, body, _since(started))


def models_at(endpoint: Endpoint, timeout: float) -> list[str]:
    """Names of the models that an endpoint lists, sorted; empty where it lists none or does not answer in time."""
    try:
        body = _client(endpoint).models.with_raw_response.list(timeout=timeout).content
        names = {model.id for model in _ModelsBody.model_validate_json(body).data}
    except (openai.OpenAIError, ValueError):
        return []
    return sorted(endpoint.without_key(name) for name in names if len(name) <= LONGEST_MODEL)[:MOST_MODELS]


def back_off(attempt: int, retry_after: float | None, random: Callable[[], float]) -> float:
    """Return the seconds to wait after the given attempt (from 1): doubling, with jitter, and never too long.

    The endpoint's `retry_after` is a lower bound. `random` gives numbers from 0 to 1, as `random.random` does.
    """
    grown = min(LONGEST_WAIT, FIRST_WAIT * math.pow(2, min(attempt - 1, 30)))
    wait = grown * (0.5 + random() / 2)
    if retry_after is None:
        return wait
    requested = min(retry_after, LONGEST_REQUESTED_WAIT)
    return max(wait, requested + random() * min(1.0, requested / 4))


def close_clients() -> None:
    with _clients_lock:
        for client in _open_clients:
            client.close()
        _open_clients.clear()
        _made_client.cache_clear()


_clients_lock = Lock()
_open_clients: "list[openai.OpenAI]" = []


def _client(endpoint: Endpoint) -> "openai.OpenAI":
    # A cache alone would let two threads make two clients, and the second keeps its connections for ever.
    with _clients_lock:
        return _made_client(endpoint)


@lru_cache(maxsize=64)
def _made_client(endpoint: Endpoint) -> "openai.OpenAI":
    # Without a key the package would look for one by itself; a local server needs no key, but the header needs a value.
    key = endpoint.api_key.get_secret_value() or "none"
    # A redirect would carry Azure's key to wherever it points.
    http = openai.DefaultHttpx2Client(transport=LimitedTransport(endpoint.base_url), follow_redirects=False)
    client: openai.OpenAI
    if endpoint.deployment:
        client = openai.AzureOpenAI(
            azure_endpoint=endpoint.base_url,
            azure_deployment=endpoint.deployment,
            api_version=endpoint.api_version,
            api_key=key,
            timeout=endpoint.timeout,
            max_retries=0,
            http_client=http,
        )
    else:
        client = openai.OpenAI(
            base_url=endpoint.base_url, api_key=key, timeout=endpoint.timeout, max_retries=0, http_client=http
        )
    _open_clients.append(client)
    return client


def _post(endpoint: Endpoint, request: ChatRequest) -> tuple[int, bytes]:
    messages = [{"role": role, "content": text} for role, text in request.messages]
    reply = _client(endpoint).chat.completions.with_raw_response.create(
        model=request.model,
        messages=cast("list[ChatCompletionMessageParam]", messages),
        temperature=_or_omit(request.temperature),
        reasoning_effort=_or_omit(request.reasoning_effort),
        max_completion_tokens=_or_omit(request.max_completion_tokens),
        response_format=cast(Any, dict(request.response_format)) if request.response_format else openai.omit,
    )
    return reply.status_code, reply.content


def _or_omit(value: float | str | None) -> Any:
    return openai.omit if value is None else value


def _read(endpoint: Endpoint, status: int, body: bytes, latency_ms: int) -> Completion | CallRefusal:
    try:
        completion = _CompletionBody.model_validate_json(body)
    except ValidationError:
        excerpt = endpoint.hide_secrets(body.decode(errors="replace").replace("\0", ""))[:200]
        return CallRefusal("server_error", status, f"Not a chat completion: {excerpt}", None, latency_ms)
    choice, usage = completion.choices[0], completion.usage
    declined = choice.message.refusal
    return Completion(
        # PostgreSQL stores no NUL.
        text=endpoint.without_key((choice.message.content or declined).replace("\0", "")),
        model=endpoint.without_key(completion.model),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        latency_ms=latency_ms,
        finish_reason=REFUSED if declined else endpoint.without_key(choice.finish_reason),
    )


def _refused_by_status(
    endpoint: Endpoint, request: ChatRequest, error: "openai.APIStatusError", latency_ms: int
) -> CallRefusal:
    status = error.status_code
    kind, why = KIND_OF_STATUS.get(status, "server_error" if status >= 500 else "bad_request"), ""
    # A server of llama.cpp answers 500 to a form that it does not know, and would do so for ever.
    if kind in {"bad_request", "server_error"} and request.response_format and _is_about_form(error):
        kind, why = "bad_request", NO_STRUCTURED
    elif kind == "bad_request" and (name := _refused_parameter(request, error)):
        why = NO_PARAMETER.format(name)
    elif "No connected db" in error.message:  # LiteLLM without a database, of a key that it does not know
        kind = "auth"
    message = endpoint.hide_secrets(f"{why}{error.message}")[:LONGEST_MESSAGE]
    return CallRefusal(kind, status, message, retry_after(error.response.headers), latency_ms)


def _refused_parameter(request: ChatRequest, error: "openai.APIStatusError") -> str:
    sent = [name for name in PARAMETERS if getattr(request, name) is not None]
    words = f"{error.param} {error.message}"
    return next((name for name in sent if re.search(rf"\b{name}\b", words)), "")


def _is_about_form(error: "openai.APIStatusError") -> bool:
    # Some endpoints name the parameter, others mention it only in the message.
    return any(
        word in f"{error.param} {error.message}" for word in ("response_format", "json_schema", "tructured")
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds after which a server wants to be asked again; None where it does not say."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        return _seconds_until(headers.get("retry-after", ""))


def _seconds_until(date: str) -> float | None:
    try:
        return max(0.0, (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
