"""Import nugget lists."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from accounts.models import User
from evaluation.campaigns.pseudonyms import Names
from evaluation.domain.lineage import TRACED
from evaluation.errors import InputProblem, Refused, no_such
from evaluation.formats.argue import parse_lists
from evaluation.formats.nuggets import NuggetListRow, NuggetRecord, Parent, importance_word
from evaluation.formats.source import Source
from evaluation.imports.base import (
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    NamedSegments,
    carry_out,
    changed_problem,
    compare,
    own_keys,
    refuse,
    refuse_if_labelled,
    refuse_unknown_topics,
    with_every_problem,
)
from evaluation.imports.dependents import forget_left_over, labels_on_lists
from evaluation.imports.overlap import there_by_others
from evaluation.judges import judge_named, stored_judge
from evaluation.labelling import last_key, upsert
from evaluation.models import (
    Campaign,
    Event,
    Finding,
    Judge,
    ListedNugget,
    Nugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Submission,
    Task,
)
from evaluation.models.fields import new_public_id
from evaluation.rules.text import check_name
from evaluation.terms import PROVENANCE_KEY, FindingCode, Importance, JudgeKind, Origin
from web.statements import ROWS_A_STATEMENT

Drafts = dict[str, list[tuple[str, int]]]
"""Text and wording of each draft of a set in order, by topic id."""


def draft_of(drafts: Drafts, topic_id: str, parent: Parent) -> int | None:
    """Return the draft meant: the one at the parent's place if it has its text, else the first with that text."""
    listed = drafts.get(topic_id, [])
    if parent.place is not None and parent.place < len(listed) and listed[parent.place][0] == parent.text:
        return listed[parent.place][1]
    return next((pk for text, pk in listed if text == parent.text), None)


def drafts_to_trace(nugget_set: NuggetSet, source: Source, rows: Sequence[NuggetListRow]) -> Drafts:
    """Return the drafts that lineage is resolved against. Raises `BadInput` for a draft that is not loaded.

    Without drafts to which the set belongs there is nothing to resolve, and lineage is left aside.
    """
    if nugget_set.drafts is None:
        return {}
    drafts = _traced_drafts(nugget_set.drafts)
    problems = [
        InputProblem(source.name, row.line, f"nuggets.{place}.assay.lineage", f"a draft of {nugget_set.drafts}")
        for row in rows
        for place, nugget in enumerate(row.nuggets)
        for parent in nugget.provenance.lineage
        if draft_of(drafts, row.topic_id, parent) is None
    ]
    refuse(problems)
    return drafts


def write_lineage(wordings: Sequence[int], rows: Sequence[NuggetListRow], drafts: Drafts) -> None:
    """Write what each wording was made from. `wordings` are the keys of those of all rows' nuggets in order."""
    nuggets = [(row.topic_id, nugget) for row in rows for nugget in row.nuggets]
    lineage = {
        # Two drafts of the same text lead to a single row: the database holds each parent once.
        (wording, draft): NuggetLineage(child_id=wording, parent_id=draft, relation=parent.relation)
        for wording, (topic_id, nugget) in zip(wordings, nuggets, strict=True)
        for parent in nugget.provenance.lineage
        if (draft := draft_of(drafts, topic_id, parent)) is not None
    }
    NuggetLineage.objects.bulk_create(lineage.values(), batch_size=ROWS_A_STATEMENT)


def evidence_of(rows: Sequence[NuggetListRow]) -> set[str]:
    return {reference.docid for row in rows for nugget in row.nuggets for reference in nugget.provenance.evidence}


def write_evidence(wordings: Sequence[int], rows: Sequence[NuggetListRow], keys: Mapping[str, int]) -> None:
    """Write what each wording rests on; a segment that is not loaded is named all the same."""
    nuggets = [nugget for row in rows for nugget in row.nuggets]
    evidence = {
        # A file may name the same evidence twice.
        (wording, reference.docid, reference.sentence): NuggetEvidence(
            nugget_version_id=wording, segment_id=keys[reference.docid], sentence=reference.sentence
        )
        for wording, nugget in zip(wordings, nuggets, strict=True)
        for reference in nugget.provenance.evidence
    }
    NuggetEvidence.objects.bulk_create(evidence.values(), batch_size=ROWS_A_STATEMENT)


def _traced_drafts(draft_set: NuggetSet) -> Drafts:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set=draft_set)
    items = ListedNugget.objects.filter(nugget_list__in=lists).order_by("position")
    drafts: Drafts = defaultdict(list)
    fields = ("nugget_list__topic__topic_id", "nugget_version__text", "nugget_version")
    for topic_id, text, wording in items.values_list(*fields):
        drafts[topic_id].append((text, wording))
    return drafts


Listed = list[tuple[str, int, str, str, float | None, dict[str, object]]]


@with_every_problem
def import_nuggets(
    *,
    campaign: Campaign,
    source: Source,
    origin: Origin,
    judge: str,
    kind: JudgeKind | None = None,
    name: str = "",
    drafts: str = "",
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load one set's lists, a topic a line, in nuggetizer's form, as rubrics or as ARGUE's banks.

    The set is named ORIGIN-JUDGE unless `name` gives another. `kind` defaults to a person for edited and manual lists
    and to an LLM for auto and draft lists. Raises `BadInput` for unknown topics and changed lists without `replace`,
    and `Refused` where labels hang on a changed list.
    """
    rows = parse_lists(source)
    made_by = kind or (JudgeKind.HUMAN if origin in (Origin.EDITED, Origin.MANUAL) else JudgeKind.LLM)

    def make_plan(locked: Campaign) -> ImportPlan:
        names = Names([locked], DEFAULT_DB_ALIAS)
        draft_set = _drafts(locked, origin, names.real_set(locked.pk, drafts))
        maker = judge_named(names.real_judge(locked.pk, judge), made_by)
        set_name = check_name("set", names.real_set(locked.pk, name) or f"{origin}-{maker}")
        nugget_set = _set_named(locked, set_name, origin, maker, draft_set)
        return _plan(nugget_set, source, rows, replace)

    return carry_out(campaign=campaign, kind="nuggets", sources=[source], actor=actor, make_plan=make_plan)


def _set_named(
    campaign: Campaign, name: str, origin: Origin, maker: Judge, draft_set: NuggetSet | None
) -> NuggetSet:
    """Return the set of that name, not stored where it is new. Raises `Refused` for another one."""
    nugget_set = campaign.nugget_sets.filter(name=name).first()
    if nugget_set is None:
        return NuggetSet(campaign=campaign, name=name, origin=origin, judge=maker, drafts=draft_set)
    if (nugget_set.origin, nugget_set.judge_id) != (origin, maker.pk):
        raise Refused(
            "nugget_set_differs",
            f"There is a set {name} of {nugget_set.origin} nuggets by {nugget_set.judge}; give this one another name.",
            field="set",
        )
    if draft_set and nugget_set.drafts_id != draft_set.pk:
        raise Refused("nugget_set_differs", f"The set {name} was not made from {draft_set}.")
    return nugget_set


def _drafts(campaign: Campaign, origin: Origin, name: str) -> NuggetSet | None:
    if not name:
        return None
    if origin is not Origin.EDITED:
        raise Refused("usage", "Only edited lists are made from drafts; choose the origin edited.", field="origin")
    draft_set = campaign.nugget_sets.filter(name=name).first()
    if draft_set is None:
        raise no_such("no_such_set", f"nugget set {name}", campaign.nugget_sets.values_list("name", flat=True))
    return draft_set


def _plan(nugget_set: NuggetSet, source: Source, rows: tuple[NuggetListRow, ...], replace: bool) -> ImportPlan:
    topics = dict(nugget_set.campaign.topics.values_list("topic_id", "pk"))
    refuse_unknown_topics(source, ((row.line, row.topic_id) for row in rows), topics, "qid")
    loaded = {
        nugget_list.topic.topic_id: nugget_list
        for nugget_list in _lists(nugget_set).select_related("topic").order_by("version")
    }
    stored = _loaded_lists(nugget_set)
    compared = compare(
        rows,
        lambda row: row.topic_id,
        {topic_id: stored.get(nugget_list.pk, []) for topic_id, nugget_list in loaded.items()},
        lambda row, listed: listed != _listed(row),
        lambda row, listed: _change(source, row, listed),
        replace,
    )
    to_write, old = compared.to_write, [loaded[row.topic_id] for row in compared.changed]

    def check() -> None:
        _refuse_worked_on(old)
        refuse_if_labelled(labels_on_lists(old), "A nugget list")

    drafts = drafts_to_trace(nugget_set, source, to_write)
    listed = [(row.topic_id, place, nugget) for row in to_write for place, nugget in enumerate(row.nuggets)]
    rows_to_write = [
        (new_public_id(), topics[topic_id], nugget.text, topic_id, *_item(place, nugget))
        for topic_id, place, nugget in listed
    ]
    segments = NamedSegments(nugget_set.campaign, evidence_of(to_write))

    def write(event: Event) -> None:
        _store(nugget_set)
        _delete(old)
        lists = _write_lists(nugget_set, topics, to_write, event)
        wordings = _write(nugget_set, lists, rows_to_write)
        write_lineage(wordings, to_write, drafts)
        write_evidence(wordings, to_write, segments.keys(event))

    others = NuggetList.objects.filter(
        nugget_set__in=nugget_set.campaign.nugget_sets.filter(origin=nugget_set.origin)
    )
    there = frozenset(others.filter(submitted=True).values_list("nugget_set__judge__pk", "topic__pk"))
    rows_written = ((source, row.line, row.topic_id) for row in to_write)
    findings = [finding for row in to_write for finding in _findings(nugget_set, source, row)]
    findings += there_by_others(
        nugget_set.campaign, FindingCode.LISTED_BY_OTHERS, nugget_set.judge, there, rows_written
    )
    nuggets = sum(len(row.nuggets) for row in to_write)
    return ImportPlan("nugget lists", *compared.counts, findings, {"nuggets": nuggets}, write, check)


def _change(source: Source, row: NuggetListRow, loaded: Listed) -> InputProblem:
    old, new = ("; ".join(_in_words(nugget) for nugget in listed) for listed in (loaded, _listed(row)))
    return changed_problem(source, row.line, "nuggets", f"topic {row.topic_id}", loaded=old, in_file=new)


def _in_words(listed: tuple[str, int, str, str, float | None, dict[str, object]]) -> str:
    text, importance, raw, _, weight, _ = listed
    words = [importance_word(Importance(importance), raw), "" if weight is None else f"weight {weight:g}"]
    beside = ", ".join(filter(None, words))
    return f"{text} ({beside})" if beside else text


def _refuse_worked_on(lists: list[NuggetList]) -> None:
    """Refuse to replace a list that is somebody's work here, or that work rests on: drafts that were handed out."""
    for nugget_list in lists:
        if (
            Submission.objects.filter(nugget_list=nugget_list).exists()
            or Task.objects.filter(drafts=nugget_list).exists()
        ):
            text = f"The list of {nugget_list.topic} in {nugget_list.nugget_set} is in use at desks."
            raise Refused("worked_on", text)
        if nugget_list.version > 1:
            versions = nugget_list.version
            text = f"The list of {nugget_list.topic} has {versions} versions; give this file's set another name."
            raise Refused("worked_on", text, field="set")


def _listed(row: NuggetListRow) -> Listed:
    return [
        (
            *(nugget.text, nugget.importance, nugget.raw_importance, nugget.group, nugget.weight),
            own_keys(nugget.extra),
        )
        for nugget in row.nuggets
    ]


def _lists(nugget_set: NuggetSet) -> QuerySet[NuggetList]:
    return NuggetList.objects.filter(nugget_set_id=nugget_set.pk or 0)


def _store(nugget_set: NuggetSet) -> None:
    if nugget_set._state.adding:
        nugget_set.judge = stored_judge(nugget_set.judge)
        nugget_set.save()


def _loaded_lists(nugget_set: NuggetSet) -> dict[int, Listed]:
    lists: dict[int, Listed] = {}
    items = ListedNugget.objects.filter(nugget_list__in=_lists(nugget_set)).order_by("nugget_list", "position")
    fields = ("nugget_list", "nugget_version__text", "importance", "raw_importance", "group", "weight", "extra")
    for pk, *listed in items.values_list(*fields):
        lists.setdefault(pk, []).append(tuple(listed))
    return lists


def _findings(nugget_set: NuggetSet, source: Source, row: NuggetListRow) -> list[ImportFinding]:
    findings = []
    seen: set[str] = set()
    for nugget in row.nuggets:
        if _is_dirty(nugget_set, nugget):
            is_not = (
                "vital nor okay: it counts in scores over all nuggets alone"
                if nugget.weight is None
                else "vital (mandatory) nor okay (optional): it counts by its weight, and never as mandatory"
            )
            text = f"importance {nugget.raw_importance!r} of {nugget.text!r} is neither {is_not}"
            findings.append(
                ImportFinding(FindingCode.UNKNOWN_IMPORTANCE, source.name, row.line, text, row.topic_id)
            )
        if nugget.text in seen:
            of_rubric = nugget.weight is not None
            code = FindingCode.REPEATED_CRITERION if of_rubric else FindingCode.REPEATED_NUGGET
            text = f"the {'criterion' if of_rubric else 'nugget'} {nugget.text!r} is there more than once"
            findings.append(ImportFinding(code, source.name, row.line, text, row.topic_id))
        seen.add(nugget.text)
    return findings


def _is_dirty(nugget_set: NuggetSet, nugget: NuggetRecord) -> bool:
    """Drafts and criteria may have no importance; anywhere else an unknown importance is worth a look."""
    unsaid = not nugget.raw_importance and (nugget_set.origin == Origin.DRAFT or nugget.weight is not None)
    return nugget.importance is Importance.UNKNOWN and not unsaid


def _delete(lists: list[NuggetList]) -> None:
    for nugget_list in lists:
        wordings = list(nugget_list.items.values_list("nugget_version", flat=True))
        forget_left_over("wording", nugget_list.items.values("nugget_version"))
        nugget_list.items.all().delete()
        NuggetVersion.objects.filter(pk__in=wordings).delete()
        # A nugget is nothing without a wording.
        Nugget.objects.filter(nugget_set=nugget_list.nugget_set, topic=nugget_list.topic, versions=None).delete()
        Finding.objects.filter(event=nugget_list.event_id, topic_id=nugget_list.topic.topic_id).delete()
        nugget_list.delete()


def _write_lists(
    nugget_set: NuggetSet, topics: dict[str, int], rows: list[NuggetListRow], event: Event
) -> dict[str, int]:
    """Write the lists without their nuggets; return their keys by topic id."""
    lists = [
        NuggetList(
            nugget_set=nugget_set,
            topic_id=topics[row.topic_id],
            query=row.query or "",
            extra=own_keys(row.extra) | ({PROVENANCE_KEY: TRACED} if row.traced else {}),
            line=row.line,
            event=event,
        )
        for row in rows
    ]
    NuggetList.objects.bulk_create(lists, batch_size=ROWS_A_STATEMENT)
    return {row.topic_id: nugget_list.pk for row, nugget_list in zip(rows, lists, strict=True)}


def _write(nugget_set: NuggetSet, lists: Mapping[str, int], rows: Sequence[tuple[Any, ...]]) -> list[int]:
    """Write nuggets, their wordings, and these into the lists; return the wordings' keys in the order of rows."""
    last = last_key(Nugget)
    upsert(
        Nugget,
        ["public_id", "topic_id"],
        (row[:2] for row in rows),
        unique=["public_id"],
        update=["topic_id"],
        fixed={"nugget_set_id": nugget_set.pk},
    )
    nuggets = dict(Nugget.objects.filter(pk__gt=last).values_list("public_id", "pk"))
    last = last_key(NuggetVersion)
    upsert(
        NuggetVersion,
        ["nugget_id", "text"],
        ((nuggets[name], text) for name, _, text, *_ in rows),
        unique=["nugget_id", "number"],
        update=["text"],
        fixed={"number": 1},
    )
    by_nugget = dict(NuggetVersion.objects.filter(pk__gt=last).values_list("nugget", "pk"))
    wordings = [by_nugget[nuggets[name]] for name, *_ in rows]
    upsert(
        ListedNugget,
        [
            "nugget_list_id",
            "nugget_version_id",
            "position",
            "importance",
            "raw_importance",
            "group",
            "weight",
            "extra",
        ],
        ((lists[topic], wording, *item) for wording, (_, _, _, topic, *item) in zip(wordings, rows, strict=True)),
        unique=["nugget_list_id", "position"],
        update=["importance"],
    )
    return wordings


def _item(position: int, row: NuggetRecord) -> tuple[Any, ...]:
    extra = json.dumps(own_keys(row.extra))
    return position, int(row.importance), row.raw_importance, row.group, row.weight, extra
