"""Labels that another judge has given already, to the last one: a file loaded under the wrong name looks so."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.formats.source import Source
from evaluation.imports.base import ImportFinding
from evaluation.models import Judge
from evaluation.models.querysets import CurrentQuerySet, in_parts_of
from evaluation.terms import FindingCode

FEWEST = 2  # a single label is equal by chance


def equal_labels(
    source: Source, judge: Judge, labels: CurrentQuerySet[Any], codes: Mapping[tuple[int, int], int], *item: str
) -> Iterator[ImportFinding]:
    """Yield a finding for each other judge who gave all of these labels; `labels` are everybody's."""
    if len(codes) < FEWEST:
        return
    equal: dict[str, set[tuple[int, int]]] = {}
    others = labels.current().exclude(judge_id=judge.pk or 0)
    for part in in_parts_of({first for first, _ in codes}):
        rows = others.filter(**{f"{item[0]}__in": part}).order_by()
        for name, first, second, label in rows.values_list("judge__name", *item, "label").iterator():
            if codes.get((first, second)) == label:
                equal.setdefault(name, set()).add((first, second))
    for name in sorted(name for name, items in equal.items() if len(items) == len(codes)):
        text = f"all {len(codes):,} labels equal those of {name}: look whether the judge is the right one"
        yield ImportFinding(FindingCode.LABELS_OF_ANOTHER, source.name, None, text)
