"""Headers that every answer has: pages, errors, files, streams, redirects."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

# A browser's back button after somebody signed out must not show what they saw. Static files have a rule of their own.
NOT_KEPT = "no-store, private"
# With an ETag a program may keep what it read, and asks each time whether it still holds.
ASKED_AGAIN = "no-cache, private"
UNUSED_FEATURES = (
    *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "geolocation", "gyroscope"),
    *("magnetometer", "microphone", "midi", "payment", "picture-in-picture", "screen-wake-lock", "usb"),
)
FIXED = {
    "Permissions-Policy": ", ".join(f"{name}=()" for name in UNUSED_FEATURES),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class HeadersMiddleware:
    """Outermost middleware, so that answers of other middleware get them too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        for name, value in FIXED.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", ASKED_AGAIN if response.has_header("ETag") else NOT_KEPT)
        return response
