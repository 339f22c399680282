"""The whole surface: sign-in, admin, and the pages of the rooms."""

from django.contrib import admin
from django.urls import include, path

from accounts.password_reset import ResetDoneView, ResetView
from config.monitoring import healthz, metrics, readyz, security_txt
from web.glossary import glossary

handler500 = "web.busy.fault"

urlpatterns = [
    path("", include("organizer.urls")),
    path("", include("reports.urls")),
    path("", include("assessor.urls")),
    path("glossary/", glossary, name="glossary"),
    path("accounts/", include("accounts.urls")),
    path("api/", include("api.urls")),
    path("accounts/password/reset/", ResetView.as_view(), name="account_reset_password"),
    path("accounts/password/reset/done/", ResetDoneView.as_view(), name="account_reset_password_done"),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/3rdparty/", include("allauth.socialaccount.urls")),
    path("accounts/", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("admin/", admin.site.urls),
    path("healthz", healthz, name="healthz"),
    path(".well-known/security.txt", security_txt, name="security_txt"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
