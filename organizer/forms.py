"""Parts that the forms and lists of several pages share."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

from django import forms
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, QueryDict
from django.utils.formats import date_format
from django.utils.timezone import localdate

from evaluation.errors import Refused
from web.fields import TextField


class ListSearch(forms.Form):
    """Words to look for. An invalid search finds everything: `value` is empty where a field is not valid."""

    words = TextField(required=False, max_length=200, label="Words")

    def value(self, name: str) -> str:
        self.is_valid()
        return str(self.cleaned_data.get(name, ""))


def choice_field(label: str, unsaid: str, choices: Iterable[tuple[str, Any]]) -> forms.ChoiceField:
    """Optional choice; `unsaid` is the caption of none."""
    return forms.ChoiceField(choices=[("", unsaid), *choices], required=False, label=label)


def named(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(str(name), str(name)) for name in names]


def ticks_field(
    label: str, choices: Iterable[tuple[str, str]], *, required: bool = False, **options: Any
) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=list(choices), required=required, widget=forms.CheckboxSelectMultiple, label=label, **options
    )


def day_field(label: str) -> forms.DateField:
    return forms.DateField(required=False, widget=forms.DateInput({"type": "date"}), label=label)


def due_field() -> forms.DateField:
    field = day_field("Due")
    field.validators.append(_check_due)
    return field


def _check_due(due: date) -> None:
    if due < localdate():
        raise forms.ValidationError(f"a day from today on, found {date_format(due, 'j M Y')}")


def posted(request: HttpRequest) -> QueryDict | None:
    """Data that bind a form; a page that is only looked at has none."""
    return request.POST if request.method == "POST" else None


def errors_text(form: forms.BaseForm) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


@contextmanager
def refusals_on(form: forms.BaseForm, field: str | None = None, **fields: str) -> Iterator[None]:
    """A refusal becomes an error of the form, a line of it each, so that the values that were typed stay.

    `fields`: the field of a refusal, by its code.
    """
    try:
        yield
    except Refused as refusal:
        form.add_error(fields.get(refusal.code, field), [*refusal.message.split("\n")])


def page_of(request: HttpRequest, rows: Any, size: int, parameter: str = "page") -> Page[Any]:
    # A number beyond the last page shows the last: lists shrink under links that somebody kept.
    return Paginator(rows, size).get_page(request.GET.get(parameter))
