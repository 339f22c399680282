"""The addresses under /api/. Each collection has a list, and most have a place for one row."""

from collections.abc import Iterator

from django.urls import URLPattern, path

from api.collections import COLLECTIONS, Collection
from api.docs import SchemaView, docs
from api.views import ListView, NothingView, RootView, RowView

app_name = "api"

CONVERTERS = {"pk": "int"}
"""How a row's key is written in an address; all others are words."""


def _addresses(collection: Collection) -> Iterator[URLPattern]:
    """Yield a collection's addresses, with and without a slash at the end: both are common."""
    name = collection.name
    lists = ListView.as_view(collection=collection)
    yield path(f"v1/{name}", lists, name=name)
    yield path(f"v1/{name}/", lists, name=name)
    if key := collection.found_by:
        row = RowView.as_view(collection=collection)
        route = f"v1/{name}/<{CONVERTERS.get(key, 'slug')}:{key}>"
        yield path(route, row, name=f"{name}-row")
        yield path(f"{route}/", row, name=f"{name}-row")


urlpatterns = [
    *(address for collection in COLLECTIONS for address in _addresses(collection)),
    path("v1/", RootView.as_view(), name="root"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", docs, name="docs"),
    path("v1/<path:rest>", NothingView.as_view(), name="nothing"),
]
