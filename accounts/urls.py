"""The addresses of one's own account that are not allauth's."""

from django.urls import path

from accounts.views import browsers, notice, tokens

app_name = "accounts"

urlpatterns = [
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", tokens.revoke, name="revoke_token"),
    path("browsers/", browsers.browsers, name="browsers"),
    path("browsers/end/", browsers.end_all, name="end_browsers"),
    path("browsers/<slug:mark>/end/", browsers.end, name="end_browser"),
    path("notice/", notice.notice, name="notice"),
]
