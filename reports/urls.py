"""The reports' addresses. Everything chosen on a page is in its query string."""

from django.urls import URLPattern, URLResolver, include, path, register_converter
from django.urls.converters import StringConverter

from reports import methods_page, views
from reports.confusion import views as confusion_views
from reports.confusion.paired_labels import ItemKind
from reports.views import AGREEMENT, CONFUSION, LEADERBOARD, REPORTS

app_name = "reports"


class ReportConverter(StringConverter):
    regex = "|".join(REPORTS)


register_converter(ReportConverter, "report")


def _table(report: str, part: str, name: str) -> URLPattern:
    return path(f"{part}.<table:table>", views.report_table, {"report": report, "part": part}, name=name)


def _picture(report: str, part: str, name: str) -> URLPattern:
    return path(f"{part}.<picture:picture>", views.report_picture, {"report": report, "part": part}, name=name)


# A new report needs no line here: its address lies below `reports/`.
leaderboard_urls: list[URLPattern] = [
    path("", views.report, {"report": LEADERBOARD}, name="leaderboard"),
    path("doubts/", views.doubts, name="doubts"),
    _picture(LEADERBOARD, "ranking", "ranking"),
    _table(LEADERBOARD, "runs", "leaderboard_table"),
    _table(LEADERBOARD, "corrected", "corrected_table"),
    path("checks/<int:pk>/judge-more/", views.judge_more, name="judge_more"),
]

agreement_urls: list[URLPattern] = [
    path("", views.report, {"report": AGREEMENT}, name="agreement"),
    _picture(AGREEMENT, "scatter", "scatter"),
    _table(AGREEMENT, "taus", "agreement_table"),
    _table(AGREEMENT, "answers", "answers_table"),
    _picture(AGREEMENT, "topics", "topics_picture"),
    _table(AGREEMENT, "topics", "topics_table"),
]

report_urls: list[URLPattern] = [
    path("<report:report>/", views.report, name="report"),
    path("<report:report>/<slug:part>.<table:table>", views.report_table, name="report_table"),
    path("<report:report>/<slug:part>.<picture:picture>", views.report_picture, name="report_picture"),
]

confusion_urls: list[URLPattern] = [
    path("", views.report, {"report": CONFUSION}, name="confusion"),
    _picture(CONFUSION, "matrix", "confusion_picture"),
    _table(CONFUSION, "counts", "confusion_table"),
    path("pairs/", confusion_views.pairs, name="pairs"),
    path("pairs/next/", confusion_views.next_pair, name="next_pair"),
    path("studies/<int:pk>.<table:table>", confusion_views.study_file, name="study_table"),
]
for kind in (ItemKind.NUGGETS, ItemKind.CITATIONS):
    pair = f"{kind}/<int:first>/<int:second>/"
    confusion_urls += [
        path(pair, confusion_views.pair, {"kind": kind}, name=f"{kind}_pair"),
        path(f"{pair}verdict/", confusion_views.adjudicate_pair, {"kind": kind}, name=f"{kind}_verdict"),
        path(f"{pair}take-back/", confusion_views.take_back_verdict, {"kind": kind}, name=f"{kind}_take_back"),
    ]

methods_urls: list[URLPattern] = [
    path("", methods_page.methods, name="methods"),
    path("methods.<methods_form:document>", methods_page.methods_file, name="methods_file"),
]

campaign_urls: list[URLPattern | URLResolver] = [
    path("leaderboard/", include(leaderboard_urls)),
    path("agreement/", include(agreement_urls)),
    path("reports/", include(report_urls)),
    path("confusion/", include(confusion_urls)),
    path("methods/", include(methods_urls)),
]

urlpatterns = [path("campaigns/<slug:slug>/", include(campaign_urls))]
