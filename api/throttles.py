"""How much one token, and one person over all their tokens and windows, may ask."""

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from accounts.models import ApiToken
from web.auditing import address_of

if TYPE_CHECKING:  # rest_framework.views itself loads this module
    from rest_framework.views import APIView


class TokenThrottle(SimpleRateThrottle):
    """Requests with one token: `API_TOKEN_RATE`."""

    scope = "token"

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:
        """Return the token's own count; a session has none."""
        return f"api-token-{request.auth.pk}" if isinstance(request.auth, ApiToken) else None


class PersonThrottle(SimpleRateThrottle):
    """Requests of one account: `API_USER_RATE`."""

    scope = "user"

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:
        """Return the account's own count."""
        return f"api-user-{request.user.pk}" if request.user.is_authenticated else None


class RefusedTokenThrottle(SimpleRateThrottle):
    """Tokens from one address that opened nothing."""

    scope = "refused_token"
    rate = "60/minute"

    def get_cache_key(self, request: Request, view: "APIView | None") -> str | None:
        """Return the address's own count."""
        return f"api-refused-{address_of(request._request)}"
