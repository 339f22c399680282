"""Who asks: the owner of a token, or whoever is signed in."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from accounts.auditing import record_refused_token
from accounts.models import ApiToken, User
from accounts.tokens import token_of
from api.throttles import RefusedTokenThrottle

SCHEME = "bearer"


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer assay_...`; a request without it is left to the session."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the token and its owner. An unknown, expired or revoked token is refused, whatever the session."""
        scheme, _, raw = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME:
            return None
        token = token_of(raw.strip())
        if token is None:
            self._refuse_more(request)
            record_refused_token(raw.strip(), request._request)
            raise AuthenticationFailed("This token is not known, or it has expired or was revoked.")
        return token.user, token

    def _refuse_more(self, request: Request) -> None:
        """Raise `Throttled` where too many tokens of an address opened nothing. Good ones are not counted."""
        throttle = RefusedTokenThrottle()
        if not throttle.allow_request(request, None):  # type: ignore[arg-type]
            raise Throttled(throttle.wait())

    def authenticate_header(self, request: Request) -> str:
        """Say what is missing, so that the answer is 401 and not 403."""
        return 'Bearer realm="Assay"'
