"""Lineage of edited lists, as it was recorded when they were made or imported.

A list made at a desk has lineage, also where all of it was added and every draft rejected; an imported list has it
where its file said so. Of other lists nothing is known, which is not the same as nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from evaluation.models import ListedNugget, NuggetLineage, NuggetList, NuggetSet, Submission
from evaluation.terms import PROVENANCE_KEY, Importance

TRACED = {"lineage": "recorded"}
"""What an imported list carries of its file's own provenance: that its nuggets' lineage was in it."""

Relations = Mapping[int, Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class Wording:
    pk: int
    text: str
    importance: Importance


@dataclass(frozen=True, slots=True)
class Derivation:
    """A topic's edited list beside its drafts. `parents`: for each nugget the places of the drafts it comes from.

    `relations` says how, empty for an added nugget. Both are None where no lineage was recorded.
    """

    topic: int
    drafts: tuple[Wording, ...]
    nuggets: tuple[Wording, ...]
    parents: tuple[tuple[int, ...], ...] | None
    relations: tuple[str, ...] | None


def derivations(edited: NuggetSet, draft_set: NuggetSet) -> list[Derivation]:
    """Return each topic's newest submitted list in `edited` beside its drafts, for topics that have drafts."""
    newest = _newest(edited)
    used = _drafts_used(list(newest.values()), draft_set)
    drafts = _newest(draft_set)
    # The drafts that were handed out; of an imported list the newest drafts of its topic.
    pairs = {topic: (used.get(pk) or drafts.get(topic), pk) for topic, pk in newest.items()}
    with_drafts = {topic: (draft, pk) for topic, (draft, pk) in pairs.items() if draft is not None}
    wordings = _wordings([pk for pair in with_drafts.values() for pk in pair])
    traced = used.keys() | (_traced(edited) if edited.drafts_id == draft_set.pk else set())
    relations = _relations(edited)
    return [
        _derivation(topic, wordings[draft], wordings[pk], relations if pk in traced else None)
        for topic, (draft, pk) in with_drafts.items()
    ]


def derivation_of(submission: Submission) -> Derivation | None:
    """Return one submitted list beside the drafts it was made from; None for one written by hand."""
    task = submission.task
    if task.drafts_id is None:
        return None
    frozen = submission.frozen_list.pk
    wordings = _wordings([task.drafts_id, frozen])
    return _derivation(task.topic_id, wordings[task.drafts_id], wordings[frozen], _relations(task.nuggets))


def is_traced(nugget_list: NuggetList) -> bool:
    return _is_traced(nugget_list.extra) or Submission.objects.filter(nugget_list=nugget_list).exists()


def _derivation(
    topic: int, drafts: tuple[Wording, ...], nuggets: tuple[Wording, ...], relations: Relations | None
) -> Derivation:
    if relations is None:
        return Derivation(topic, drafts, nuggets, None, None)
    places = {draft.pk: place for place, draft in enumerate(drafts)}
    ancestors = [_ancestors(nugget.pk, places, relations) for nugget in nuggets]
    parents = tuple(tuple(sorted(places[draft] for draft in each)) for each in ancestors)
    identifiers = tuple(next(iter(each.values()), "") for each in ancestors)
    return Derivation(topic, drafts, nuggets, parents, identifiers)


def _ancestors(child: int, drafts: Collection[int], relations: Relations) -> dict[int, str]:
    """Return the drafts that a wording comes from and how, through other wordings where need be."""
    ancestors: dict[int, str] = {}
    seen, waiting = {child}, [(child, "")]
    while waiting:
        here, first = waiting.pop()
        for parent, relation in relations.get(here, {}).items():
            if parent in drafts:
                ancestors.setdefault(parent, first or relation)
            elif parent not in seen:
                seen.add(parent)
                waiting.append((parent, first or relation))
    return ancestors


def _newest(nugget_set: NuggetSet) -> dict[int, int]:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set=nugget_set).order_by("pk")
    return dict(lists.values_list("topic__pk", "pk"))


def _drafts_used(lists: list[int], draft_set: NuggetSet) -> dict[int, int]:
    """Return the list of drafts that each list made at a desk was made from."""
    submissions = Submission.objects.filter(nugget_list__in=lists, task__drafts__nugget_set=draft_set)
    return {pk: drafts for pk, drafts in submissions.values_list("nugget_list", "task__drafts") if drafts}


def _traced(edited: NuggetSet) -> set[int]:
    lists = NuggetList.objects.filter(nugget_set=edited, submitted=True)
    return {pk for pk, extra in lists.values_list("pk", "extra") if _is_traced(extra)}


def _is_traced(extra: Mapping[str, object]) -> bool:
    return extra.get(PROVENANCE_KEY) == TRACED


def _wordings(lists: Collection[int]) -> dict[int, tuple[Wording, ...]]:
    wordings: dict[int, list[Wording]] = defaultdict(list)
    items = ListedNugget.objects.filter(nugget_list__in=lists).order_by("nugget_list", "position")
    rows = items.values_list("nugget_list", "nugget_version", "nugget_version__text", "importance")
    for row, pk, text, importance in rows:
        wordings[row].append(Wording(pk, text, Importance(importance)))
    return {nugget_list: tuple(wordings[nugget_list]) for nugget_list in lists}


def _relations(nugget_set: NuggetSet) -> Relations:
    relations: dict[int, dict[int, str]] = defaultdict(dict)
    rows = NuggetLineage.objects.filter(child__nugget__nugget_set=nugget_set).order_by("pk")
    for child, parent, relation in rows.values_list("child", "parent", "relation"):
        relations[child][parent] = relation
    return relations
