"""The lane of imports, exports and snapshots that are opened."""

from django.utils.module_loading import import_string

from exchange.background import EXPORT, IMPORT, OPENING, RUNNERS


def test_each_kind_of_item_names_a_runner_that_is_there() -> None:
    assert RUNNERS.keys() == {IMPORT, EXPORT, OPENING}
    assert all(callable(import_string(name)) for name in RUNNERS.values())
