"""All reports by name: `@report` for a page, `@document` for what the command and the API have of it.

`@report_page` is for a page with more than sections.

Whatever lists reports takes its list from here: addresses, menu, command palette, `report NAME`, `GET reports/NAME`,
and the tests that open every report.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar

from django import forms
from django.http import QueryDict

from evaluation.errors import Refused
from evaluation.models import Campaign
from reports.document import Document, Naming, Option
from reports.forms import ChoicesForm, choices_of, offer_of
from reports.needs import Lack, Requirement
from reports.report import Report, ReportContent, report_of

MODULES: Final = (
    "leaderboard.page",
    "agreement.page",
    "confusion.page",
    "timing.page",
    "nuggets.page",
    "leaderboard.length",
    "leaderboard.comparisons",
    "leaderboard.samples",
    "support",
    "nuggets.descriptives",
    "group_report",
    "quality.studies",
    "random_checks.documents",
    "battles.page",
    "judges.page",
)
"""Where reports are declared. They are in this order wherever they are listed."""

Choices = Mapping[str, Any]
MakePage = Callable[[Campaign, QueryDict], Report]
MakeDocument = Callable[[Campaign, Choices], Document]
Make = TypeVar("Make", bound=Callable[..., Any])
Form = TypeVar("Form", bound=ChoicesForm)
NAMINGS: Final = {"judge": Naming.JUDGE, "nuggets": Naming.NUGGET_SET, "listed_in": Naming.NUGGET_SET}
"""Fields of forms whose values are names of judges and of nugget sets."""


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A report as a page; `address` lies below that of its campaign.

    It is in the `menu` of this name under its `caption`, at place `order`, for researchers too if `for_readers`.
    `below`: views of its lower pages. `example`: a query string by which it has all that it can show, for tests.
    `needs`: without which it has nothing to show, first things first.
    `kept`: a choice that is the same for a person on the next visit. `text`: what it is in a sentence; its sections are
    then its document, chosen by the fields of the form.
    """

    name: str
    title: str
    form: type[ChoicesForm]
    make: MakePage
    address: str
    caption: str
    template: str = "reports/report.html"
    menu: str = ""
    order: int = 0
    below: tuple[str, ...] = ()
    for_readers: bool = True
    example: str = ""
    kept: str = ""
    needs: tuple[Requirement, ...] = ()
    text: str = ""

    def lack_in(self, campaign: Campaign) -> Lack | None:
        """Return what a campaign lacks first for it to show anything; None where that is nothing."""
        offered = offer_of(campaign)
        return next((need.lack for need in self.needs if not need.is_met(offered)), None)


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A report as the command and the API have it."""

    name: str
    text: str
    options: tuple[Option, ...]
    make: MakeDocument


_PAGES: dict[str, ReportPage] = {}
_DOCUMENTS: dict[str, ReportDocument] = {}


def report(
    name: str, *, title: str, form: type[Form], **rest: Any
) -> Callable[[Callable[[Form], ReportContent]], MakePage]:
    """Register a function from a valid form to the content of a page, and return the function to that page."""

    def register(make: Callable[[Form], ReportContent]) -> MakePage:
        def page(campaign: Campaign, query: QueryDict) -> Report:
            return report_of(form(query, campaign), title, query, make)

        return report_page(name, title=title, form=form, **rest)(page)

    return register


def report_page(name: str, *, title: str, form: type[ChoicesForm], **rest: Any) -> Callable[[Make], Make]:
    """Register a function from campaign and query string to a page."""

    def register(make: Make) -> Make:
        fields = {"address": f"reports/{name}/", "caption": title} | rest
        page = _PAGES[name] = ReportPage(name, title, form, make, **fields)
        if page.text:
            _DOCUMENTS[name] = ReportDocument(
                name, page.text, _options_of(form), lambda *args: _of_page(page, *args)
            )
        return make

    return register


def document(name: str, text: str, options: Sequence[Option] = ()) -> Callable[[Make], Make]:
    """Register a function from campaign and choices, by the names of the options, to a document."""

    def register(make: Make) -> Make:
        _DOCUMENTS[name] = ReportDocument(name, text, tuple(options), make)
        return make

    return register


@cache
def _declared() -> None:
    for module in MODULES:
        import_module(f"reports.{module}")


def pages() -> Mapping[str, ReportPage]:
    _declared()
    return _PAGES


def documents() -> Mapping[str, ReportDocument]:
    _declared()
    return _DOCUMENTS


def _options_of(form: type[ChoicesForm]) -> tuple[Option, ...]:
    return tuple(
        Option(
            name,
            f"{str(field.label).lower()}. {field.help_text}".removesuffix(" "),
            tuple(str(value) for value in choices_of(field) if value != ""),
            is_count=isinstance(field, forms.IntegerField),
            of=NAMINGS.get(name),
        )
        for name, field in form.base_fields.items()
        if not field.widget.is_hidden
    )


def _of_page(page: ReportPage, campaign: Campaign, choices: Choices) -> Document:
    query = QueryDict(mutable=True)
    query.update({name: choices[name] for name in page.form.base_fields if choices.get(name)})
    report_page = page.make(campaign, query)
    if report_page.form.errors:
        raise Refused(
            "usage", " ".join(f"{name}: {errors[0]}" for name, errors in report_page.form.errors.items())
        )
    if report_page.refused:
        raise report_page.refused
    sections = report_page.sections
    content = {
        "title": report_page.title,
        "text": report_page.facts_text,
        "sections": {
            section.name: {"title": section.title, "rows": [dict(row) for row in section.rows]}
            for section in sections
        },
    }
    return Document(content, sections[0].rows, report_page.facts_text)
