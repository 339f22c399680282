"""Middleware that turns refusals into pages, and refuses paths with a NUL."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from web.busy import SENTENCE, busy_answer, is_busy
from web.typed import came_from, sends_form, typed_page


class RuleRefusal(Exception):
    """An act that the rules do not allow, with a code for programs and a message for people."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


# The API's addresses hold slugs and numbers; a NUL makes one that does not exist, in the API's own words.
TAKES_NONE = "/api/"


class NulMiddleware(MiddlewareMixin):
    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        # No database takes a NUL, and PostgreSQL would make an error of it.
        # Forms and filters check the values behind the path.
        if "\0" in request.path and not request.path.startswith(TAKES_NONE):
            return HttpResponseBadRequest("An address holds no NUL.\n", content_type="text/plain")
        return None


class RefusalMiddleware(MiddlewareMixin):
    """Answer 422 with the reason when a rule says no, and a page where a browser reads what only takes a form."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        reads = request.method == "GET" and not request.path.startswith(TAKES_NONE)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or not reads:
            return response
        page = render(request, "405.html", status=response.status_code)
        page.headers["Allow"] = response.headers["Allow"]
        return page

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if is_busy(exception):
            return busy_answer(request, typed_page(request, SENTENCE, 503) if sends_form(request) else None)
        if not isinstance(exception, RuleRefusal):
            return None
        context = {"message": exception.message, "back": came_from(request)}
        return render(request, "refused.html", context, status=422)


# A browser's back button after somebody signed out must not show what they saw. Static files have a rule of their own.
NOT_KEPT = "no-store, private"
# With an ETag a program may keep what it read, and asks each time whether it still holds.
ASKED_AGAIN = "no-cache, private"
UNUSED_FEATURES = (
    "accelerometer",
    "autoplay",
    "camera",
    "display-capture",
    "encrypted-media",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "screen-wake-lock",
    "usb",
)
FIXED = {
    "Permissions-Policy": ", ".join(f"{name}=()" for name in UNUSED_FEATURES),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def _without_body(response: HttpResponseBase) -> None:
    """Leave the headers of an answer. A stream is not begun: its rows would be read for nobody."""
    if isinstance(response, StreamingHttpResponse):
        response.streaming_content = ()
    elif isinstance(response, HttpResponse):
        response.headers.setdefault("Content-Length", str(len(response.content)))
        response.content = b""


class HeadersMiddleware(GZipMiddleware):
    """Outermost middleware, so that answers of other middleware get them too. Pages leave compressed,
    and what a view of the API lets."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        for name, value in FIXED.items():
            response.headers.setdefault(name, value)
        # A view that set its own rule, as downloads do, keeps it.
        response.headers.setdefault("Cache-Control", ASKED_AGAIN if response.has_header("ETag") else NOT_KEPT)
        if request.method == "HEAD":
            _without_body(response)
        # A stream of a page must not wait for a block to fill, and an ETag that `If-Match` asks for must stay strong.
        is_page = not response.streaming and response.headers.get("Content-Type", "").startswith("text/html")
        is_packed = is_page or getattr(response, "may_be_packed", False)
        return super().process_response(request, response) if is_packed else response
