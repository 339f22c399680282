"""The kinds of items: how each becomes a step, and how its outcome becomes labels.

Labels of kinds whose name begins with `try_` go where no report reads.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db.models import Value
from django.db.models.functions import Coalesce, NullIf
from django.utils import timezone

from evaluation.imports.assignments import answer_objects, answer_texts
from evaluation.labelling import (
    GivenNugget,
    ensure_nugget_set,
    give_assignments,
    give_grades,
    give_nugget_list,
    give_support,
    give_verdicts,
)
from evaluation.labels import BattleLabel
from evaluation.models import (
    Answer,
    Assignment,
    Event,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetVersion,
    Qrel,
    Segment,
    Sentence,
    SupportJudgment,
    Topic,
    Verdict,
)
from evaluation.rules.markdown import in_lines
from evaluation.terms import Importance, Origin, SupportCondition
from jobs import queue
from jobs.models import WorkItem
from llmjobs.job_plan import assign_items, rubrics_name, unjudged
from llmjobs.models import Call, LlmJob, NuggetCalls, TriedLabels
from llmjobs.prompt_store import PromptSet
from llmjobs.prompts.template import TOPIC_TEXTS, TopicTexts
from llmjobs.steps.asking import Ask, LlmReply
from llmjobs.steps.assign import assign
from llmjobs.steps.nuggetize import (
    DraftsInput,
    ImportanceInput,
    ListNugget,
    NuggetizeInput,
    importance,
    nuggetize,
    over_generated_drafts,
)
from llmjobs.steps.single import PassageLimit, battle, relevance, rubric, support

Stepping = Generator[Ask, LlmReply, Any]

FAILED = -1
"""Code of a tried label without a usable reply, where the labels themselves have no code for that."""

LANGUAGE = Coalesce(NullIf("language", Value("")), "campaign__language")

WEIGHED = [Importance.OKAY, Importance.VITAL]
"""In the order of their codes on trial: okay is 0, vital 1."""

RUBRIC_WEIGHTS = {Importance.VITAL: 5, Importance.OKAY: 2, Importance.UNKNOWN: 0}
ADDED_WEIGHT = 2
FACTS = "facts"
"""Group of the criteria that come from nuggets. One of unknown importance counts nothing until somebody weighs it."""


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """An item whose step came to its end, with the calls it used in the order of its asks.

    Every outcome has `failure`, why something is missing, and `notes`.
    """

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


@dataclass(frozen=True, slots=True)
class JobItemKind:
    """One kind of items.

    `begin` reads what items need, in a constant number of queries, and yields a fresh step for each; it is given how
    each item's judge asks. `record` writes outcomes, in the transaction that ends their items.
    """

    begin: Callable[[Sequence[WorkItem], Sequence[PromptSet]], Iterator[Stepping]]
    record: Callable[[Sequence[ItemOutcome]], None]


@dataclass(frozen=True, slots=True)
class TopicPrompt:
    """A topic's texts for prompts: its title, and the other texts."""

    query: str
    texts: TopicTexts
    language: str


def topic_prompts(topics: Iterable[int]) -> dict[int, TopicPrompt]:
    rows = (
        Topic.objects.filter(pk__in=topics).annotate(lang=LANGUAGE).values_list("pk", "text", "lang", *TOPIC_TEXTS)
    )
    return {pk: TopicPrompt(text, TopicTexts(*texts), language) for pk, text, language, *texts in rows}


def _by_judge(outcomes: Iterable[ItemOutcome]) -> Iterable[tuple[Judge, list[ItemOutcome]]]:
    ordered = sorted(outcomes, key=attrgetter("llm.judge_id"))
    for _, group in groupby(ordered, key=attrgetter("llm.judge_id")):
        same = list(group)
        yield same[0].llm.judge, same


def _ids(items: Iterable[WorkItem], key: str) -> set[int]:
    values = [item.payload[key] for item in items]
    return {pk for value in values for pk in (value if isinstance(value, list) else [value])}


def _segment_texts(items: Iterable[WorkItem], key: str) -> dict[int, str]:
    return dict(Segment.objects.filter(pk__in=_ids(items, key)).values_list("pk", "text"))


def _nugget_texts(items: Iterable[WorkItem]) -> dict[int, str]:
    return dict(NuggetVersion.objects.filter(pk__in=_ids(items, "nuggets")).values_list("pk", "text"))


def _criteria(items: Iterable[WorkItem]) -> set[int]:
    """Wordings of items that have a weight in a list."""
    weighed = ListedNugget.objects.filter(nugget_version__in=_ids(items, "nuggets"), weight__isnull=False)
    return set(weighed.values_list("nugget_version", flat=True))


def begin_assigning(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[Stepping]:
    """Items name an `answer` and its `nuggets`, wordings in list order: criteria where they have weights."""
    answers = _ids(items, "answer")
    texts, nuggets, criteria = answer_texts(sorted(answers)), _nugget_texts(items), _criteria(items)
    topic_of = dict(Answer.objects.filter(pk__in=answers).values_list("pk", "topic__pk"))
    topics = topic_prompts(set(topic_of.values()))
    for item, prompt_set in zip(items, prompt_sets, strict=True):
        answer, topic = item.payload["answer"], topics[topic_of[item.payload["answer"]]]
        yield assign(
            topic.query,
            texts[answer],
            tuple(nuggets[pk] for pk in item.payload["nuggets"]),
            batch_size=len(item.payload["nuggets"]),
            template=prompt_set.template(
                "assign", topic.texts, variant=not criteria.isdisjoint(item.payload["nuggets"])
            ),
            texts=topic.texts,
        )


def record_assigning(outcomes: Sequence[ItemOutcome]) -> None:
    for judge, same in _by_judge(outcomes):
        labels = [
            Assignment(
                answer_id=ended.item.payload["answer"],
                nugget_version_id=wording,
                label=nugget.label,
                event=ended.event(nugget.ask),
            )
            for ended in same
            for wording, nugget in zip(ended.item.payload["nuggets"], ended.outcome.labels, strict=True)
            # Without an ask the label was given by rule: the answer has no word, and no call is behind it.
            if nugget.ask is not None
        ]
        give_assignments(judge, labels)


def begin_grading(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[Stepping]:
    """Items name a `topic`, a `segment`, the `top` of the scale and the `source` their grades go to."""
    topics, segments = topic_prompts(_ids(items, "topic")), _segment_texts(items, "segment")
    for item, prompt_set in zip(items, prompt_sets, strict=True):
        topic = topics[item.payload["topic"]]
        yield relevance(
            topic.query,
            segments[item.payload["segment"]],
            top=item.payload["top"],
            template=prompt_set.template("relevance", topic.texts),
            texts=topic.texts,
            limit=PassageLimit(prompt_set.passage_words, topic.language),
        )


def record_grading(outcomes: Sequence[ItemOutcome]) -> None:
    """Write the grades; an item without a grade is failed, and never 0."""
    for ended in outcomes:
        payload, outcome = ended.item.payload, ended.outcome
        if outcome.grade is not None:
            about = {"topic_id": payload["topic"], "segment_id": payload["segment"]}
            grade = Qrel(**about, grade=outcome.grade, event=ended.event(outcome.ask))
            give_grades(ended.llm.campaign, payload["source"], [grade])


def _draft_inputs(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[DraftsInput]:
    topics, segments = topic_prompts(_ids(items, "topic")), _segment_texts(items, "segments")
    for item, prompt_set in zip(items, prompt_sets, strict=True):
        topic = topics[item.payload["topic"]]
        yield DraftsInput(
            query=topic.query,
            segments=tuple(segments[pk] for pk in item.payload["segments"]),
            window_size=item.payload["window_size"],
            draft_cap=item.payload["draft_cap"],
            template=prompt_set.template("nuggetize", topic.texts),
            texts=topic.texts,
        )


def begin_drafting(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[Stepping]:
    """Items name a `topic` and its `segments` in reading order."""
    yield from map(over_generated_drafts, _draft_inputs(items, prompt_sets))


def record_drafting(outcomes: Sequence[ItemOutcome]) -> None:
    for ended in outcomes:
        if not ended.outcome.failure:
            _write_list(ended, Origin.DRAFT, ended.outcome.drafts)


def begin_nuggetizing(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[Stepping]:
    """As drafts, with importance; `then_runs` names runs whose answers are assigned as soon as the list is there."""
    for item, drafts, prompt_set in zip(items, _draft_inputs(items, prompt_sets), prompt_sets, strict=True):
        payload, template = item.payload, prompt_set.template("importance", drafts.texts)
        yield nuggetize(NuggetizeInput(drafts, payload["nugget_cap"], payload["batch_size"], template))


def record_nuggetizing(outcomes: Sequence[ItemOutcome]) -> None:
    for ended in outcomes:
        if ended.outcome.failure and not ended.outcome.nuggets:
            continue
        nugget_list, payload = _write_list(ended, Origin.AUTO, ended.outcome.nuggets), ended.item.payload
        if payload.get("then_runs") is not None:
            items = assign_items([nugget_list], payload["then_runs"], payload["batch_size"])
            # Another job may have labelled some of these meanwhile.
            queue.add_items(ended.item.job, unjudged(items, ended.llm.judge).items)


def _write_list(ended: ItemOutcome, origin: Origin, nuggets: Sequence[ListNugget]) -> NuggetList:
    """Write a topic's list; where another job was first, return its list."""
    topic = Topic.objects.get(pk=ended.item.payload["topic"])
    nugget_set = ensure_nugget_set(ended.llm.campaign, ended.llm.judge, origin)
    items = [GivenNugget(nugget.text, nugget.importance) for nugget in nuggets]
    written = give_nugget_list(nugget_set, topic, items, ended.event(nuggets[-1].text_ask))
    if written is None:
        return NuggetList.objects.filter(nugget_set=nugget_set, topic=topic).latest("version")
    listed = ListedNugget.objects.filter(nugget_list=written).order_by("position")
    NuggetCalls.objects.bulk_create(
        NuggetCalls(
            listed=row,
            worded=ended.uses[nugget.text_ask][1],
            weighed=None if nugget.importance_ask is None else ended.uses[nugget.importance_ask][1],
        )
        for row, nugget in zip(listed, nuggets, strict=True)
    )
    return written


def begin_completing(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[Stepping]:
    """Items name a `topic` and its nugget `list`, which a rubric is made from."""
    topics, listed = topic_prompts(_ids(items, "topic")), _listed_texts(items)
    for item, prompt_set in zip(items, prompt_sets, strict=True):
        topic, nuggets = topics[item.payload["topic"]], tuple(listed[item.payload["list"]])
        template = prompt_set.template("rubric", topic.texts)
        yield rubric(topic.query, nuggets, template, topic.texts)


def _listed_texts(items: Iterable[WorkItem]) -> dict[int, list[str]]:
    """Nuggets of the lists that items name, in list order."""
    texts = dict[int, list[str]]()
    lists = {item.payload["list"] for item in items if "list" in item.payload}
    listed = ListedNugget.objects.filter(nugget_list__in=lists).order_by("position")
    for nugget_list, text in listed.values_list("nugget_list", "nugget_version__text"):
        texts.setdefault(nugget_list, []).append(text)
    return texts


def record_completing(outcomes: Sequence[ItemOutcome]) -> None:
    for ended in outcomes:
        if not ended.outcome.failure:
            _write_rubric(ended)


def _write_rubric(ended: ItemOutcome) -> None:
    """Write a topic's draft rubric: its nuggets by importance, then the new criteria; one that is there is kept."""
    llm, outcome = ended.llm, ended.outcome
    listed = ListedNugget.objects.filter(nugget_list=ended.item.payload["list"]).order_by("position")
    criteria = [
        GivenNugget(row.nugget_version.text, importance, RUBRIC_WEIGHTS[importance], FACTS)
        for row in listed.select_related("nugget_version")
        for importance in [Importance(row.importance)]
    ]
    nuggets = len(criteria)
    criteria += [GivenNugget(new.text, weight=ADDED_WEIGHT, group=new.kind) for new in outcome.criteria]
    drafts = ensure_nugget_set(llm.campaign, llm.judge, Origin.DRAFT, rubrics_name(llm.judge))
    topic = Topic.objects.get(pk=ended.item.payload["topic"])
    written = give_nugget_list(drafts, topic, criteria, ended.event(outcome.ask))
    if written:
        added = ListedNugget.objects.filter(nugget_list=written, position__gte=nuggets)
        worded = ended.uses[outcome.ask][1]
        NuggetCalls.objects.bulk_create(NuggetCalls(listed=row, worded=worded) for row in added)


def begin_supporting(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[Stepping]:
    """Items name a `sentence` and a `segment`."""
    rows = Sentence.objects.filter(pk__in=_ids(items, "sentence"))
    sentences = dict(rows.values_list("pk", "text"))
    topic_of = dict(rows.values_list("pk", "answer__topic__pk"))
    segments, topics = _segment_texts(items, "segment"), topic_prompts(set(topic_of.values()))
    for item, prompt_set in zip(items, prompt_sets, strict=True):
        sentence, passage = item.payload["sentence"], segments[item.payload["segment"]]
        limit = PassageLimit(prompt_set.passage_words, topics[topic_of[sentence]].language)
        yield support(sentences[sentence], passage, prompt_set.of_passage("support", passage), limit)


def record_supporting(outcomes: Sequence[ItemOutcome]) -> None:
    for judge, same in _by_judge(outcomes):
        labels = [
            SupportJudgment(
                judge=judge,
                condition=SupportCondition.LLM,
                sentence_id=ended.item.payload["sentence"],
                segment_id=ended.item.payload["segment"],
                label=ended.outcome.label,
                evidence=ended.outcome.evidence,
                quote=ended.outcome.quote,
                given_at=timezone.now(),
                event=ended.event(ended.outcome.ask),
            )
            for ended in same
        ]
        give_support(labels)


def begin_comparing(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[Stepping]:
    """Items name a `topic`, a `battle`, its answers on the `left` and the `right`, and perhaps a nugget `list`."""
    topics, listed = topic_prompts(_ids(items, "topic")), _listed_texts(items)
    answers = answer_objects(sorted(_ids(items, "left") | _ids(items, "right")))
    for item, prompt_set in zip(items, prompt_sets, strict=True):
        topic, nuggets = topics[item.payload["topic"]], listed.get(item.payload.get("list", 0), [])
        yield battle(
            topic.query,
            *(in_lines(answers[item.payload[side]]) for side in ("left", "right")),
            nuggets=nuggets,
            template=prompt_set.template("battle", topic.texts, variant=bool(nuggets)),
            texts=topic.texts,
        )


def record_comparing(outcomes: Sequence[ItemOutcome]) -> None:
    for judge, same in _by_judge(outcomes):
        verdicts = [
            Verdict(
                battle_id=ended.item.payload["battle"],
                left_id=ended.item.payload["left"],
                label=ended.outcome.label,
                event=ended.event(ended.outcome.ask),
            )
            for ended in same
        ]
        give_verdicts(judge, verdicts)


def begin_weighing(items: Sequence[WorkItem], prompt_sets: Sequence[PromptSet]) -> Iterator[Stepping]:
    """Items name a `topic` and `nuggets`, wordings in list order. AutoNuggets weighs the nuggets of a list so."""
    topics, nuggets = topic_prompts(_ids(items, "topic")), _nugget_texts(items)
    for item, prompt_set in zip(items, prompt_sets, strict=True):
        topic = topics[item.payload["topic"]]
        yield importance(
            ImportanceInput(
                query=topic.query,
                nuggets=tuple(nuggets[pk] for pk in item.payload["nuggets"]),
                batch_size=len(item.payload["nuggets"]),
                template=prompt_set.template("importance", topic.texts),
                texts=topic.texts,
            )
        )


def _keeping(codes: Callable[[Any], list[int]]) -> Callable[[Sequence[ItemOutcome]], None]:
    """Record of a trial: the codes of an outcome, in the order of its pairs."""

    def record(outcomes: Sequence[ItemOutcome]) -> None:
        TriedLabels.objects.bulk_create(
            [TriedLabels(item=ended.item, labels=codes(ended.outcome)) for ended in outcomes],
            # A retried item has labels already.
            update_conflicts=True,
            unique_fields=["item"],
            update_fields=["labels"],
        )

    return record


def _weights(outcome: Any) -> list[int]:
    return [FAILED if value is Importance.UNKNOWN else WEIGHED.index(value) for value in outcome.importances]


WINNERS = ("right", "tie or both bad", "left")
"""By code, of verdicts on trial."""


def winner_code(label: int) -> int:
    """Code of a verdict on trial, in which two bad answers are a tie, as they are in points."""
    codes = {BattleLabel.RIGHT: 0, BattleLabel.TIE: 1, BattleLabel.BAD: 1, BattleLabel.LEFT: 2}
    return codes.get(BattleLabel(label), FAILED)


ITEM_KINDS: dict[str, JobItemKind] = {
    "assign": JobItemKind(begin_assigning, record_assigning),
    "nuggets": JobItemKind(begin_nuggetizing, record_nuggetizing),
    "drafts": JobItemKind(begin_drafting, record_drafting),
    "rubric": JobItemKind(begin_completing, record_completing),
    "support": JobItemKind(begin_supporting, record_supporting),
    "relevance": JobItemKind(begin_grading, record_grading),
    "battle": JobItemKind(begin_comparing, record_comparing),
    "try_assign": JobItemKind(
        begin_assigning, _keeping(lambda outcome: [int(nugget.label) for nugget in outcome.labels])
    ),
    "try_support": JobItemKind(begin_supporting, _keeping(lambda outcome: [int(outcome.label)])),
    "try_importance": JobItemKind(begin_weighing, _keeping(_weights)),
    "try_battle": JobItemKind(begin_comparing, _keeping(lambda outcome: [winner_code(outcome.label)])),
    "try_relevance": JobItemKind(
        begin_grading, _keeping(lambda outcome: [FAILED if outcome.grade is None else outcome.grade])
    ),
}
