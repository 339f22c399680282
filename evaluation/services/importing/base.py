"""What every import does the same way: plan against the database, then write all of it in one transaction."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F

from accounts.models import User
from evaluation.errors import BadInput, Problem, Refused
from evaluation.formats.source import Source
from evaluation.models import Campaign, Event, Finding
from evaluation.terms import PROVENANCE_KEY, FindingCode

BATCH = 500
LONGEST_SHOWN = 300  # of a text beside the one that would replace it


@dataclass(frozen=True, slots=True)
class Found:
    """A finding before it is stored: where it stands and what is odd."""

    code: FindingCode
    file: str
    line: int | None
    message: str
    topic_id: str = ""
    run_id: str = ""


@dataclass(slots=True)
class Plan:
    """What an import would do: counts for the receipt, findings, and the writing itself."""

    noun: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    found: list[Found] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    write: Callable[[Event], None] = lambda event: None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an import did."""

    noun: str
    added: int
    changed: int
    unchanged: int
    findings: int
    counts: dict[str, int]

    @property
    def nothing_changed(self) -> bool:
        """The file was already loaded just so."""
        return not (self.added or self.changed)

    def __str__(self) -> str:
        if self.nothing_changed:
            return f"Nothing changed: {self.unchanged:,} {self.noun} already loaded." + self._extras()
        parts = [f"{self.added:,} {self.noun} added"]
        parts += [f"{self.changed:,} changed"] if self.changed else []
        parts += [f"{self.unchanged:,} already loaded"] if self.unchanged else []
        return ", ".join(parts) + "." + self._extras()

    def _extras(self) -> str:
        parts = [f"{count:,} {what}" for what, count in self.counts.items() if count]
        parts += [f"{self.findings:,} findings"] if self.findings else []
        return f" {'; '.join(parts)}." if parts else ""


def carry_out(
    *,
    campaign: Campaign,
    kind: str,
    sources: Sequence[Source],
    actor: User | None,
    make_plan: Callable[[Campaign], Plan],
) -> Receipt:
    """Plan and write one import in one transaction, recorded as one event to which its rows point.

    The campaign's row is locked first, so that two imports into one campaign never plan against the same state.
    Raises whatever the plan raises; then nothing is written. Without a change there is no event either.
    """
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        plan = make_plan(locked)
        receipt = Receipt(plan.noun, plan.added, plan.changed, plan.unchanged, len(plan.found), dict(plan.counts))
        if not receipt.nothing_changed:
            event = _record(locked, kind, sources, actor, receipt)
            plan.write(event)
            store_findings(locked, event, plan.found)
            Campaign.objects.filter(pk=locked.pk).update(revision=F("revision") + 1)
    return receipt


def _record(
    campaign: Campaign, kind: str, sources: Sequence[Source], actor: User | None, receipt: Receipt
) -> Event:
    # Names without folders: where a file lay on somebody's disk is nobody's business.
    files = [{"name": Path(source.name).name, "sha256": source.sha256} for source in sources]
    counts = {"added": receipt.added, "changed": receipt.changed, "unchanged": receipt.unchanged}
    payload = {"files": files, "of": receipt.noun, **counts, "findings": receipt.findings, **receipt.counts}
    return Event.objects.create(campaign=campaign, kind=f"import.{kind}", actor=actor, payload=payload)


def store_findings(campaign: Campaign, event: Event, found: Iterable[Found]) -> None:
    """Write findings, in the caller's transaction."""
    Finding.objects.bulk_create(
        [
            Finding(
                campaign=campaign,
                event=event,
                code=one.code,
                file=Path(one.file).name[-400:],
                line=one.line,
                run_id=one.run_id,
                topic_id=one.topic_id,
                message=one.message,
            )
            for one in found
        ],
        batch_size=BATCH,
    )


def refuse_changes(problems: list[Problem], replace: bool) -> None:
    """Refuse a file that says something else than what is loaded, unless `--replace` was given."""
    if problems and not replace:
        raise BadInput(problems)


def refuse_if_labelled(count: int, what: str, code: str = "labelled") -> None:
    """Refuse to replace what labels hang on, saying how many."""
    if count:
        raise Refused(code, f"{what} cannot be replaced: {count:,} labels hang on it.")


def own_keys(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file's unknown keys without the provenance that an export of ours added."""
    return {key: value for key, value in extra.items() if key != PROVENANCE_KEY}


def changed_problem(
    source: Source, line: int, field_name: str, what: str, *, loaded: object = "", in_file: object = ""
) -> Problem:
    """Return the problem of a line that differs from what is loaded; both are shown, cut to a few lines."""
    shown = {"loaded": _cut(loaded), "in_file": _cut(in_file)}
    text = f"what is already loaded for {what}"
    return Problem(source.name, line, field_name, text, is_conflict=True, **shown)


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
