"""Access to Django's admin: administrators, unless they judge."""

from allauth.account.decorators import secure_admin_login
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from accounts.models import User
from evaluation.queries.campaigns import holds_work


class AssayAdmin(AdminSite):
    """The admin, closed to holders of a task, because it shows unblinded rows.

    Hand-out refuses administrators, so this is about accounts that were made administrators afterwards.
    """

    site_header = "Assay administration"
    site_title = "Assay"

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and isinstance(request.user, User) and not holds_work(request.user)

    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """An account without permission gets an error, never the sign-in form."""
        if request.user.is_authenticated and not self.has_permission(request):
            # Who is signed in is told so, and not asked to sign in again.
            raise PermissionDenied
        answer: HttpResponse = secure_admin_login(super().login)(request, extra_context)
        return answer
