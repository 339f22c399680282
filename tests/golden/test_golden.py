"""Each document that leaves Assay is as it is kept, on either database; none goes without."""

from collections.abc import Collection
from pathlib import Path

import pytest

from assessor.rules.op_schemas import LABEL_PAYLOADS, PAYLOADS
from llmjobs.kinds import ITEM_KINDS
from tests.golden.commands import exports, reports, uncovered
from tests.golden.keeping import differences, kept_groups, kept_names
from tests.golden.making import ALL, make
from tests.golden.pages import without_document
from tests.golden.worlds import NAMED, SLUGS

pytestmark = pytest.mark.django_db

KINDS: dict[str, Collection[str]] = {"demo": ITEM_KINDS, "nugget-desks": PAYLOADS, "judging-desks": LABEL_PAYLOADS}
"""Kinds of operations and of LLM calls that documents of a world lack none of."""


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.parametrize("world", ALL)
def test_documents_are_those_that_are_kept(world: str, tmp_path: Path) -> None:
    made = make(world, tmp_path)
    kept = {group.removeprefix(f"{world}/") for group in kept_groups() if group.startswith(f"{world}/")}
    found = [differences(f"{world}/{name}", made.groups.get(name, {})) for name in sorted({*made.groups, *kept})]
    assert not any(found), "\n\n".join(filter(None, found))
    assert {*KINDS.get(world, ())} - made.kinds == set()


def test_each_report_and_option_has_a_document() -> None:
    assert uncovered("report", "reports", [words for world in NAMED for words in reports(world)]) == []


def test_each_export_and_option_has_a_document() -> None:
    assert uncovered("export", "exchange", [words for world in NAMED for words in exports(world, [])]) == []


def test_each_file_of_a_page_has_a_document() -> None:
    addresses = [
        f"/campaigns/{slug}/{name.partition(' ')[0]}"
        for world, slug in SLUGS.items()
        for group in kept_groups()
        if group.startswith(f"{world}/page-")
        for name in kept_names(group)
    ]
    assert without_document(addresses) == []
