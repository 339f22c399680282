"""The request as our views see it: signed in, with htmx details."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from accounts.models import User


class UserRequest(HttpRequest):
    """A request behind LoginRequiredMiddleware and HtmxMiddleware."""

    user: User
    htmx: HtmxDetails
