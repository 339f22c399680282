"""Addresses under /api/. Each collection has a list, and most have an address for one row."""

from collections.abc import Callable, Iterator
from typing import Any

from django.urls import URLPattern, path, register_converter
from django.urls.converters import PathConverter

from api.account import AccountView
from api.collections import COLLECTIONS
from api.fingerprint import FingerprintView
from api.provenance import EXPLAINED, ProvenanceView
from api.reports import BattleLeaderboardView, ReportView
from api.views import ListView, NothingView, RootView, RowView, SchemaView, docs
from api.writes.campaigns import CampaignsView, DeleteCampaignView
from api.writes.gates import GatesView
from api.writes.imports import FILE_KINDS, ImportView, UndoImportView
from api.writes.jobs import JOB_CHANGES, ChangeJobView, JobsView
from api.writes.judges import JudgesView
from api.writes.nuggets import NuggetSetsView
from api.writes.tasks import ChangeTaskView, ReassignTaskView, TaskChangesView, TasksView
from evaluation.tasks.changes import Change
from reports.registry import documents

app_name = "api"

CONVERTERS = {"pk": "int"}
"""Converters of rows' keys in addresses; all others are words."""

WRITTEN: dict[str, type[ListView]] = {
    "campaigns": CampaignsView,
    "jobs": JobsView,
    "judges": JudgesView,
    "nugget-sets": NuggetSetsView,
    "tasks": TasksView,
}
"""Collections to which a row can be added; the others come with imports."""


class Anything(PathConverter):
    """The rest of an address, line ends in it too: without them such an address would be answered with a page."""

    regex = r"[\s\S]+"


register_converter(Anything, "anything")

Address = tuple[str, Callable[..., Any], str]


REPORTS: list[Address] = [
    (f"reports/{name}", ReportView.as_view(entry=entry), f"reports-{name}") for name, entry in documents().items()
]


def _addresses() -> Iterator[Address]:
    """Yield route, view and name. Longer routes come first."""
    task = "tasks/<slug:public_id>"
    for kind in FILE_KINDS:
        yield f"campaigns/<slug:slug>/imports/{kind}", ImportView.as_view(kind=kind), f"import-{kind}"
    yield "campaigns/<slug:slug>/imports/<slug:number>/undo", UndoImportView.as_view(), "undo-import"
    yield "campaigns/<slug:slug>/delete", DeleteCampaignView.as_view(), "campaign-delete"
    for act in Change:
        yield f"{task}/{act}", ChangeTaskView.as_view(act=act), f"task-{act}"
    yield f"{task}/reassign", ReassignTaskView.as_view(), "task-reassign"
    yield "gates", GatesView.as_view(), "gates"
    yield "account", AccountView.as_view(), "account"
    yield "fingerprint", FingerprintView.as_view(), "fingerprint"
    yield "task-changes", TaskChangesView.as_view(), "task-changes"
    for name in JOB_CHANGES:
        yield f"jobs/<int:pk>/{name}", ChangeJobView.as_view(act=name), f"job-{name}"
    yield from REPORTS
    board = BattleLeaderboardView.as_view(entry=documents()["battles"])
    yield "battle-sets/<int:pk>/leaderboard", board, "battle-sets-leaderboard"
    for collection in EXPLAINED:
        name = collection.name
        yield f"{name}/<int:pk>/provenance", ProvenanceView.as_view(collection=collection), f"{name}-provenance"
    for collection in COLLECTIONS:
        name, key = collection.name, collection.found_by
        yield name, WRITTEN.get(name, ListView).as_view(collection=collection), name
        if key:
            route = f"{name}/<{CONVERTERS.get(key, 'slug')}:{key}>"
            yield route, RowView.as_view(collection=collection), f"{name}-row"


def _spellings(address: Address) -> Iterator[URLPattern]:
    """Yield an address without and with a slash at the end: both are common, and a redirect loses a POST's body."""
    route, view, name = address
    yield path(f"v1/{route}", view, name=name)
    yield path(f"v1/{route}/", view, name=name)


urlpatterns = [
    *(pattern for address in _addresses() for pattern in _spellings(address)),
    path("v1/", RootView.as_view(), name="root"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", docs, name="docs"),
    path("v1/<anything:rest>", NothingView.as_view(), name="nothing"),
]
