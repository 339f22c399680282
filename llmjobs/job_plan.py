"""Items of a job: judged ones are left out, and those that cannot be judged are named."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from evaluation.domain.counted_pairs import first_different, sentences_with_candidates
from evaluation.domain.shares import Topics
from evaluation.labels import AssignmentLabel, BattleLabel, SupportLabel
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Battle,
    BattleSet,
    Campaign,
    Citation,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetSet,
    Qrel,
    QrelSource,
    Segment,
    Study,
    StudyPair,
    SupportJudgment,
    Topic,
    Verdict,
)
from evaluation.rules.battles import DrawnBattle, Orders, in_both_orders
from evaluation.terms import StudyKind, SupportCondition
from jobs.queue import NewItem
from llmjobs.engine.calls import next_replicates
from llmjobs.steps.asking import spans


@dataclass(slots=True)
class JobPlan:
    """Items to queue; topics that are blocked, with the reason; and how much was left out because it is done.

    `retried` counts the items that ask anew for what failed before, `labelled` the labels of nuggets that are there.
    """

    items: list[NewItem] = field(default_factory=list)
    blocked: dict[str, str] = field(default_factory=dict)
    without_text: int = 0
    judged: int = 0
    retried: int = 0
    labelled: int = 0

    @property
    def topics(self) -> set[int]:
        keys: dict[str, set[int]] = {"topic": set(), "answer": set(), "sentence": set()}
        for item in self.items:
            about = next(key for key in keys if key in item.payload)
            keys[about].add(item.payload[about])
        topics = Topic.objects.filter(Q(answers__in=keys["answer"]) | Q(answers__sentences__in=keys["sentence"]))
        return keys["topic"] | set(topics.values_list("pk", flat=True))


def assign_items(lists: Iterable[NuggetList], runs: Sequence[int], batch_size: int) -> list[NewItem]:
    # Answers without a word are labelled by rule, so they cost no call.
    items: list[NewItem] = []
    for nugget_list in lists:
        wordings = list(nugget_list.items.order_by("position").values_list("nugget_version", flat=True))
        answers = AnswerProvenance.objects.filter(topic=nugget_list.topic, run__in=runs, answer__words__gt=0)
        for answer in answers.order_by("run__run_id", "sample").values_list("answer", flat=True):
            items += _batches(answer, wordings, batch_size)
    return items


def _batches(answer: int, wordings: list[int], size: int) -> list[NewItem]:
    return [_batch(answer, wordings[start:end]) for start, end in spans(len(wordings), size)]


def _batch(answer: int, wordings: list[int], replicate: int = 0) -> NewItem:
    key = f"answer {answer}, nuggets {wordings[0]}-{wordings[-1]}"
    return NewItem(key, "assign", {"answer": answer, "nuggets": wordings} | _as_replicate(replicate))


def _as_replicate(replicate: int) -> dict[str, int]:
    return {"replicate": replicate} if replicate else {}


def unjudged(items: Sequence[NewItem], judge: Judge) -> JobPlan:
    """Leave out batches that a judge has labelled; of failed batches only the failed nuggets are asked again."""
    answers = {item.payload["answer"] for item in items}
    topics = Topic.objects.filter(answers__in=answers)
    labels = Assignment.objects.current().filter(judge=judge.pk, answer__topic__in=topics)
    there, failed = _tried(labels, AssignmentLabel.FAILED, "answer", "nugget_version")
    plan = JobPlan()
    for item in items:
        answer, wordings = item.payload["answer"], item.payload["nuggets"]
        left = [wording for wording in wordings if (answer, wording) not in there]
        replicates = [failed[answer, wording] for wording in left if (answer, wording) in failed]
        if replicates:
            plan.items.append(_batch(answer, left, max(replicates)))
        elif left:
            plan.items.append(item)
        plan.retried += bool(replicates)
        plan.judged += not left
        plan.labelled += len(wordings) - len(left)
    return plan


Pairs = set[tuple[int, int]]


def _tried(labels: QuerySet[Any], failed: int, *pair: str) -> tuple[Pairs, dict[tuple[int, int], int]]:
    """Pairs of these columns that have a usable label, and failed pairs with their next replicate."""
    rows = list(labels.filter(label=failed).values_list(*pair, "event"))
    replicates = next_replicates({event for _, _, event in rows})
    return (
        set(labels.exclude(label=failed).values_list(*pair)),
        {(one, other): replicates.get(event, 0) for one, other, event in rows},
    )


def nugget_items(
    campaign: Campaign,
    topics: Iterable[Topic],
    source: QrelSource,
    kind: str,
    then_runs: list[int] | None = None,
) -> JobPlan:
    """Return an item per topic with the segments its nuggets are made from.

    In the order (grade desc, docid); segments without text are skipped and counted, and a topic left with none is
    blocked and named.
    """
    plan, protocol = JobPlan(), campaign.protocol
    topics = list(topics)
    graded = Qrel.objects.filter(source=source, topic__in=topics, grade__gte=protocol.grade_threshold)
    by_topic: dict[int, list[int]] = {topic.pk: [] for topic in topics}
    ordered = graded.order_by("-grade", "segment__docid").values_list("topic__pk", "segment", "segment__has_text")
    for about, segment, has_text in ordered:
        plan.without_text += not has_text
        if has_text:
            by_topic[about].append(segment)
    for topic in topics:
        segments = by_topic[topic.pk]
        if not segments:
            plan.blocked[topic.topic_id] = (
                f"no passage with text that {source.name} grades {protocol.grade_threshold} or more"
            )
            continue
        payload = {
            "topic": topic.pk,
            "segments": segments,
            "window_size": protocol.window_size,
            "draft_cap": protocol.draft_cap,
            "nugget_cap": protocol.nugget_cap,
            "batch_size": protocol.batch_size,
            "then_runs": then_runs,
        }
        plan.items.append(NewItem(f"topic {topic.topic_id}", kind, payload))
    return plan


def rubrics_name(judge: Judge) -> str:
    return f"rubric-{judge.name}"


def rubric_items(nugget_set: NuggetSet, topics: Sequence[Topic]) -> JobPlan:
    """Return an item per topic with a list of nuggets; a topic without, or with a rubric already, is blocked."""
    plan, lists = JobPlan(), newest_lists([(nugget_set, None)], [topic.pk for topic in topics])
    weighed = ListedNugget.objects.filter(nugget_list__in=lists.values(), weight__isnull=False)
    rubrics = set(weighed.values_list("nugget_list", flat=True))
    for topic in topics:
        nugget_list = lists.get(topic.pk)
        if nugget_list is None:
            plan.blocked[topic.topic_id] = f"no list in {nugget_set.name}"
        elif nugget_list.pk in rubrics:
            plan.blocked[topic.topic_id] = f"its list in {nugget_set.name} is a rubric already"
        else:
            payload = {"topic": topic.pk, "list": nugget_list.pk}
            plan.items.append(NewItem(f"topic {topic.topic_id}", "rubric", payload))
    return plan


def newest_lists(sets: Iterable[tuple[NuggetSet, Topics]], topics: Collection[int]) -> dict[int, NuggetList]:
    parts = Q(pk__in=())
    for made, inside in sets:
        parts |= Q(nugget_set=made) if inside is None else Q(nugget_set=made, topic__in=inside)
    lists = {row.topic_id: row for row in NuggetList.objects.newest_submitted().filter(parts, topic__in=topics)}
    # The database returns rows in any order; a job asks topic by topic, in the campaign's order.
    return {topic: lists[topic] for topic in topics if topic in lists}


def support_items(campaign: Campaign, judge: Judge, topics: Collection[int], runs: Collection[int]) -> JobPlan:
    """Items of the counted pairs whose segment has a text and that the judge has no usable label for."""
    plan = JobPlan()
    there, failed = _supported(campaign, judge)
    answers = AnswerProvenance.objects.filter(run__in=runs, topic__in=topics).values("answer")
    citations = Citation.objects.filter(sentence__answer__in=answers).order_by("sentence", "position")
    rows = citations.values_list("sentence", "segment", "segment__has_text")
    with_candidates = set(sentences_with_candidates().filter(answer__in=answers).values_list("pk", flat=True))
    for sentence, segment, has_text in first_different(rows, campaign.protocol.first_citations, with_candidates):
        if segment is None:
            continue  # it points nowhere, yet it has taken one of the places that count
        plan.without_text += not has_text
        plan.judged += (sentence, segment) in there
        if has_text and (sentence, segment) not in there:
            _add_pair(plan, sentence, segment, failed)
    return plan


def _add_pair(plan: JobPlan, sentence: int, segment: int, failed: Mapping[tuple[int, int], int]) -> None:
    payload = {"sentence": sentence, "segment": segment} | _as_replicate(failed.get((sentence, segment), 0))
    plan.items.append(NewItem(f"sentence {sentence}, segment {segment}", "support", payload))
    plan.retried += (sentence, segment) in failed


def drawn_items(study: Study, judge: Judge, topics: Collection[int]) -> JobPlan:
    """Items for the pairs of a study that its judge has not labelled, those of an answer in one batch.

    Decoys are for people: no call is paid for one.
    """
    drawn = StudyPair.objects.counted().filter(study=study, topic__in=topics).order_by("pk")
    if study.kind == StudyKind.ASSIGNMENT:
        wordings: dict[int, list[int]] = {}
        for answer, wording in drawn.values_list("answer", "nugget_version"):
            wordings.setdefault(answer, []).append(wording)
        size = study.campaign.protocol.batch_size
        batches = [batch for answer, nuggets in wordings.items() for batch in _batches(answer, nuggets, size)]
        return unjudged(batches, judge)
    plan = JobPlan()
    there, failed = _supported(study.campaign, judge)
    for sentence, segment in drawn.values_list("sentence", "segment"):
        if (sentence, segment) in there:
            plan.judged += 1
        else:
            _add_pair(plan, sentence, segment, failed)
    return plan


def _supported(campaign: Campaign, judge: Judge) -> tuple[Pairs, dict[tuple[int, int], int]]:
    labels = SupportJudgment.objects.current().filter(
        judge=judge.pk, condition=SupportCondition.LLM, sentence__answer__topic__campaign=campaign
    )
    return _tried(labels, SupportLabel.FAILED, "sentence", "segment")


def relevance_items(campaign: Campaign, source: str, topics: Iterable[Topic]) -> JobPlan:
    """Items of segments that are cited or graded by another source, but not by this source."""
    plan = JobPlan()
    for topic in topics:
        graded = Qrel.objects.filter(topic=topic, source__name=source).values("segment")
        cited = Citation.objects.filter(sentence__answer__topic=topic).values("segment")
        others = Qrel.objects.filter(topic=topic).exclude(source__name=source).values("segment")
        about = Segment.objects.filter(Q(pk__in=cited) | Q(pk__in=others), campaign=campaign)
        plan.judged += graded.count()
        for segment, has_text in about.exclude(pk__in=graded).order_by("docid").values_list("pk", "has_text"):
            plan.without_text += not has_text
            if has_text:
                top = campaign.protocol.relevance_max
                payload = {"topic": topic.pk, "segment": segment, "top": top, "source": source}
                plan.items.append(NewItem(f"topic {topic.pk}, segment {segment}", "relevance", payload))
    return plan


def battle_items(
    battle_set: BattleSet,
    judge: Judge,
    topics: Sequence[Topic],
    orders: Orders,
    nugget_set: NuggetSet | None = None,
) -> JobPlan:
    """Items of the battles that a judge has no usable verdict on, those with the sides changed last.

    A battle with an empty answer is not asked about, and with nuggets a topic without a list is blocked.
    """
    plan, about = JobPlan(), {topic.pk: topic.topic_id for topic in topics}
    lists = newest_lists([(nugget_set, None)], about) if nugget_set else {}
    verdicts = Verdict.objects.current().filter(judge=judge.pk, battle__battle_set=battle_set)
    # A battle has two verdicts, one of each order: the answer on the left says which.
    there, failed = _tried(verdicts, BattleLabel.FAILED, "battle", "left")
    for battle, left, right in _in_orders(battle_set, orders, there | failed.keys()):
        if battle.topic_id not in about:
            continue
        if (battle.pk, left) in there:
            plan.judged += 1
        elif nugget_set and battle.topic_id not in lists:
            plan.blocked[about[battle.topic_id]] = f"no list in {nugget_set.name}"
        else:
            payload = {"topic": battle.topic_id, "battle": battle.pk, "left": left, "right": right}
            payload |= {"list": lists[battle.topic_id].pk} if nugget_set else {}
            payload |= _as_replicate(failed.get((battle.pk, left), 0))
            plan.items.append(NewItem(f"battle {battle.pk}, answer {left} on the left", "battle", payload))
            plan.retried += (battle.pk, left) in failed
    return plan


def _in_orders(battle_set: BattleSet, orders: Orders, there: Pairs) -> Iterator[tuple[Battle, int, int]]:
    """Battles of two answers with words, as drawn and then with the sides changed; the answers left and right."""
    runs = AnswerProvenance.objects.filter(run__campaign=battle_set.campaign_id)
    run_of = dict(runs.values_list("answer", "run__run_id"))
    rows = battle_set.battles.filter(left__words__gt=0, right__words__gt=0).select_related("topic").order_by("pk")
    drawn = {
        row: DrawnBattle(row.topic.topic_id, run_of[row.left_id], run_of[row.right_id], row.round) for row in rows
    }
    again = {battle for row, battle in drawn.items() if (row.pk, row.right_id) in there}
    twice = in_both_orders(battle_set.seed, drawn.values(), orders, again)
    yield from ((row, row.left_id, row.right_id) for row in drawn)
    yield from ((row, row.right_id, row.left_id) for row, battle in drawn.items() if battle in twice)
