"""Where nugget lists, nuggets and grades come from: the calls or the import behind them. For organizers."""

from dataclasses import dataclass

from accounts.models import User
from evaluation.models import Campaign, Event, Judge, ListedNugget, NuggetList, Qrel
from evaluation.queries.campaigns import within
from jobs.models import WorkItem
from llmjobs.models import Call, CallUse, NuggetCalls
from llmjobs.provenance import ImportedFile, ShownCall, call_behind, files_of, shown_call

LIST_KINDS = ("nuggets", "drafts")


@dataclass(frozen=True, slots=True)
class MadeNugget:
    """A nugget of a list, and the uses of the calls that first had its words and that said its importance."""

    listed: ListedNugget
    worded: CallUse | None
    weighed: CallUse | None


@dataclass(frozen=True, slots=True)
class MadeList:
    """A nugget list, and all the calls that made it, in the order of their asking: none where it was loaded."""

    nugget_list: NuggetList
    nuggets: tuple[MadeNugget, ...]
    uses: tuple[CallUse, ...]

    @property
    def files(self) -> list[ImportedFile]:
        return files_of(self.nugget_list.event)

    @property
    def models(self) -> set[str]:
        return {use.call.model_answered for use in self.uses}


@dataclass(frozen=True, slots=True)
class ShownNuggetOrigin:
    """A nugget of a list, with the call that first had its words and the one that said its importance."""

    listed: ListedNugget
    worded: ShownCall | None
    weighed: ShownCall | None

    @property
    def event(self) -> Event | None:
        return self.listed.nugget_list.event

    @property
    def files(self) -> list[ImportedFile]:
        return files_of(self.event)


@dataclass(frozen=True, slots=True)
class ShownGradeOrigin:
    """A relevance grade and the call that gave it."""

    qrel: Qrel
    judge: Judge | None
    call: ShownCall | None

    @property
    def files(self) -> list[ImportedFile]:
        return files_of(self.qrel.event)


def list_for(viewer: User, campaign: Campaign, pk: int) -> NuggetList:
    lists = NuggetList.objects.filter(nugget_set__campaign__in=within(viewer, campaign), submitted=True)
    return lists.select_related("nugget_set__judge", "topic", "event__actor").get(pk=pk)


def making_of(viewer: User, campaign: Campaign, nugget_list: NuggetList) -> MadeList:
    """Calls and nuggets of a list, in a constant number of queries."""
    listed = list(nugget_list.items.select_related("nugget_version").order_by("position"))
    uses = _uses_behind(viewer, campaign, nugget_list)
    by_call = {use.call_id: use for use in uses}
    rests = {row.listed_id: row for row in NuggetCalls.objects.filter(listed__in=listed)}
    return MadeList(
        nugget_list,
        tuple(
            MadeNugget(
                one,
                by_call.get(rests[one.pk].worded_id) if one.pk in rests else None,
                by_call.get(rests[one.pk].weighed_id or 0) if one.pk in rests else None,
            )
            for one in listed
        ),
        tuple(uses),
    )


def _uses_behind(viewer: User, campaign: Campaign, nugget_list: NuggetList) -> list[CallUse]:
    # Another item that came to the same list used the same calls, so the first is enough.
    if nugget_list.event is None:
        return []
    made = WorkItem.objects.filter(
        job__llm__campaign__in=within(viewer, campaign),
        kind__in=LIST_KINDS,
        payload__topic=nugget_list.topic_id,
        call_uses__call__event=nugget_list.event,
    )
    item = made.order_by("pk").first()
    uses = CallUse.objects.filter(item=item).select_related("call").order_by("number") if item else ()
    return list(uses)


def nugget_for(viewer: User, campaign: Campaign, pk: int) -> ShownNuggetOrigin:
    lists = NuggetList.objects.filter(nugget_set__campaign__in=within(viewer, campaign), submitted=True)
    rows = ListedNugget.objects.filter(nugget_list__in=lists).select_related(
        "nugget_version", "nugget_list__topic", "nugget_list__nugget_set__judge", "nugget_list__event__actor"
    )
    listed = rows.get(pk=pk)
    rests = NuggetCalls.objects.filter(listed=listed).select_related("worded", "weighed").first()
    if rests is None:
        return ShownNuggetOrigin(listed, call_behind(viewer, campaign, listed.nugget_list.event), None)
    weighed = shown_call(viewer, campaign, rests.weighed) if rests.weighed else None
    return ShownNuggetOrigin(listed, shown_call(viewer, campaign, rests.worded), weighed)


def grade_for(viewer: User, campaign: Campaign, pk: int) -> ShownGradeOrigin:
    rows = Qrel.objects.filter(source__campaign__in=within(viewer, campaign))
    qrel = rows.select_related("source", "topic", "segment", "event__actor").get(pk=pk)
    call = call_behind(viewer, campaign, qrel.event)
    return ShownGradeOrigin(qrel, call.uses[0].item.job.llm.judge if call and call.uses else None, call)


def call_for(viewer: User, campaign: Campaign, pk: int) -> ShownCall:
    uses = CallUse.objects.filter(call__id=pk, item__job__llm__campaign__in=within(viewer, campaign))
    return shown_call(viewer, campaign, Call.objects.filter(pk__in=uses.values("call")).get())
