"""The addresses under /api/. Each collection has a list, and most have a place for one row."""

from collections.abc import Iterator

from django.urls import URLPattern, path, register_converter
from django.urls.converters import PathConverter

from api.collections import COLLECTIONS, Collection
from api.provenance import EXPLAINED, ProvenanceView
from api.views import ListView, NothingView, RootView, RowView, SchemaView, docs
from api.writes.campaigns import CampaignsView
from api.writes.imports import KINDS, ImportView
from api.writes.jobs import CancelJobView, JobsView, PauseJobView, ResumeJobView, RetryJobView
from api.writes.tasks import ChangeTaskView, ReassignTaskView, TaskChangesView, TasksView
from evaluation.tasks.changes import Change

app_name = "api"

CONVERTERS = {"pk": "int"}
"""How a row's key is written in an address; all others are words."""


WRITTEN: dict[str, type[ListView]] = {"campaigns": CampaignsView, "jobs": JobsView, "tasks": TasksView}
"""Collections to which a row can be added; the others come with imports."""


class Anything(PathConverter):
    """The rest of an address, line ends in it too: without them such an address would be answered with a page."""

    regex = r"[\s\S]+"


register_converter(Anything, "anything")


def _addresses(collection: Collection) -> Iterator[URLPattern]:
    """Yield a collection's addresses, with and without a slash at the end: both are common."""
    name = collection.name
    lists = WRITTEN.get(name, ListView).as_view(collection=collection)
    yield path(f"v1/{name}", lists, name=name)
    yield path(f"v1/{name}/", lists, name=name)
    if key := collection.found_by:
        row = RowView.as_view(collection=collection)
        route = f"v1/{name}/<{CONVERTERS.get(key, 'slug')}:{key}>"
        yield path(route, row, name=f"{name}-row")
        yield path(f"{route}/", row, name=f"{name}-row")


def _writes() -> Iterator[URLPattern]:
    """Yield the addresses of what is only written to, with and without a slash at the end."""
    task, job = "v1/tasks/<slug:public_id>", "v1/jobs/<int:pk>"
    views = {
        **{
            f"v1/campaigns/<slug:slug>/imports/{kind}": (ImportView.as_view(kind=kind), f"import-{kind}")
            for kind in KINDS
        },
        **{f"{task}/{act}": (ChangeTaskView.as_view(act=act), f"task-{act}") for act in Change},
        f"{task}/reassign": (ReassignTaskView.as_view(), "task-reassign"),
        "v1/task-changes": (TaskChangesView.as_view(), "task-changes"),
        f"{job}/pause": (PauseJobView.as_view(), "job-pause"),
        f"{job}/resume": (ResumeJobView.as_view(), "job-resume"),
        f"{job}/cancel": (CancelJobView.as_view(), "job-cancel"),
        f"{job}/retry": (RetryJobView.as_view(), "job-retry"),
    }
    for route, (view, name) in views.items():
        yield path(route, view, name=name)
        yield path(f"{route}/", view, name=name)


def _provenance() -> Iterator[URLPattern]:
    """Yield where it is told what stands behind a label."""
    for one in EXPLAINED:
        view, route = ProvenanceView.as_view(collection=one), f"v1/{one.name}/<int:pk>/provenance"
        yield path(route, view, name=f"{one.name}-provenance")
        yield path(f"{route}/", view, name=f"{one.name}-provenance")


urlpatterns = [
    *_writes(),
    *_provenance(),
    *(address for collection in COLLECTIONS for address in _addresses(collection)),
    path("v1/", RootView.as_view(), name="root"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", docs, name="docs"),
    path("v1/<anything:rest>", NothingView.as_view(), name="nothing"),
]
