"""The whole surface: sign-in, admin, and the pages of the rooms."""

from django.contrib import admin
from django.urls import include, path

from config.monitoring import metrics, readyz
from web.views import healthz

urlpatterns = [
    path("", include("organizer.urls")),
    path("", include("reports.urls")),
    path("", include("assessor.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("admin/", admin.site.urls),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
