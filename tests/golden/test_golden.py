"""Each document that leaves Assay has the bytes that are kept of it, on either database; none goes without."""

from collections.abc import Callable
from typing import TypeVar, cast

import pytest

from assessor.rules.op_schemas import LABEL_PAYLOADS, PAYLOADS
from llmjobs.kinds import ITEM_KINDS
from tests.golden.commands import exports, reports, uncovered
from tests.golden.keeping import differences, kept_groups
from tests.golden.making import ALL, DESKS, Made
from tests.golden.pages import without_document
from tests.golden.worlds import NAMED, SLUGS

pytestmark = pytest.mark.django_db
MadeOf = Callable[[str], Made]
Test = TypeVar("Test", bound=Callable[..., None])


def of_documents(test: Test) -> Test:
    """Mark a test that makes documents: it takes long, and has to hold on either database."""
    return cast(Test, pytest.mark.slow(pytest.mark.postgresql(test)))


@of_documents
@pytest.mark.parametrize("world", ALL)
def test_documents_are_those_that_are_kept(world: str, made_of: MadeOf) -> None:
    groups = made_of(world).groups
    kept = {group.removeprefix(f"{world}/") for group in kept_groups() if group.startswith(f"{world}/")}
    found = [differences(f"{world}/{name}", groups.get(name, {})) for name in sorted({*groups, *kept})]
    assert not any(found), "\n\n".join(filter(None, found))


def test_each_report_and_option_has_a_document() -> None:
    assert uncovered("report", "reports", [words for world in NAMED for words in reports(world)]) == []


def test_each_export_and_option_has_a_document() -> None:
    assert uncovered("export", "exchange", [words for world in NAMED for words in exports(world, [])]) == []


@of_documents
def test_each_file_of_a_page_has_a_document(made_of: MadeOf) -> None:
    addresses = [
        f"/campaigns/{slug}/{name.partition(' ')[0]}"
        for world, slug in SLUGS.items()
        for group, documents in made_of(world).groups.items()
        if group.startswith("page-")
        for name in documents
    ]
    assert without_document(addresses) == []


@of_documents
def test_each_operation_of_a_desk_has_a_receipt(made_of: MadeOf) -> None:
    assert {*PAYLOADS, *LABEL_PAYLOADS} - set().union(*(made_of(world).kinds for world in DESKS)) == set()


@of_documents
def test_each_kind_of_llm_call_has_its_hashes(made_of: MadeOf) -> None:
    assert ITEM_KINDS.keys() - made_of("demo").kinds == set()
