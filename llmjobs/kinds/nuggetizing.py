"""AutoNuggets and drafts: one topic an item."""

from collections.abc import Sequence

from evaluation.models import ListedNugget, NuggetList, Segment, Topic
from evaluation.services.labelling import ensure_nugget_set, give_nugget_list
from evaluation.terms import Importance, Origin
from jobs import queue
from jobs.models import WorkItem
from llmjobs.kinds.base import ItemOutcome, Stepping, ids_of, texts_in_order, topic_prompts
from llmjobs.models import Call, NuggetCalls
from llmjobs.planning import assign_items, unjudged
from llmjobs.steps.nuggetize import DraftsInput, ListNugget, NuggetizeInput, nuggetize, over_generated_drafts
from llmjobs.ways import PromptSet


def _inputs(items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[DraftsInput]:
    topics = topic_prompts(ids_of(items, "topic"))
    wanted = {pk for item in items for pk in item.payload["segments"]}
    segments = dict(Segment.objects.filter(pk__in=wanted).values_list("pk", "text"))
    return [
        DraftsInput(
            query=topics[item.payload["topic"]].query,
            segments=texts_in_order(segments, item.payload["segments"]),
            window_size=item.payload["window_size"],
            draft_cap=item.payload["draft_cap"],
            template=way.template("nuggetize", topics[item.payload["topic"]].texts),
            texts=topics[item.payload["topic"]].texts,
        )
        for item, way in zip(items, ways, strict=True)
    ]


class Drafting:
    """Items name a `topic` and its `segments` in reading order."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        return [over_generated_drafts(one) for one in _inputs(items, ways)]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        for one in ended:
            drafts = [ListNugget(draft.text, Importance.UNKNOWN, draft.ask, None) for draft in one.outcome.drafts]
            if not one.outcome.failure:
                _write(one, Origin.DRAFT, drafts)


class Nuggetizing:
    """As drafts, with importance; `then_runs` names runs whose answers are assigned as soon as the list is there."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        return [
            nuggetize(
                NuggetizeInput(
                    one,
                    nugget_cap=item.payload["nugget_cap"],
                    batch_size=item.payload["batch_size"],
                    template=way.template("importance", one.texts),
                )
            )
            for item, one, way in zip(items, _inputs(items, ways), ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        for one in ended:
            if one.outcome.failure and not one.outcome.nuggets:
                continue
            nugget_list = _write(one, Origin.AUTO, one.outcome.nuggets)
            if one.item.payload.get("then_runs") is not None:
                _assign_next(one, nugget_list)


def _assign_next(one: ItemOutcome, nugget_list: NuggetList) -> None:
    # Another job may have labelled some meanwhile: those are left out.
    items = assign_items([nugget_list], one.item.payload["then_runs"], one.item.payload["batch_size"])
    queue.add_items(one.item.job, unjudged(items, one.llm.judge).items)


def _write(one: ItemOutcome, origin: Origin, nuggets: Sequence[ListNugget]) -> NuggetList:
    """Write a topic's list; where another job was first, return its list."""
    topic = Topic.objects.get(pk=one.item.payload["topic"])
    nugget_set = ensure_nugget_set(one.llm.campaign, one.llm.judge, origin)
    texts = [(nugget.text, nugget.importance) for nugget in nuggets]
    written = give_nugget_list(nugget_set, topic, texts, one.event(nuggets[-1].text_ask))
    if written is None:
        return NuggetList.objects.filter(nugget_set=nugget_set, topic=topic).latest("version")
    listed = ListedNugget.objects.filter(nugget_list=written).order_by("position")
    NuggetCalls.objects.bulk_create(
        NuggetCalls(listed=row, worded=_call(one, nugget.text_ask), weighed=_call(one, nugget.importance_ask))
        for row, nugget in zip(listed, nuggets, strict=True)
    )
    return written


def _call(one: ItemOutcome, ask: int | None) -> Call | None:
    return None if ask is None else one.uses[ask][1]
