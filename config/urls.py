"""The whole surface: sign-in, admin, and the pages of the rooms."""

from django.contrib import admin
from django.urls import include, path

from web.views import healthz

urlpatterns = [
    path("", include("organizer.urls")),
    path("", include("reports.urls")),
    path("", include("assessor.urls")),
    path("api/", include("api.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("admin/", admin.site.urls),
    path("healthz", healthz, name="healthz"),
]
