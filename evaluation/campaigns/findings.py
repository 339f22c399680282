"""Findings of imports, on screen warnings about the data, by their kinds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import RowNumber

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.errors import PLACES_SHOWN
from evaluation.formats.addressing import docid_in
from evaluation.models import Campaign, Finding, Segment
from evaluation.terms import FindingCode


@dataclass(frozen=True, slots=True)
class FindingKind:
    """Findings of one code: the first of them, stored or of an import, and their number."""

    code: FindingCode
    number: int
    examples: tuple[Any, ...]

    def __str__(self) -> str:
        places = ", ".join(
            f"{finding.file}:{finding.line}" if finding.line else finding.file for finding in self.examples
        )
        more = f" and {self.number - len(self.examples):,} more" if self.number > len(self.examples) else ""
        return f"- {self.number:,} {self.code.replace('_', ' ')} ({places}{more}): {self.examples[0].message}"


def findings_by_kind(findings: Sequence[Any]) -> list[FindingKind]:
    by_code: dict[str, list[Any]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    return [
        FindingKind(FindingCode(code), len(kind), tuple(kind[:PLACES_SHOWN])) for code, kind in by_code.items()
    ]


def findings_for(viewer: User, campaign: Campaign, code: str = "", run_id: str = "") -> QuerySet[Finding]:
    rows = Finding.objects.filter(campaign__in=within(viewer, campaign))
    rows = rows.filter(code=code) if code else rows
    return rows.filter(run_id=run_id) if run_id else rows


def kinds_of_findings(findings: QuerySet[Finding]) -> list[FindingKind]:
    """Return the kinds of stored findings, the most frequent first. The database counts: they may be a million."""
    numbers = findings.order_by().values_list("code").annotate(number=Count("pk")).order_by("-number", "code")
    place = Window(RowNumber(), partition_by="code", order_by=F("pk").asc())
    first = findings.annotate(place=place).filter(place__lte=PLACES_SHOWN).order_by("pk")
    examples = {kind.code.value: kind.examples for kind in findings_by_kind(list(first))}
    # An import can be taken back between the two reads.
    return [FindingKind(FindingCode(code), number, examples.get(code, ())) for code, number in numbers]


def segments_named_by(viewer: User, campaign: Campaign, findings: Iterable[Finding]) -> dict[int, str]:
    docids = {
        finding.pk: docid_in(finding.message)
        for finding in findings
        if finding.code == FindingCode.ADDRESSES_JUDGE and not finding.run_id
    }
    segments = Segment.objects.filter(campaign__in=within(viewer, campaign), docid__in=set(docids.values()))
    public_ids = dict(segments.values_list("docid", "public_id"))
    return {pk: public_ids[docid] for pk, docid in docids.items() if docid in public_ids}
