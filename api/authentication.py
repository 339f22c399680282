"""Who asks: the owner of a token, or whoever is signed in."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.models import ApiToken, User
from accounts.tokens import token_of

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
            raise AuthenticationFailed("This token is not known, or it has expired or was revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Say what is missing, so that the answer is 401 and not 403."""
        return 'Bearer realm="Assay"'
