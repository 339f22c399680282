"""Nugget lists of every form of file, told from the first object."""

from evaluation.formats.argue import is_argue, parse_argue
from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import first_object
from evaluation.formats.nuggets import NuggetListLine, NuggetListRow, parse_nuggets
from evaluation.formats.rubrics import RUBRICS
from evaluation.formats.source import Source


@of_kind("nuggets", "nugget lists, a topic a line")
def parse_lists(source: Source) -> tuple[NuggetListRow, ...]:
    """Lists of nuggetizer, rubrics, or ARGUE's banks. Raises `BadInput`."""
    if is_argue(source):
        return parse_argue(source)
    keys = first_object(source).keys()
    return parse_nuggets(source, next((form for form in RUBRICS if form.items_key in keys), NuggetListLine))
