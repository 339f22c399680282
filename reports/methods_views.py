"""The methods report as a page and as files."""

from collections.abc import Callable
from enum import StrEnum

from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import register_converter
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from reports.answering import get_campaign
from reports.methods import methods_report
from reports.methods_form import MethodsReport, methods_json, methods_latex


class MethodsForm(StrEnum):
    """What the report can leave as."""

    HTML = "html"
    LATEX = "tex"
    JSON = "json"

    @property
    def caption(self) -> str:
        """What people call it."""
        return "LaTeX" if self is MethodsForm.LATEX else self.upper()


CONTENT_TYPES = {
    MethodsForm.HTML: "text/html; charset=utf-8",
    MethodsForm.LATEX: "application/x-tex; charset=utf-8",
    MethodsForm.JSON: "application/json",
}
WRITERS: dict[MethodsForm, Callable[[MethodsReport], str]] = {
    MethodsForm.HTML: lambda report: render_to_string("reports/methods_document.html", {"report": report}),
    MethodsForm.LATEX: methods_latex,
    MethodsForm.JSON: methods_json,
}


class MethodsConverter:
    """The form of the report at the end of an address."""

    regex = "|".join(MethodsForm)

    def to_python(self, value: str) -> MethodsForm:
        """Return the form."""
        return MethodsForm(value)

    def to_url(self, value: str) -> str:
        """Return the end of the address."""
        return str(MethodsForm(value))


register_converter(MethodsConverter, "methods_form")


@require_safe
def methods(request: UserRequest, slug: str) -> HttpResponse:
    """How the campaign was judged, written from what is stored."""
    campaign = get_campaign(request, slug)
    context = {"campaign": campaign, "report": methods_report(campaign), "forms": list(MethodsForm)}
    return render(request, "reports/methods.html", context)


@require_safe
def methods_file(request: UserRequest, slug: str, document: MethodsForm) -> HttpResponse:
    """The report as a file to keep."""
    report = methods_report(get_campaign(request, slug))
    response = HttpResponse(WRITERS[document](report), content_type=CONTENT_TYPES[document])
    response["Content-Disposition"] = f'attachment; filename="{slug}-methods.{document}"'
    return response
