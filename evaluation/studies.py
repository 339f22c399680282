"""Studies: drawing pairs on which two judges differ, and handing out what any study drew."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.domain.conditions import judges_of, only_judge, only_set
from evaluation.errors import Refused, no_such
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetSet,
    Sentence,
    Study,
    StudyPair,
    SupportJudgment,
    Task,
    Topic,
)
from evaluation.models.querysets import CurrentQuerySet, in_parts_of, number_of
from evaluation.models.studies import MOST_DECOYS, REAL_LABELS
from evaluation.rules.studies import LabelledPair, draw, draw_decoys
from evaluation.rules.text import check_name
from evaluation.tasks.hand_out import (
    HandOutReceipt,
    check_assessor,
    givers_of,
    hand_out_payload,
    make_study_task,
    note_task,
    nothing_handed_out,
)
from evaluation.tasks.plan import roster_of
from evaluation.tasks.units import ASSIGNED, Skipped
from evaluation.terms import JudgeKind, StudyKind, SupportCondition, TaskState
from web.statements import ROWS_A_STATEMENT


@dataclass(frozen=True, slots=True)
class StudyLabels:
    """Tables of the labels of one kind of study."""

    rows: CurrentQuerySet[Assignment] | CurrentQuerySet[SupportJudgment]
    item: tuple[str, str]
    conditions: dict[JudgeKind, dict[str, SupportCondition]] = field(default_factory=dict)

    def of(self, judge: Judge) -> dict[tuple[int, int], int]:
        """Return a judge's current real labels by item, those of the last submission."""
        filters = self.conditions.get(JudgeKind(judge.kind), {})
        # In this order the newest submission overwrites the others.
        rows = self.rows.current().filter(judge=judge, **filters).order_by("submission")
        labels = {(first, other): label for first, other, label in rows.values_list(*self.item, "label")}
        return {item: label for item, label in labels.items() if label in REAL_LABELS}

    def judges(self, kind: JudgeKind) -> QuerySet[Judge]:
        rows = self.rows.current().filter(**self.conditions.get(kind, {})).order_by()
        judges = Judge.objects.filter(kind=kind, aside=False, pk__in=rows.values_list("judge", flat=True))
        return judges.order_by("name")


def labels_between(
    campaign: Campaign, topics: Sequence[Topic], nugget_set: NuggetSet | None, condition: SupportCondition
) -> StudyLabels:
    """Return the labels that count here: of the newest lists, or of each citation, on answers with a word."""
    of_topics = {"topic__in": [topic.pk for topic in topics], "words__gt": 0}
    if nugget_set is None:
        judgments = SupportJudgment.objects.filter(
            **{f"sentence__answer__{name}": value for name, value in of_topics.items()}
        )
        judgments = judgments.filter(sentence__answer__topic__campaign=campaign, segment__has_text=True)
        conditions = {
            JudgeKind.HUMAN: {"condition": condition},
            JudgeKind.LLM: {"condition": SupportCondition.LLM},
        }
        return StudyLabels(judgments, ("sentence", "segment"), conditions)
    assigned = Assignment.objects.filter(**{f"answer__{name}": value for name, value in of_topics.items()})
    return StudyLabels(
        assigned.filter(nugget_version__nugget__nugget_set=nugget_set), ("answer", "nugget_version")
    )


Item = tuple[int, int]
Labels = Mapping[Item, int]


def labelled_by_both(person: Labels, llm: Labels, nugget_set: NuggetSet | None) -> dict[LabelledPair, Item]:
    """Return the pairs with labels of both; their keys are the same in every database."""
    cells = {item: (label, llm[item]) for item, label in person.items() if item in llm}
    keys = _keys_of_citations(cells) if nugget_set is None else _keys_of_nuggets(cells, nugget_set)
    return {LabelledPair(topic, key, cells[item]): item for item, (topic, key) in keys.items()}


Keys = dict[Item, tuple[str, str]]
"""An item's topic id, and its key within the topic."""


def _keys_of_nuggets(items: Collection[Item], nugget_set: NuggetSet) -> Keys:
    """Return the keys of pairs of answer and wording, as far as that wording is in the newest list."""
    lists = NuggetList.objects.newest_submitted().filter(nugget_set=nugget_set)
    listed = ListedNugget.objects.filter(nugget_list__in=lists)
    position = dict(listed.values_list("nugget_version", "position"))
    runs = _runs({answer for answer, _ in items})
    return {
        (answer, wording): (runs[answer].topic.topic_id, f"{runs[answer].run.run_id} {position[wording]}")
        for answer, wording in items
        if wording in position
    }


def _keys_of_citations(items: Collection[Item]) -> Keys:
    fields = ("sentence", "segment", "sentence__answer", "sentence__index", "segment__docid")
    rows = [
        row
        for part in in_parts_of({sentence for sentence, _ in items})
        for row in SupportJudgment.objects.filter(sentence__in=part).order_by().values_list(*fields).distinct()
        if row[:2] in items
    ]
    runs = _runs({answer for _, _, answer, _, _ in rows})
    return {
        (sentence, segment): (runs[answer].topic.topic_id, f"{runs[answer].run.run_id} {index} {docid}")
        for sentence, segment, answer, index, docid in rows
    }


def _runs(answers: set[int]) -> dict[int, AnswerProvenance]:
    runs: dict[int, AnswerProvenance] = {}
    for part in in_parts_of(answers):
        rows = AnswerProvenance.objects.filter(answer__in=part).select_related("run", "topic").defer("references")
        runs |= {row.answer_id: row for row in rows}
    return runs


PER_TOPIC = 15
DECOYS = 25
"""Percent of a topic's pairs: one in four."""
MOST_PER_TOPIC = 1000
LONGEST_NAME = 60
GREATEST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class StudyOrder:
    """Order of a study. `person`, `judge`, `nuggets`: by name, '' for the only set or judge that fits.

    `condition`: under which the person judged support. `topics`: by topic id; none: all.
    """

    name: str
    kind: StudyKind
    person: str = ""
    judge: str = ""
    nuggets: str = ""
    condition: SupportCondition = SupportCondition.SCRATCH
    per_topic: int = PER_TOPIC
    stratified: bool = False
    decoys: int = DECOYS
    seed: int = 0
    topics: tuple[str, ...] = ()


def create_study(*, campaign: Campaign, order: StudyOrder, actor: User | None = None) -> Study:
    """Draw the pairs on which a person and an LLM differ, and decoys; later changes of their labels have no effect.

    Raises `Refused`: a name that is taken, topics, judges or sets that are not there or not the only candidates
    (`ambiguous`), figures out of range, and where nothing differs.
    """
    _check_figures(order)
    with transaction.atomic():
        locked = lock_for_study(campaign, order.name)
        topics = topics_named(locked, order.topics)
        nugget_set = set_to_study(locked, order.nuggets, JudgeKind) if order.kind is StudyKind.ASSIGNMENT else None
        labels = labels_between(locked, topics, nugget_set, order.condition)
        person, llm = (
            judge_to_study(labels.judges(kind), kind, name)
            for kind, name in ((JudgeKind.HUMAN, order.person), (JudgeKind.LLM, order.judge))
        )
        item_of = labelled_by_both(labels.of(person), labels.of(llm), nugget_set)
        disputed, agreed = ([pair for pair in item_of if pair.is_disputed is so] for so in (True, False))
        drawn = draw(disputed, order.per_topic, seed=order.seed, stratified=order.stratified)
        if not drawn:
            raise Refused("no_disagreement", f"{person} and {llm} differ on no pair here: nothing was drawn.")
        decoys = draw_decoys(agreed, drawn, order.decoys, seed=order.seed)
        event = Event.objects.create(
            campaign=locked,
            kind="study.created",
            actor=actor,
            payload=_payload(order, person, llm, nugget_set)
            | {"pairs": len(drawn), "of": len(disputed), "agreed": len(decoys)},
        )
        study = Study.objects.create(
            campaign=locked,
            name=order.name,
            kind=order.kind,
            person=person,
            judge=llm,
            nugget_set=nugget_set,
            condition="" if nugget_set else order.condition,
            per_topic=order.per_topic,
            stratified=order.stratified,
            decoys=order.decoys,
            seed=order.seed,
            event=event,
        )
        add_pairs(study, {item_of[pair]: pair.cell for pair in sorted([*drawn, *decoys], key=_place)})
        return study


def _place(pair: LabelledPair) -> tuple[str, str]:
    # Decoys stand among the others, so that no row's number tells them.
    return pair.topic, pair.key


ITEM = {StudyKind.ASSIGNMENT: ("answer", "nugget_version"), StudyKind.SUPPORT: ("sentence", "segment")}
NO_LABELS = None, None


def add_pairs(study: Study, labels: Mapping[Item, tuple[int | None, int | None]]) -> None:
    """Store pairs to judge, each with the two labels on which it was drawn, if any."""
    answers = answers_of(study, labels)
    topics: dict[int, int] = {}
    for part in in_parts_of(set(answers)):
        topics |= dict(AnswerProvenance.objects.filter(answer__in=part).values_list("answer", "topic__pk"))
    pairs = [
        StudyPair(
            study=study,
            topic_id=topics[answer],
            **{"answer_id": answer} | item_fields(study, item),
            person_label=person_label,
            judge_label=judge_label,
        )
        for answer, (item, (person_label, judge_label)) in zip(answers, labels.items(), strict=True)
    ]
    StudyPair.objects.bulk_create(pairs, batch_size=ROWS_A_STATEMENT)


def item_fields(study: Study, item: Item) -> dict[str, int]:
    return {f"{name}_id": key for name, key in zip(ITEM[StudyKind(study.kind)], item, strict=True)}


def answers_of(study: Study, items: Iterable[Item]) -> list[int]:
    if study.kind == StudyKind.ASSIGNMENT:
        return [answer for answer, _ in items]
    sentences = [sentence for sentence, _ in items]
    answers: dict[int, int] = {}
    for part in in_parts_of(set(sentences)):
        answers |= dict(Sentence.objects.filter(pk__in=part).values_list("pk", "answer"))
    return [answers[sentence] for sentence in sentences]


def study_named(campaign: Campaign, name: str) -> Study:
    """Return a campaign's study. Raises `Refused` with the names that exist."""
    studies = Study.objects.filter(campaign=campaign)
    study = studies.filter(name=name).select_related("campaign", "person", "judge", "nugget_set__judge").first()
    if study is None:
        there = studies.order_by("name").values_list("name", flat=True)
        raise no_such("no_such_study", f"study {name} in {campaign.slug}", there)
    return study


def hand_out_study(
    *,
    study: Study,
    assessor: str,
    actor: User,
    topics: Sequence[str] = (),
    due: date | None = None,
    priority: int = 0,
) -> HandOutReceipt:
    """Hand a study's pairs to somebody independent, a task a topic; the topics that they may not have are left out.

    `topics`: by public id; none: all of the study's. Raises `Refused` where that leaves nothing.
    """
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=study.campaign_id)
        drawn = topics_of_study(study)
        study_topics = list(drawn.filter(public_id__in=topics) if topics else drawn)
        if not study_topics or (topics and len(study_topics) != len(set(topics))):
            raise Refused("no_such_topic", "Choose topics of this study, at least one.")
        roster_of(study.campaign, []).assessor(assessor)
        tasks: list[Task] = []
        skipped: list[Skipped] = []
        for topic in study_topics:
            try:
                tasks.append(make_study_task(study, topic, assessor, due=due, priority=priority))
            except Refused as refused:
                skipped.append(Skipped.of(topic, refused.message))
        if not tasks:
            raise nothing_handed_out(skipped)
        for task in tasks:
            note_task("task.handed_out", task, actor, hand_out_payload(task))
        return HandOutReceipt(tuple(task.public_id for task in tasks), tuple(skipped))


def refused_assessors(study: Study, people: Iterable[User]) -> dict[str, str]:
    """Return the refusals, by user name, of those only who may have none of a study's topics."""
    topics = list(topics_of_study(study))
    roster, givers = roster_of(study.campaign, topics), givers_of(topics)
    refusals: dict[str, str] = {}
    for person in people:
        refusal = ""
        for topic in topics:
            try:
                check_assessor(study, topic, person, roster, givers)
                refusal = ""
                break
            except Refused as refused:
                refusal = refusal or refused.message
        if refusal:
            refusals[person.username] = refusal
    return refusals


def lock_for_study(campaign: Campaign, name: str) -> Campaign:
    """Lock a campaign in which a study of that name can be made. Raises `Refused` for any other name."""
    check_name("study", name)
    if len(name) > LONGEST_NAME:
        raise Refused("bad_name", f"The name of a study has at most {LONGEST_NAME} characters.")
    # Two studies of the same name would both find it free.
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if Study.objects.filter(campaign=locked, name=name).exists():
        raise Refused("name_taken", f"There is a study {name} already.")
    return locked


def _check_figures(order: StudyOrder) -> None:
    if not 1 <= order.per_topic <= MOST_PER_TOPIC:
        raise Refused("usage", f"Pairs per topic: from 1 to {MOST_PER_TOPIC}.")
    if not 0 <= order.decoys <= MOST_DECOYS:
        raise Refused("usage", f"Decoys: from 0 to {MOST_DECOYS} percent of a topic's pairs.")
    if not 0 <= order.seed <= GREATEST_SEED:
        raise Refused("usage", f"A seed is a number from 0 to {GREATEST_SEED}.")
    if order.kind is StudyKind.SUPPORT and order.condition is SupportCondition.LLM:
        raise Refused("usage", "The person's condition is scratch or post-edit.")


def topics_named(campaign: Campaign, names: Sequence[str]) -> list[Topic]:
    topics = list(campaign.topics.filter(topic_id__in=names) if names else campaign.topics.all())
    unknown = sorted(set(names) - {topic.topic_id for topic in topics})
    if unknown:
        raise Refused("no_such_topic", f"There is no topic {', '.join(unknown)} in {campaign.slug}.")
    return topics


LACKING = {JudgeKind.HUMAN: "No person has such labels here", JudgeKind.LLM: "No LLM has such labels here"}
FIELDS = {JudgeKind.HUMAN: "person", JudgeKind.LLM: "judge"}
A_STUDY = "a study"


def set_to_study(campaign: Campaign, name: str, kinds: Iterable[JudgeKind]) -> NuggetSet:
    """Return the named set, or the only set with labels of these kinds of judges. Raises `Refused`."""
    sets = list(campaign.nugget_sets.filter(origin__in=ASSIGNED))
    fitting = [nugget_set for nugget_set in sets if nugget_set.name == name] if name else sets
    if len(fitting) > 1:
        fitting = [
            nugget_set for nugget_set in sets if all(judges_of(nugget_set, kind=kind).exists() for kind in kinds)
        ]
    the_set = only_set(fitting, A_STUDY)
    if the_set:
        return the_set
    meant = f"nugget set {name}" if name else "nugget set with such labels"
    raise no_such("no_such_set", meant, (nugget_set.name for nugget_set in sets))


def judge_to_study(judges: QuerySet[Judge], kind: JudgeKind, name: str) -> Judge:
    """Return the judge of that name among those who have labels, or the only one. Raises `Refused`."""
    there = list(judges)
    the_judge = only_judge([judge for judge in there if name in ("", judge.name)], A_STUDY, FIELDS[kind])
    if the_judge:
        return the_judge
    names = ", ".join(judge.name for judge in there) or "none"
    text = f"{name} has no such labels here" if name else LACKING[kind]
    raise Refused("no_such_judge", f"{text}; there are: {names}.")


def _payload(order: StudyOrder, person: Judge, llm: Judge, nugget_set: NuggetSet | None) -> dict[str, object]:
    return {
        "study": order.name,
        "kind": order.kind,
        "person": person.pk,
        "judge": llm.name,
        "nuggets": nugget_set.pk if nugget_set else None,
        "condition": None if nugget_set else order.condition,
        "per_topic": order.per_topic,
        "stratified": order.stratified,
        "decoys": order.decoys,
        "seed": order.seed,
        "topics": list(order.topics),
    }


def studies_for(viewer: User, campaign: Campaign) -> QuerySet[Any]:
    """Return the studies of a campaign, the newest first, with the numbers of what was drawn and handed out."""
    pairs = StudyPair.objects.filter(study=OuterRef("pk"))
    tasks = Task.objects.filter(study=OuterRef("pk")).not_withdrawn()
    return _studies(viewer, campaign).annotate(
        pairs_drawn=number_of(pairs.counted()),
        topics_drawn=number_of(pairs, "topic"),
        decoys_drawn=number_of(pairs.decoys()),
        tasks=number_of(tasks),
        submitted=number_of(tasks.filter(state=TaskState.SUBMITTED)),
    )


def study_for(viewer: User, campaign: Campaign, pk: int) -> Study:
    return _studies(viewer, campaign).get(pk=pk)


def _studies(viewer: User, campaign: Campaign) -> QuerySet[Study]:
    studies = Study.objects.filter(campaign__in=within(viewer, campaign))
    return studies.select_related("campaign", "person", "judge", "nugget_set__judge")


def tasks_of_study(study: Study) -> list[Task]:
    tasks = Task.objects.filter(study=study).not_withdrawn()
    related = ("topic", "assessor", "protocol", "nugget_set", "judge", "study")
    return list(tasks.select_related(*related).order_by("topic__position", "pk"))


def topics_of_study(study: Study) -> QuerySet[Topic]:
    return Topic.objects.filter(pk__in=StudyPair.objects.filter(study=study).values("topic"))
