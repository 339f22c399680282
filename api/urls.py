"""The addresses under /api/. Each collection has a list, and most have a place for one row."""

from collections.abc import Iterator

from django.urls import URLPattern, path

from api.collections import COLLECTIONS, Collection
from api.views import ListView, NothingView, RowView

app_name = "api"

CONVERTERS = {"pk": "int"}
"""How a row's key is written in an address; all others are words."""


def _addresses(collection: Collection) -> Iterator[URLPattern]:
    name = collection.name
    lists = ListView.as_view(collection=collection)
    yield path(f"v1/{name}/", lists, name=name)
    yield path(f"v1/{name}", lists)
    if key := collection.found_by:
        row = RowView.as_view(collection=collection)
        route = f"v1/{name}/<{CONVERTERS.get(key, 'slug')}:{key}>"
        yield path(f"{route}/", row, name=f"{name}-row")
        yield path(route, row)


urlpatterns = [
    *(address for collection in COLLECTIONS for address in _addresses(collection)),
    path("v1/", NothingView.as_view(), name="nothing"),
    path("v1/<path:rest>", NothingView.as_view(), name="nothing-there"),
]
