"""The kinds of items: how each becomes a step, and how its outcome becomes labels."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from evaluation.imports.assignments import answer_texts
from evaluation.labelling import (
    GivenAssignment,
    GivenGrade,
    GivenSupport,
    ensure_nugget_set,
    give_assignments,
    give_grades,
    give_nugget_list,
    give_support,
)
from evaluation.models import (
    Answer,
    Event,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetVersion,
    Segment,
    Sentence,
    Topic,
)
from evaluation.terms import Importance, Origin, SupportCondition
from jobs import queue
from jobs.models import WorkItem
from llmjobs.job_plan import assign_items, unjudged
from llmjobs.models import Call, LlmJob, NuggetCalls, TriedLabels
from llmjobs.prompt_store import PromptSet
from llmjobs.prompts.template import TOPIC_TEXTS, TopicTexts
from llmjobs.steps.asking import Ask, LlmReply, Note
from llmjobs.steps.assign import AssignInput, assign
from llmjobs.steps.nuggetize import (
    DraftsInput,
    ImportanceInput,
    ListNugget,
    NuggetizeInput,
    importance,
    nuggetize,
    over_generated_drafts,
)
from llmjobs.steps.single import RelevanceInput, SupportInput, relevance, support
from llmjobs.trial_drawing import WEIGHED

Stepping = Generator[Ask, LlmReply, Any]


class Outcome(Protocol):
    """Outcome of every step: why something is missing, and findings."""

    @property
    def failure(self) -> str: ...

    @property
    def notes(self) -> tuple[Note, ...]: ...


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """An item whose step came to its end, with the calls it used in the order of its asks."""

    item: WorkItem
    llm: LlmJob
    outcome: Any
    uses: tuple[tuple[str, Call], ...]

    def event(self, ask: int) -> Event:
        """Event of the call that answered an ask, counted from 0."""
        event = self.uses[ask][1].event
        if event is None:
            raise RuntimeError(f"call {self.uses[ask][1].sha256} ended without an event")
        return event


class JobItemKind(Protocol):
    """One kind of items."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        """Read what the items need, in a constant number of queries, and return a fresh step for each.

        `ways`: for each item, how its judge asks.
        """
        ...

    def record(self, ended: Sequence[ItemOutcome]) -> None: ...


def by_judge(ended: Iterable[ItemOutcome]) -> Iterable[tuple[Judge, list[ItemOutcome]]]:
    ordered = sorted(ended, key=lambda one: one.llm.judge_id)
    for _, some in groupby(ordered, key=lambda one: one.llm.judge_id):
        group = list(some)
        yield group[0].llm.judge, group


def ids_of(items: Iterable[WorkItem], key: str) -> list[int]:
    return [int(item.payload[key]) for item in items]


@dataclass(frozen=True, slots=True)
class TopicPrompt:
    """A topic's texts for prompts: its title, and the other ones."""

    query: str
    texts: TopicTexts


def topic_prompts(topics: Iterable[int]) -> dict[int, TopicPrompt]:
    rows = Topic.objects.filter(pk__in=topics).values_list("pk", "text", *TOPIC_TEXTS)
    return {pk: TopicPrompt(text, TopicTexts(*texts)) for pk, text, *texts in rows}


def texts_in_order(texts: Mapping[int, str], pks: Iterable[int]) -> tuple[str, ...]:
    return tuple(texts[pk] for pk in pks)


class Assigning:
    """Items name an `answer` and its `nuggets`, wordings in list order."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        answers = ids_of(items, "answer")
        texts = answer_texts(answers)
        topic_of = dict(Answer.objects.filter(pk__in=answers).values_list("pk", "topic__pk"))
        topics = topic_prompts(set(topic_of.values()))
        prompt_of = {answer: topics[topic] for answer, topic in topic_of.items()}
        wordings = {pk for item in items for pk in item.payload["nuggets"]}
        nuggets = dict(NuggetVersion.objects.filter(pk__in=wordings).values_list("pk", "text"))
        return [
            assign(
                AssignInput(
                    query=prompt_of[item.payload["answer"]].query,
                    answer=texts[item.payload["answer"]],
                    nuggets=texts_in_order(nuggets, item.payload["nuggets"]),
                    batch_size=len(item.payload["nuggets"]),
                    template=way.template("assign", prompt_of[item.payload["answer"]].texts),
                    texts=prompt_of[item.payload["answer"]].texts,
                )
            )
            for item, way in zip(items, ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        """Write a label per nugget, with the event of its call."""
        for judge, some in by_judge(ended):
            give_assignments(judge, [label for one in some for label in _labels(one)])


def _labels(one: ItemOutcome) -> list[GivenAssignment]:
    return [
        GivenAssignment(one.item.payload["answer"], wording, given.label, "", one.event(given.ask))
        for wording, given in zip(one.item.payload["nuggets"], one.outcome.labels, strict=True)
        if given.ask is not None
    ]


class Grading:
    """Items name a `topic`, a `segment`, the `top` of the scale and the `source` their grades go to."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        topics = topic_prompts(ids_of(items, "topic"))
        segments = dict(Segment.objects.filter(pk__in=ids_of(items, "segment")).values_list("pk", "text"))
        return [
            relevance(
                RelevanceInput(
                    query=topics[item.payload["topic"]].query,
                    passage=segments[item.payload["segment"]],
                    top=item.payload["top"],
                    template=way.template("relevance", topics[item.payload["topic"]].texts),
                    texts=topics[item.payload["topic"]].texts,
                )
            )
            for item, way in zip(items, ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        """Write the grades; an item without one is failed, and never 0."""
        for one in ended:
            if one.outcome.grade is not None:
                payload = one.item.payload
                grade = GivenGrade(
                    payload["topic"], payload["segment"], one.outcome.grade, one.event(one.outcome.ask)
                )
                give_grades(one.llm.campaign, payload["source"], [grade])


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


class Supporting:
    """Items name a `sentence` and a `segment`."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        sentences = dict(Sentence.objects.filter(pk__in=ids_of(items, "sentence")).values_list("pk", "text"))
        segments = dict(Segment.objects.filter(pk__in=ids_of(items, "segment")).values_list("pk", "text"))
        return [
            support(
                SupportInput(
                    statement=sentences[item.payload["sentence"]],
                    passage=segments[item.payload["segment"]],
                    template=way.templates["support"],
                )
            )
            for item, way in zip(items, ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        for judge, some in by_judge(ended):
            give_support(judge, SupportCondition.LLM, [_label(one) for one in some])


def _label(one: ItemOutcome) -> GivenSupport:
    payload, outcome = one.item.payload, one.outcome
    return GivenSupport(payload["sentence"], payload["segment"], outcome.label, "", one.event(outcome.ask))


FAILED = -1
"""The code of what has no usable reply, where the labels themselves have none for it."""


class TryingAssign(Assigning):
    """As assigning."""

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        _keep((one, [int(given.label) for given in one.outcome.labels]) for one in ended)


class TryingSupport(Supporting):
    """As supporting."""

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        _keep((one, [int(one.outcome.label)]) for one in ended)


class TryingImportance:
    """As AutoNuggets asks how much nuggets matter. Items name a `topic` and `nuggets`, wordings in list order."""

    def begin(self, items: Sequence[WorkItem], ways: Sequence[PromptSet]) -> list[Stepping]:
        topics = topic_prompts(ids_of(items, "topic"))
        wordings = {pk for item in items for pk in item.payload["nuggets"]}
        nuggets = dict(NuggetVersion.objects.filter(pk__in=wordings).values_list("pk", "text"))
        return [
            importance(
                ImportanceInput(
                    query=topics[item.payload["topic"]].query,
                    nuggets=texts_in_order(nuggets, item.payload["nuggets"]),
                    batch_size=len(item.payload["nuggets"]),
                    template=way.template("importance", topics[item.payload["topic"]].texts),
                    texts=topics[item.payload["topic"]].texts,
                )
            )
            for item, way in zip(items, ways, strict=True)
        ]

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        _keep((one, [_weight(value) for value in one.outcome.importances]) for one in ended)


class TryingRelevance(Grading):
    """As grading."""

    def record(self, ended: Sequence[ItemOutcome]) -> None:
        _keep((one, [FAILED if one.outcome.grade is None else one.outcome.grade]) for one in ended)


def _weight(value: Importance) -> int:
    return FAILED if value is Importance.UNKNOWN else WEIGHED.index(value)


def _keep(rows: Iterable[tuple[ItemOutcome, list[int]]]) -> None:
    TriedLabels.objects.bulk_create(
        [TriedLabels(item=one.item, labels=labels) for one, labels in rows],
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["labels"],
    )


KINDS: dict[str, JobItemKind] = {
    "assign": Assigning(),
    "nuggets": Nuggetizing(),
    "drafts": Drafting(),
    "support": Supporting(),
    "relevance": Grading(),
    "try_assign": TryingAssign(),
    "try_support": TryingSupport(),
    "try_importance": TryingImportance(),
    "try_relevance": TryingRelevance(),
}
