"""The addresses of one's own account that are not allauth's."""

from django.urls import path

from accounts.views import notice, tokens

app_name = "accounts"

urlpatterns = [
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", tokens.revoke, name="revoke_token"),
    path("notice/", notice.notice, name="notice"),
]
