"""Topics of which others have a list or labels, and labels that another judge has given already, to the last one."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluation.domain.shares import Given
from evaluation.formats.source import Source
from evaluation.imports.base import ImportFinding
from evaluation.models import Campaign, Judge
from evaluation.models.querysets import CurrentQuerySet, in_parts_of
from evaluation.terms import FindingCode, JudgeKind

TEXTS = {
    FindingCode.LABELLED_BY_OTHERS: (
        "{other} has labels of this topic that were there first; these count where people count together"
    ),
    FindingCode.LISTED_BY_OTHERS: (
        "{other} has a list of this topic that was there first; it counts where people count together"
    ),
}

FEWEST = 2  # a single label is equal by chance


def there_by_others(
    campaign: Campaign, code: FindingCode, judge: Judge, given: Given, rows: Iterable[tuple[Source, int, str]]
) -> Iterator[ImportFinding]:
    """Find topics of a person's rows (source, line, topic id) of which others have a list or labels already."""
    if judge.kind != JudgeKind.HUMAN or judge.aside:
        return
    people = Judge.objects.filter(pk__in={pk for pk, _ in given}, kind=JudgeKind.HUMAN, aside=False)
    others = dict(people.exclude(pk=judge.pk).values_list("pk", "name"))
    there = {topic: others[pk] for pk, topic in given if pk in others}
    names = dict(campaign.topics.filter(pk__in=there).values_list("topic_id", "pk"))
    found: set[str] = set()
    for source, line, topic in rows:
        if topic in names and topic not in found:
            found.add(topic)
            text = TEXTS[code].format(other=there[names[topic]])
            yield ImportFinding(code, source.name, line, text, topic)


def equal_labels(
    source: Source, judge: Judge, labels: CurrentQuerySet[Any], codes: Mapping[tuple[int, int], int], *item: str
) -> Iterator[ImportFinding]:
    """Yield a finding for each other judge who gave all of these labels: a file under the wrong name looks so.

    `labels` are everybody's.
    """
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
