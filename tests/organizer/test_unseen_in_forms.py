"""A field in which nothing can be seen is an empty field: words that are needed are asked for, filters find all."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from django import forms
from django.core.exceptions import ValidationError

from tests.architecture.figures import ROOMS
from tests.evaluation.test_unseen_texts import UNSEEN_TEXTS


def text_fields() -> Iterator[tuple[str, forms.CharField]]:
    for room in ROOMS:
        package = importlib.import_module(room)
        for module in pkgutil.walk_packages(package.__path__, f"{room}."):
            if ".migrations" not in module.name:
                importlib.import_module(module.name)
    classes = [forms.Form]
    while classes:
        form = classes.pop()
        classes += form.__subclasses__()
        if form.__module__.split(".")[0] in ROOMS:
            for name, field in form.base_fields.items():
                if isinstance(field, forms.CharField) and not isinstance(field, forms.EmailField) and field.strip:
                    yield f"{form.__module__}.{form.__name__}.{name}", field


def outcome(field: forms.CharField, text: str) -> object:
    try:
        return field.clean(text)
    except ValidationError:
        return "refused"


@pytest.mark.parametrize("text", UNSEEN_TEXTS)
def test_nothing_to_see_in_a_field_is_nothing(text: str) -> None:
    fields = dict(text_fields())
    assert len(fields) > 30
    assert {name for name, field in fields.items() if outcome(field, text) != outcome(field, "")} == set()
