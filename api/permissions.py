"""What a token is for. Which rows somebody may see is not decided here: every read starts from the viewer."""

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from accounts.models import ApiToken, User
from accounts.tokens import Scope
from evaluation.queries.second_factor import lacks_second_factor

if TYPE_CHECKING:  # rest_framework.views itself loads this module
    from rest_framework.views import APIView


class TokenHasScope(BasePermission):
    """A token may do what its scopes say; a session may do what its user may."""

    message = "This token is not for this: it lacks the scope."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Say whether the token has the scope that the method needs."""
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        return (Scope.READ if request.method in SAFE_METHODS else Scope.WRITE) in token.scopes


class HasSecondFactor(BasePermission):
    """Tokens of organizers and administrators work only if their owner has a second factor, under `REQUIRE_MFA`."""

    message = "The owner of this token needs a second factor first: sign in and set one up."
    code = "second_factor_needed"

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Ask for each request, so that tokens made before the setting obey it too."""
        return not (settings.REQUIRE_MFA and isinstance(request.user, User) and lacks_second_factor(request.user))
