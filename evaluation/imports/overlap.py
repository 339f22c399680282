"""Topics that people share, and of which several of them have a list or labels all the same."""

from collections.abc import Iterable, Iterator

from evaluation.domain.shares import Given
from evaluation.formats.source import Source
from evaluation.imports.base import ImportFinding
from evaluation.models import Campaign, Judge
from evaluation.terms import FindingCode, JudgeKind

TEXTS = {
    FindingCode.LABELLED_BY_OTHERS: (
        "{other} has labels of this topic that were there first; these count where people count together"
    ),
    FindingCode.LISTED_BY_OTHERS: (
        "{other} has a list of this topic that was there first; it counts where people count together"
    ),
}


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
