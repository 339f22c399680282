"""ETags: of what is short by what it says, of a long stream by what the campaigns behind it were changed to last."""

from collections.abc import Iterable
from hashlib import sha256

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import parse_etags, quote_etag

from evaluation.models import Campaign

LENGTH = 32


def tag_of_body(body: bytes) -> str:
    """Return the tag of a body: it tells nothing that the body does not."""
    return quote_etag(sha256(body).hexdigest()[:LENGTH])


def tag_of_pieces(pieces: Iterable[bytes]) -> str:
    """Return the weak tag of a stream by what it says: it is made for this, and made again to be sent."""
    digest = sha256()
    for piece in pieces:
        digest.update(piece)
    return f'W/"{digest.hexdigest()[:LENGTH]}"'


def tag_of_campaigns(campaigns: Iterable[Campaign], *parts: object) -> str:
    """Return the weak tag of whatever follows from the revisions of campaigns, and from what was asked."""
    state = [(one.pk, one.created_at.isoformat(), one.revision) for one in campaigns]
    return f'W/"{sha256(repr((state, parts)).encode()).hexdigest()[:LENGTH]}"'


def is_known(request: HttpRequest, tag: str) -> bool:
    """Say whether whoever asks has it already (RFC 9110: compared weakly)."""
    tags = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in tags or tag.removeprefix("W/") in {one.removeprefix("W/") for one in tags}


def answered(request: HttpRequest, body: bytes) -> HttpResponse:
    """Return a JSON document, or that it is still the same."""
    tag = tag_of_body(body)
    response = HttpResponseNotModified() if is_known(request, tag) else HttpResponse(body)
    if response.status_code != HttpResponseNotModified.status_code:
        response["Content-Type"] = "application/json"
    response["ETag"] = tag
    return response


def keep_private(response: HttpResponseBase) -> None:
    """Say that an answer is for who asked, and good only after asking again."""
    patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ["Authorization", "Cookie"])
