"""Access to the API: an account by its token or session, rights by its scopes, and throttles."""

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from accounts.models import ApiToken, User
from accounts.sign_in import record_refused_token
from accounts.tokens import Scope, token_of
from evaluation.campaigns.access import lacks_second_factor
from web.audit_log import address_of

if TYPE_CHECKING:
    from rest_framework.views import APIView


# Both count. A token's rate is half of its owner's: a program that runs wild leaves the owner's others room, and many
# tokens do not add up.
class TokenThrottle(SimpleRateThrottle):
    """Requests with a token: `API_TOKEN_RATE`."""

    scope = "token"

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:
        return f"api-token-{request.auth.pk}" if isinstance(request.auth, ApiToken) else None


class PersonThrottle(SimpleRateThrottle):
    """Requests of an account: `API_USER_RATE`."""

    scope = "user"

    def get_cache_key(self, request: Request, view: "APIView") -> str | None:
        return f"api-user-{request.user.pk}" if request.user.is_authenticated else None


class RefusedTokenThrottle(SimpleRateThrottle):
    scope = "refused_token"
    # Enough for a program that was left with an old token, and far too little to guess one.
    rate = "60/minute"

    def get_cache_key(self, request: Request, view: "APIView | None") -> str | None:
        return f"api-refused-{address_of(request._request)}"


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer assay_...`; a request without it is left to the session."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the token and its owner. An unknown, expired or revoked token is refused, whatever the session."""
        scheme, _, raw = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = token_of(raw.strip())
        if token is None:
            # Before it is recorded: each refused token is a line of the audit log, and lines fill a disk.
            throttle = RefusedTokenThrottle()
            if not throttle.allow_request(request, None):  # type: ignore[arg-type]
                raise Throttled(throttle.wait())
            record_refused_token(raw.strip(), request._request)
            raise AuthenticationFailed("This token is not known, or it has expired or was revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Name the scheme. Without one the REST framework answers 403, which says that no token would help."""
        return 'Bearer realm="Assay"'


class TokenHasScope(BasePermission):
    """A token may do what its scopes say; a session may do what its user may."""

    message = "This token is not for this: it lacks the scope."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        return (Scope.READ if request.method in SAFE_METHODS else Scope.WRITE) in token.scopes


class HasSecondFactor(BasePermission):
    """Tokens of organizers and administrators work only if their owner has a second factor, under `REQUIRE_MFA`."""

    message = "The owner of this token needs a second factor first: sign in and set one up."
    code = "second_factor_needed"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        # Asked for each request: tokens that were made before the setting must obey it too.
        return not (settings.REQUIRE_MFA and isinstance(request.user, User) and lacks_second_factor(request.user))
