"""Results stand in docs/benchmarks.md as a run wrote them."""

import pytest

from loadtest.bench.document import DOCUMENT, renewed

TEXT = """# Benchmarks

Words before.

## Results

Words on all.

### scores, SQLite

| old |

### gone, SQLite

| of a benchmark that is no more |

## What made the difference

Words after.
"""
ORDER = ["labels, SQLite", "labels, PostgreSQL", "scores, SQLite", "scores, PostgreSQL"]


def test_a_run_writes_its_own_parts_and_leaves_the_rest() -> None:
    once = renewed(TEXT, {"scores, PostgreSQL": "| new |", "labels, SQLite": "| first |"}, ORDER)
    assert "Words on all.\n\n### labels, SQLite\n\n| first |\n\n### scores, SQLite\n\n| old |" in once
    assert "| old |\n\n### scores, PostgreSQL\n\n| new |\n\n## What made the difference" in once
    assert "gone" not in once
    assert renewed(once, {"scores, PostgreSQL": "| new |"}, ORDER) == once
    again = renewed(once, {"scores, SQLite": "| newer |"}, ORDER)
    assert "| old |" not in again
    assert again.startswith("# Benchmarks\n\nWords before.\n")
    assert again.endswith("Words after.\n")


def test_a_document_without_parts_gets_its_first() -> None:
    text = "# Benchmarks\n\n## Results\n\nWords.\n\n## After\n"
    assert renewed(text, {ORDER[0]: "| new |"}, ORDER) == (
        "# Benchmarks\n\n## Results\n\nWords.\n\n### labels, SQLite\n\n| new |\n\n## After\n"
    )


def test_the_document_has_a_place_for_results() -> None:
    with pytest.raises(ValueError, match="no results"):
        renewed("# Benchmarks\n", {}, ORDER)
    assert renewed(DOCUMENT.read_text(), {}, []).count("## Results") == 1
