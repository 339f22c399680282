"""Automatic lists taken as drafts, for people to edit."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import User
from evaluation.domain.conditions import set_of_origin
from evaluation.errors import Refused
from evaluation.labelling import ensure_nugget_set, touch
from evaluation.models import (
    Campaign,
    Event,
    ListedNugget,
    Nugget,
    NuggetEvidence,
    NuggetList,
    NuggetSet,
    NuggetVersion,
)
from evaluation.terms import Origin
from llmjobs.models import NuggetCalls
from web.statements import ROWS_A_STATEMENT
from web.text import plural


@dataclass(frozen=True, slots=True)
class TakenDrafts:
    """Result of taking drafts into a set. `kept`: topics whose earlier drafts stay."""

    drafts: NuggetSet
    taken: int
    kept: int

    def __str__(self) -> str:
        text = f"{self.taken:,} {plural(self.taken, 'list')} taken as drafts into {self.drafts}."
        topics = (
            f"{self.kept:,} {plural(self.kept, 'topic')} had drafts and {plural(self.kept, 'keeps', 'keep')} them."
        )
        return f"{text} {topics}" if self.kept else text


def sets_to_take(campaign: Campaign) -> list[NuggetSet]:
    """Automatic sets with lists of topics for which their judge has no drafts."""
    sets = campaign.nugget_sets.filter(origin=Origin.AUTO).select_related("judge").order_by("name")
    return [nugget_set for nugget_set in sets if _lists_to_take(nugget_set).exists()]


def take_drafts(*, campaign: Campaign, nuggets: str, actor: User | None) -> TakenDrafts:
    """Copy the newest lists of an automatic set as drafts of its judge; a topic with drafts keeps them.

    `nuggets`: the set; empty: the only automatic one. Raises `Refused` (`no_such_set`, `ambiguous`).
    """
    with transaction.atomic():
        # Locked, so that the same taken twice at once makes no second copy.
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        automatic = set_of_origin(locked, Origin.AUTO, nuggets, "nuggets")
        lists = list(_lists_to_take(automatic))
        kept = NuggetList.objects.newest_submitted().filter(nugget_set=automatic).count() - len(lists)
        if not lists:
            # No set is made for nothing: a second one would have to be chosen from wherever drafts are named.
            drafts = (
                locked.nugget_sets.filter(origin=Origin.DRAFT, judge=automatic.judge_id).order_by("pk").first()
            )
            if drafts is None:
                raise Refused("no_such_set", f"{automatic} has no lists.", field="nuggets")
            return TakenDrafts(drafts, 0, kept)
        drafts = ensure_nugget_set(locked, automatic.judge, Origin.DRAFT)
        _copy(lists, drafts)
        payload = {"nuggets": automatic.name, "drafts": drafts.name, "lists": len(lists)}
        Event.objects.create(campaign=locked, kind="drafts.taken", actor=actor, payload=payload)
        touch(locked.pk)
    return TakenDrafts(drafts, len(lists), kept)


def _lists_to_take(automatic: NuggetSet) -> QuerySet[NuggetList]:
    drafts = NuggetList.objects.filter(
        nugget_set__campaign=automatic.campaign_id,
        nugget_set__origin=Origin.DRAFT,
        nugget_set__judge=automatic.judge_id,
        topic=OuterRef("topic"),
    )
    return NuggetList.objects.newest_submitted().filter(~Exists(drafts), nugget_set=automatic).order_by("pk")


def _copy(lists: Sequence[NuggetList], drafts: NuggetSet) -> None:
    """Copy lists with what is behind them: the event, and the calls and passages of each nugget."""
    copies = [
        # The event of the original: a draft comes from the same reply or file.
        NuggetList(
            nugget_set=drafts, topic_id=row.topic_id, query=row.query, extra=row.extra, event_id=row.event_id
        )
        for row in lists
    ]
    NuggetList.objects.bulk_create(copies, batch_size=ROWS_A_STATEMENT)
    copy_of = {row.pk: copy for row, copy in zip(lists, copies, strict=True)}
    listed = list(ListedNugget.objects.filter(nugget_list__in=lists).select_related("nugget_version"))
    nuggets = [Nugget(nugget_set=drafts, topic_id=copy_of[item.nugget_list_id].topic_id) for item in listed]
    Nugget.objects.bulk_create(nuggets, batch_size=ROWS_A_STATEMENT)
    wordings = [
        NuggetVersion(nugget=nugget, text=item.nugget_version.text)
        for nugget, item in zip(nuggets, listed, strict=True)
    ]
    NuggetVersion.objects.bulk_create(wordings, batch_size=ROWS_A_STATEMENT)
    items = [
        ListedNugget(
            nugget_list=copy_of[item.nugget_list_id],
            nugget_version=wording,
            position=item.position,
            importance=item.importance,
            raw_importance=item.raw_importance,
            group=item.group,
            extra=item.extra,
            weight=item.weight,
        )
        for wording, item in zip(wordings, listed, strict=True)
    ]
    ListedNugget.objects.bulk_create(items, batch_size=ROWS_A_STATEMENT)
    _copy_grounds(lists, listed, items)


def _copy_grounds(
    lists: Sequence[NuggetList], listed: Sequence[ListedNugget], copies: Sequence[ListedNugget]
) -> None:
    copy_of = {item.pk: copy for item, copy in zip(listed, copies, strict=True)}
    calls = NuggetCalls.objects.filter(listed__nugget_list__in=lists)
    NuggetCalls.objects.bulk_create(
        (
            NuggetCalls(listed=copy_of[row.listed_id], worded_id=row.worded_id, weighed_id=row.weighed_id)
            for row in calls
        ),
        batch_size=ROWS_A_STATEMENT,
    )
    wording_of = {
        item.nugget_version_id: copy.nugget_version_id for item, copy in zip(listed, copies, strict=True)
    }
    originals = ListedNugget.objects.filter(nugget_list__in=lists).values("nugget_version")
    evidence = NuggetEvidence.objects.filter(nugget_version__in=originals)
    NuggetEvidence.objects.bulk_create(
        (
            NuggetEvidence(
                nugget_version_id=wording_of[row.nugget_version_id],
                segment_id=row.segment_id,
                sentence=row.sentence,
            )
            for row in evidence
        ),
        batch_size=ROWS_A_STATEMENT,
    )
