"""Who is signed in, for a desk whose session ended or whose token is stale: it asks here instead of reloading."""

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.utils.crypto import salted_hmac
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

if TYPE_CHECKING:
    from accounts.models import User


def account_id(user: "User") -> str:
    """Return what names an account in the browser: the same on every visit, and telling nothing about the person."""
    return salted_hmac("assessor.account", str(user.pk), algorithm="sha256").hexdigest()[:20]


@require_GET
@never_cache
@login_not_required
def session(request: HttpRequest) -> HttpResponse:
    """Answer the account, null without one, and a fresh CSRF token."""
    user = account_id(request.user) if request.user.is_authenticated else None
    return JsonResponse({"user": user, "csrf": get_token(request)})
