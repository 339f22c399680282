"""The ends of addresses under which a report leaves as a file."""

from django.urls import register_converter
from django.urls.converters import get_converters

from reports.files import PictureForm, TableForm
from reports.views import ReportName


class PictureConverter:
    """The form of a picture."""

    regex = "|".join(PictureForm)

    def to_python(self, value: str) -> PictureForm:
        return PictureForm(value)

    def to_url(self, value: str) -> str:
        return str(PictureForm(value))


class TableConverter:
    """The form of a table."""

    regex = "|".join(TableForm)

    def to_python(self, value: str) -> TableForm:
        return TableForm(value)

    def to_url(self, value: str) -> str:
        return str(TableForm(value))


class ReportConverter:
    """The name of a report page."""

    regex = "|".join(ReportName)

    def to_python(self, value: str) -> ReportName:
        return ReportName(value)

    def to_url(self, value: str) -> str:
        return str(ReportName(value))


def register_converters() -> None:
    """Make the converters known to addresses; whoever has such addresses asks for it."""
    for name, converter in (("picture", PictureConverter), ("table", TableConverter), ("report", ReportConverter)):
        if name not in get_converters():
            register_converter(converter, name)
