"""The whole surface: sign-in, admin, and the pages of the rooms."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from web.views import healthz

admin.site.site_header = "Assay administration"
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", include("organizer.urls")),
    path("", include("reports.urls")),
    path("", include("assessor.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("admin/", admin.site.urls),
    path("healthz", healthz, name="healthz"),
]
