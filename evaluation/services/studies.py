"""Disagreement studies: drawing the pairs once, and handing them out to be judged again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.db import transaction

from accounts.models import User
from evaluation.domain.conditions import judges_of, only_judge, only_set
from evaluation.errors import Refused
from evaluation.models import (
    Campaign,
    Event,
    Judge,
    NuggetSet,
    Study,
    StudyPair,
    Task,
    Topic,
)
from evaluation.services.handing_out import HandOutReceipt, hand_out_payload, note_task
from evaluation.services.names import check_name
from evaluation.services.pieces import ASSIGNED, Skipped
from evaluation.services.study_pairs import Labels, differing, drawn_from, labels_between
from evaluation.services.study_tasks import assessor_of, make_study_task
from evaluation.services.work_plan import roster_of
from evaluation.terms import JudgeKind, StudyKind, SupportCondition

PER_TOPIC = 15
MOST_PER_TOPIC = 1000
LONGEST_NAME = 60
GREATEST_SEED = 2**31 - 1
BATCH = 500


@dataclass(frozen=True, slots=True)
class StudyWish:
    """What a study is to compare. `person`, `machine`, `nuggets`: by name, '' for the only ones that fit.

    `condition`: under which the person judged support. `topics`: by topic id; none: all.
    """

    name: str
    kind: StudyKind
    person: str = ""
    machine: str = ""
    nuggets: str = ""
    condition: SupportCondition = SupportCondition.SCRATCH
    per_topic: int = PER_TOPIC
    stratified: bool = False
    seed: int = 0
    topics: tuple[str, ...] = ()


def create_study(*, campaign: Campaign, wish: StudyWish, actor: User | None = None) -> Study:
    """Draw the pairs on which a person and an LLM differ; they stay, whatever becomes of those labels.

    Raises `Refused`: a name that is taken, topics, judges or sets that are not there or not the only ones
    (`ambiguous`), figures out of range, and where nothing differs.
    """
    _check_figures(wish)
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if Study.objects.filter(campaign=locked, name=wish.name).exists():
            raise Refused("name_taken", f"There is a study {wish.name} already.")
        topics = _topics(locked, wish.topics)
        nugget_set = _nugget_set(locked, wish) if wish.kind is StudyKind.ASSIGNMENT else None
        labels = labels_between(locked, topics, nugget_set, wish.condition)
        person = _judge(labels, JudgeKind.HUMAN, wish.person)
        machine = _judge(labels, JudgeKind.LLM, wish.machine)
        found = differing(labels.of(person), labels.of(machine), nugget_set)
        drawn = drawn_from(found, wish.per_topic, seed=wish.seed, stratified=wish.stratified)
        if not drawn:
            raise Refused("no_disagreement", f"{person} and {machine} differ on no pair here: nothing was drawn.")
        event = Event.objects.create(
            campaign=locked,
            kind="study.created",
            actor=actor,
            payload=_payload(wish, person, machine, nugget_set) | {"pairs": len(drawn), "of": len(found)},
        )
        study = Study.objects.create(
            campaign=locked,
            name=wish.name,
            kind=wish.kind,
            person=person,
            machine=machine,
            nugget_set=nugget_set,
            condition="" if nugget_set else wish.condition,
            per_topic=wish.per_topic,
            stratified=wish.stratified,
            seed=wish.seed,
            event=event,
        )
        for row in drawn:
            row.study = study
        StudyPair.objects.bulk_create(drawn, batch_size=BATCH)
        return study


def study_named(campaign: Campaign, name: str) -> Study:
    """Return a campaign's study. Raises `Refused` with the names that exist."""
    studies = Study.objects.filter(campaign=campaign)
    found = studies.filter(name=name).select_related("campaign", "person", "machine", "nugget_set__judge").first()
    if found is None:
        there = ", ".join(studies.order_by("name").values_list("name", flat=True)) or "none"
        raise Refused("no_such_study", f"There is no study {name} in {campaign.slug}; there are: {there}.")
    return found


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
        drawn = Topic.objects.filter(pk__in=StudyPair.objects.filter(study=study).values("topic"))
        chosen = list(drawn.filter(public_id__in=topics) if topics else drawn)
        if not chosen or (topics and len(chosen) != len(set(topics))):
            raise Refused("no_such_topic", "Choose topics of this study, at least one.")
        assessor_of(roster_of(study.campaign, []), assessor)
        made: list[Task] = []
        skipped: list[Skipped] = []
        for topic in chosen:
            try:
                made.append(make_study_task(study, topic, assessor, due=due, priority=priority))
            except Refused as refused:
                skipped.append(Skipped(topic.topic_id, topic.text, refused.message))
        if not made:
            why = "; ".join(f"{one.topic_id}: {one.reason}" for one in skipped)
            raise Refused("nothing_to_hand_out", f"Nothing was handed out. {why}")
        for task in made:
            note_task("task.handed_out", task, actor, hand_out_payload(task))
        return HandOutReceipt(tuple(task.public_id for task in made), tuple(skipped))


def _check_figures(wish: StudyWish) -> None:
    check_name("study", wish.name)
    if len(wish.name) > LONGEST_NAME:
        raise Refused("bad_name", f"The name of a study has at most {LONGEST_NAME} characters.")
    if not 1 <= wish.per_topic <= MOST_PER_TOPIC:
        raise Refused("usage", f"Pairs per topic: from 1 to {MOST_PER_TOPIC}.")
    if not 0 <= wish.seed <= GREATEST_SEED:
        raise Refused("usage", f"A seed is a number from 0 to {GREATEST_SEED}.")
    if wish.kind is StudyKind.SUPPORT and wish.condition is SupportCondition.LLM:
        raise Refused("usage", "The person's condition is scratch or post-edit.")


def _topics(campaign: Campaign, names: Sequence[str]) -> list[Topic]:
    topics = list(campaign.topics.filter(topic_id__in=names) if names else campaign.topics.all())
    unknown = sorted(set(names) - {one.topic_id for one in topics})
    if unknown:
        raise Refused("no_such_topic", f"There is no topic {', '.join(unknown)} in {campaign.slug}.")
    return topics


LACKING = {
    JudgeKind.HUMAN: "No person has such labels here",
    JudgeKind.LLM: "No LLM has such labels here",
}
OPTIONS = {JudgeKind.HUMAN: "--person", JudgeKind.LLM: "--machine"}
A_STUDY = "a study"


def _nugget_set(campaign: Campaign, wish: StudyWish) -> NuggetSet:
    """Return the named set, or the only one of which a person and an LLM have given labels."""
    sets = list(campaign.nugget_sets.filter(origin__in=ASSIGNED))
    fitting = [one for one in sets if one.name == wish.nuggets] if wish.nuggets else sets
    if len(fitting) > 1:
        fitting = [one for one in sets if all(judges_of(one, kind=kind).exists() for kind in JudgeKind)]
    found = only_set(fitting, A_STUDY)
    if found:
        return found
    there = ", ".join(one.name for one in sets) or "none"
    if not wish.nuggets:
        raise Refused("no_such_set", f"There is no nugget set with labels of both; there are: {there}.")
    raise Refused("no_such_set", f"There is no nugget set {wish.nuggets}; there are: {there}.")


def _judge(labels: Labels, kind: JudgeKind, name: str) -> Judge:
    there = list(labels.judges(kind))
    found = only_judge([one for one in there if name in ("", one.name)], A_STUDY, OPTIONS[kind])
    if found:
        return found
    names = ", ".join(one.name for one in there) or "none"
    text = f"{name} has no such labels here" if name else LACKING[kind]
    raise Refused("no_such_judge", f"{text}; there are: {names}.")


def _payload(wish: StudyWish, person: Judge, machine: Judge, nugget_set: NuggetSet | None) -> dict[str, object]:
    return {
        "study": wish.name,
        "kind": wish.kind,
        "person": person.pk,
        "machine": machine.name,
        "nuggets": nugget_set.pk if nugget_set else None,
        "condition": None if nugget_set else wish.condition,
        "per_topic": wish.per_topic,
        "stratified": wish.stratified,
        "seed": wish.seed,
        "topics": list(wish.topics),
    }
