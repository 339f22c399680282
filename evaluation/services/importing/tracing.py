"""Reading back what nuggets were made from and rest on, as our own exports say it."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.errors import BadInput, Problem
from evaluation.formats.nuggets import NuggetListRow, Parent
from evaluation.formats.source import Source
from evaluation.models import (
    Event,
    ListedNugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetSet,
    NuggetVersion,
)
from evaluation.services.importing.base import BATCH
from evaluation.services.importing.stubs import segment_pks

Drafts = dict[str, list[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class Tracing:
    """The drafts of a set, by topic id: text and wording of each, in order."""

    drafts: Drafts

    def wording(self, topic_id: str, parent: Parent) -> int | None:
        """Return the draft meant: the one at its place if it reads so, else the first that does."""
        listed = self.drafts.get(topic_id, [])
        if parent.place is not None and parent.place < len(listed) and listed[parent.place][0] == parent.text:
            return listed[parent.place][1]
        return next((pk for text, pk in listed if text == parent.text), None)


def tracing_of(nugget_set: NuggetSet, source: Source, rows: Sequence[NuggetListRow]) -> Tracing:
    """Return what lineage is resolved against. Raises `BadInput` for a draft that is not loaded.

    Without drafts to which the set belongs there is nothing to resolve, and lineage is left aside.
    """
    if nugget_set.drafts is None:
        return Tracing({})
    tracing = Tracing(_drafts(nugget_set.drafts))
    problems = [
        Problem(source.name, row.line, f"nuggets.{place}.assay.lineage", f"a draft of {nugget_set.drafts}")
        for row in rows
        for place, nugget in enumerate(row.nuggets)
        for parent in nugget.provenance.lineage
        if tracing.wording(row.topic_id, parent) is None
    ]
    if problems:
        raise BadInput(problems)
    return tracing


def write_lineage(wordings: Sequence[NuggetVersion], rows: Sequence[NuggetListRow], tracing: Tracing) -> None:
    """Write what each wording was made from. `wordings` are those of all rows' nuggets in order."""
    nuggets = [(row.topic_id, nugget) for row in rows for nugget in row.nuggets]
    found = {
        (wording.pk, draft): NuggetLineage(child=wording, parent_id=draft, relation=parent.relation)
        for wording, (topic_id, nugget) in zip(wordings, nuggets, strict=True)
        for parent in nugget.provenance.lineage
        if (draft := tracing.wording(topic_id, parent)) is not None
    }
    NuggetLineage.objects.bulk_create(found.values(), batch_size=BATCH)


def write_evidence(
    nugget_set: NuggetSet, wordings: Sequence[NuggetVersion], rows: Sequence[NuggetListRow], event: Event
) -> None:
    """Write what each wording rests on; a segment that is not loaded is named all the same."""
    nuggets = [nugget for row in rows for nugget in row.nuggets]
    docids = {one.docid for nugget in nuggets for one in nugget.provenance.evidence}
    if not docids:
        return
    pks = segment_pks(nugget_set.campaign, docids, event)
    found = {
        (wording.pk, one.docid, one.sentence): NuggetEvidence(
            nugget_version=wording, segment_id=pks[one.docid], sentence=one.sentence
        )
        for wording, nugget in zip(wordings, nuggets, strict=True)
        for one in nugget.provenance.evidence
    }
    NuggetEvidence.objects.bulk_create(found.values(), batch_size=BATCH)


def _drafts(draft_set: NuggetSet) -> Drafts:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set=draft_set)
    newest = dict(lists.values_list("topic__topic_id", "pk"))
    items = ListedNugget.objects.filter(nugget_list__in=newest.values()).order_by("position")
    drafts: Drafts = {topic_id: [] for topic_id in newest}
    of_list = {pk: topic_id for topic_id, pk in newest.items()}
    for pk, text, wording in items.values_list("nugget_list", "nugget_version__text", "nugget_version"):
        drafts[of_list[pk]].append((text, wording))
    return drafts
