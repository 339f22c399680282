"""The reports' addresses. Everything chosen on a page is in its query string."""

from django.urls import URLPattern, URLResolver, include, path, register_converter

from reports import methods as reports_methods
from reports import views
from reports import views as reports_views
from reports.confusion import views as confusion_views
from reports.confusion.paired_labels import ItemKind
from reports.files import converter_of
from reports.views import ReportName

app_name = "reports"

register_converter(converter_of(ReportName), "report")

leaderboard_urls: list[URLPattern] = [
    path("", views.leaderboard, name="leaderboard"),
    path("ranking.<picture:picture>", views.ranking, name="ranking"),
    path("runs.<table:table>", views.leaderboard_table, name="leaderboard_table"),
]

agreement_urls: list[URLPattern] = [
    path("", views.agreement, name="agreement"),
    path("scatter.<picture:picture>", views.scatter, name="scatter"),
    path("taus.<table:table>", views.agreement_table, name="agreement_table"),
    path("answers.<table:table>", views.answers_file, name="answers_table"),
    path("topics.<picture:picture>", views.topics_picture, name="topics_picture"),
    path("topics.<table:table>", views.topics_file, name="topics_table"),
]

report_urls: list[URLPattern] = [
    path("", reports_views.reports, name="reports"),
    path("packet.zip", reports_views.packet, name="packet_archive"),
    path("<report:report>/", reports_views.report, name="report"),
    path("<report:report>/<slug:part>.<table:table>", reports_views.report_table, name="report_table"),
    path("<report:report>/<slug:part>.<picture:picture>", reports_views.report_picture, name="report_picture"),
]

confusion_urls: list[URLPattern] = [
    path("", confusion_views.confusion, name="confusion"),
    path("matrix.<picture:picture>", confusion_views.confusion_picture, name="confusion_picture"),
    path("counts.<table:table>", confusion_views.confusion_file, name="confusion_table"),
    path("pairs/", confusion_views.pairs, name="pairs"),
    path("studies/<int:pk>.<table:table>", confusion_views.study_file, name="study_table"),
]
for kind in (ItemKind.NUGGETS, ItemKind.CITATIONS):
    pair = f"{kind}/<int:first>/<int:second>/"
    confusion_urls += [
        path(pair, confusion_views.pair, {"kind": kind}, name=f"{kind}_pair"),
        path(f"{pair}verdict/", confusion_views.adjudicate_pair, {"kind": kind}, name=f"{kind}_verdict"),
    ]

methods_urls: list[URLPattern] = [
    path("", reports_methods.methods, name="methods"),
    path("methods.<methods_form:document>", reports_methods.methods_file, name="methods_file"),
]

campaign_urls: list[URLPattern | URLResolver] = [
    path("leaderboard/", include(leaderboard_urls)),
    path("agreement/", include(agreement_urls)),
    path("reports/", include(report_urls)),
    path("confusion/", include(confusion_urls)),
    path("methods/", include(methods_urls)),
]

urlpatterns = [path("campaigns/<slug:slug>/", include(campaign_urls))]
