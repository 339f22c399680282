"""The results of docs/benchmarks.md: a part for each benchmark and engine, written by the run that measured it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "benchmarks.md"
RESULTS: Final = re.compile(
    r"(?<=^## Results\n)(?P<head>.*?)(?P<parts>^### .*?)?(?=^## )", re.MULTILINE | re.DOTALL
)


def renewed(text: str, parts: Mapping[str, str], order: Sequence[str]) -> str:
    """Return the document with these parts, by heading, in the place of those of the same headings.

    Parts of other headings stay, unless `order`, all headings there are, has none such.
    """
    found = RESULTS.search(text)
    if found is None:
        raise ValueError("the document has no results")
    kept = dict(re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", found["parts"] or "", re.MULTILINE | re.DOTALL))
    kept |= {heading: f"\n{part.strip()}\n\n" for heading, part in parts.items()}
    listed = "".join(f"### {heading}\n{kept[heading]}" for heading in order if heading in kept)
    return f"{text[: found.end('head')]}{listed}{text[found.end() :]}"
