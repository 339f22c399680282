"""The reports' addresses. Everything chosen on a page is in its query string."""

from django.urls import URLPattern, include, path

from reports import views
from reports.battles import views as battle_views
from reports.confusion import views as confusion_views
from reports.confusion.paired_labels import ItemKind
from reports.methods import page as methods_page
from reports.registry import ReportPage, pages

app_name = "reports"


def _of(entry: ReportPage) -> list[URLPattern]:
    report, part = {"report": entry.name}, f"{entry.address}<slug:part>"
    return [
        path(entry.address, views.report, report, name=entry.name),
        path(f"{part}.<table:table>", views.report_table, report, name=f"{entry.name}_table"),
        path(f"{part}.<picture:picture>", views.report_picture, report, name=f"{entry.name}_picture"),
    ]


campaign_urls: list[URLPattern] = [
    *(address for entry in pages().values() for address in _of(entry)),
    path("leaderboard/doubts/", views.doubts, name="doubts"),
    path("leaderboard/checks/<int:pk>/judge-more/", views.judge_more, name="judge_more"),
    path("confusion/pairs/", confusion_views.pairs, name="pairs"),
    path("confusion/pairs/next/", confusion_views.next_pair, name="next_pair"),
    path("confusion/studies/<int:pk>.<table:table>", confusion_views.study_file, name="study_table"),
    path("reports/battles/<slug:public_id>/", battle_views.battle, name="battle"),
    path("methods/", methods_page.methods, name="methods"),
    path("methods/methods.<methods_form:document>", methods_page.methods_file, name="methods_file"),
]
for kind in (ItemKind.NUGGETS, ItemKind.CITATIONS):
    pair = f"confusion/{kind}/<int:first>/<int:second>/"
    campaign_urls += [
        path(pair, confusion_views.pair, {"kind": kind}, name=f"{kind}_pair"),
        path(f"{pair}verdict/", confusion_views.adjudicate_pair, {"kind": kind}, name=f"{kind}_verdict"),
        path(f"{pair}take-back/", confusion_views.take_back_verdict, {"kind": kind}, name=f"{kind}_take_back"),
    ]

urlpatterns = [path("campaigns/<slug:slug>/", include(campaign_urls))]
