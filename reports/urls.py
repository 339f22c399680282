"""The reports' addresses. Everything chosen on a page is in its query string."""

from django.urls import URLPattern, URLResolver, include, path, register_converter

from reports import views
from reports.converters import PictureConverter, TableConverter

app_name = "reports"

register_converter(PictureConverter, "picture")
register_converter(TableConverter, "table")

leaderboard_urls: list[URLPattern] = [
    path("", views.leaderboard, name="leaderboard"),
    path("ranking.<picture:picture>", views.ranking, name="ranking"),
    path("runs.<table:table>", views.leaderboard_table, name="leaderboard_table"),
]

agreement_urls: list[URLPattern] = [
    path("", views.agreement, name="agreement"),
    path("scatter.<picture:picture>", views.scatter, name="scatter"),
    path("taus.<table:table>", views.agreement_table, name="agreement_table"),
]

campaign_urls: list[URLPattern | URLResolver] = [
    path("leaderboard/", include(leaderboard_urls)),
    path("agreement/", include(agreement_urls)),
]

urlpatterns = [path("campaigns/<slug:slug>/", include(campaign_urls))]
