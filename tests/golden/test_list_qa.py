"""Reports and exports of the list-QA study keep their bytes. Only sums are kept: its data are not in the repository."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from evaluation.models import Campaign
from tests.golden.commands import FEW, Words, printed
from tests.golden.keeping import STUDY, Documents, differences
from tests.golden.making import Made
from tests.golden.pinned import pinned
from tests.reports.test_published_list_qa import load_study

CONDITIONS = ("A/A", "E/A", "E/M")
PAIRS = (("A/A", "E/M"), ("E/A", "E/M"))


def reports() -> Iterator[Words]:
    for condition in CONDITIONS:
        yield "scores", "--condition", condition
    for x, y in PAIRS:
        yield "correlation", "--x", x, "--y", y, "--score", "vital_strict", *FEW
        yield "correlation", "--x", x, "--y", y, "--score", "all", "--topics", "all", "--unjudged", "zero", *FEW
    yield "confusion", "--rows", "E/A", "--columns", "E/M"
    yield ("descriptives",)
    yield ("edits",)


def documents() -> Documents:
    for words, form in product(reports(), ("json", "csv", "table")):
        command = ("report", *words, "--campaign", "river", "--format", form)
        yield f"report-{words[0]}", " ".join([*words, "--format", form]), printed(*command)
    for table, condition in product(("nuggets", "assignments", "scores"), CONDITIONS):
        command = ("export", table, "--condition", condition, "--campaign", "river")
        yield f"export-{table}", f"{table} --condition {condition}", printed(*command)
    yield "export-qrels", "qrels", printed("export", "qrels", "--campaign", "river")


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.django_db
def test_the_study_has_the_documents_that_are_kept(shared_data: Path) -> None:
    made = Made()
    with pinned():
        load_study(shared_data / "qampari-list-qa")
        assert Campaign.objects.get().slug == "river"
        made.take(documents())
    refused = [name for group in made.groups.values() for name, body in group.items() if body.startswith(b"exit")]
    assert not refused
    found = [differences(f"{STUDY}/{name}", group) for name, group in made.groups.items()]
    assert not any(found), "\n\n".join(filter(None, found))
