"""Grades of relevance that people give at the desk, as a source of qrels of each."""

from typing import Final

from evaluation.errors import Refused
from evaluation.models import Judge
from evaluation.rules.text import check_name
from evaluation.stages import GRADE

OF_PEOPLE: Final = f"{GRADE}-"
"""Beginning of the names of such sources."""


def source_of(judge: Judge) -> str:
    return f"{OF_PEOPLE}{judge.name}"


def check_source(name: str) -> str:
    """Return the name of a source that a file or a job fills. Raises `Refused` for one of a person."""
    if name.startswith(OF_PEOPLE):
        text = f"Sources called {OF_PEOPLE}… hold what people grade here: take another name."
        raise Refused("source_of_person", text, field="source")
    return check_name("source", name)
