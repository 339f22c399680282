"""The addresses of one's own account that are not allauth's."""

from django.urls import path

from accounts import views as accounts_views

app_name = "accounts"

urlpatterns = [
    path("tokens/", accounts_views.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", accounts_views.revoke, name="revoke_token"),
    path("browsers/", accounts_views.browsers, name="browsers"),
    path("browsers/end/", accounts_views.end_all, name="end_browsers"),
    path("browsers/<slug:mark>/end/", accounts_views.end, name="end_browser"),
    path("notice/", accounts_views.notice, name="notice"),
]
