"""Drawing battles of a campaign's runs, and drawing more of them: one transaction with one event."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Avg, Count, QuerySet

from accounts.models import User
from evaluation.errors import Refused, no_such
from evaluation.labelling import touch
from evaluation.models import AnswerProvenance, Battle, BattleSet, Campaign, Event, Protocol, Verdict
from evaluation.rules.battles import (
    OWN_TIMES,
    BattleTerms,
    DrawnBattle,
    Missing,
    deal,
    in_order,
    new_terms,
    overlap,
    task_minutes,
    topic_tasks,
    usual_rounds,
)
from evaluation.rules.text import check_name
from evaluation.terms import BattleMarkdown, BattleRubric, BattleShow, BattleWalk
from web.statements import ROWS_A_STATEMENT

USUAL_NAME = "battles"
LONGEST_NAME = LONGEST_SEED = 60
TERMS = ("runs", "joined", "topics")


@dataclass(frozen=True, slots=True)
class BattleOrder:
    """Order of battles. `runs`, `topics`: by id; none: all of a new set, without the organizers' controls.

    Of a set that is there: runs and topics to add, and the number of `rounds` that it then has. `controls`: the
    organizers' control runs too, of either.
    """

    name: str = USUAL_NAME
    rounds: int | None = None
    runs: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    controls: bool = False
    seed: str = ""
    missing: Missing | None = None
    show: BattleShow | None = None


@dataclass(frozen=True, slots=True)
class BattleLook:
    """How the answers of a set are shown, as the protocol had it at its draw."""

    show: BattleShow
    markdown: BattleMarkdown
    rubric: BattleRubric

    @classmethod
    def of(cls, protocol: Protocol, design: Mapping[str, Any]) -> "BattleLook":
        """Return the look of a set: as the protocol says where it was drawn elsewhere, or is still to be drawn."""
        return cls(
            BattleShow(design.get("show", protocol.battle_show)),
            BattleMarkdown(design.get("markdown", protocol.battle_markdown)),
            BattleRubric(design.get("rubric", protocol.battle_rubric)),
        )


@dataclass(frozen=True, slots=True)
class BattleDraw:
    """Battles that an order added: `battles` to judge in `tasks`, and `by_rule` for missing answers.

    `hours`: of judging them, and of judging again those that a second person has.

    `runs`, `topics`, `rounds` and `battles_in_all` are those of the whole set.
    """

    battle_set: BattleSet
    battles: int
    by_rule: int
    tasks: int
    hours: float
    runs: int
    topics: int
    battles_in_all: int


def draw_battles(*, campaign: Campaign, order: BattleOrder, actor: User | None = None) -> BattleDraw:
    """Draw a new set, or what an order adds to one; what was drawn before stays.

    Raises `Refused`: runs or topics that are not there, more rounds than there are opponents, terms of a set that
    cannot change, and where no two runs meet.
    """
    with transaction.atomic():
        # Two draws of one set would both find the same battles missing.
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        plan = _planned(locked, order)
        battle_set = _stored(locked, plan, actor)
        touch(locked.pk)
    return plan.draw(battle_set)


def forecast_battles(*, campaign: Campaign, order: BattleOrder) -> BattleDraw:
    """Return what `draw_battles` would, drawing nothing; its set is not stored. Raises `Refused` as that does."""
    plan = _planned(campaign, order)
    terms = plan.terms
    return plan.draw(BattleSet(campaign=campaign, name=order.name, seed=terms.seed, rounds=terms.rounds))


def counted_verdicts(campaign: Campaign) -> QuerySet[Verdict]:
    """Verdicts in force, but for those of judges who are set aside."""
    return Verdict.objects.current().filter(battle__battle_set__campaign=campaign, judge__aside=False)


def own_minutes(campaign: Campaign) -> float | None:
    """Mean active minutes of a battle at this campaign's desks; None of fewer than 20."""
    times = counted_verdicts(campaign).aggregate(number=Count("seconds"), mean=Avg("seconds"))
    return times["mean"] / 60 if times["number"] >= OWN_TIMES else None


def terms_of(battle_set: BattleSet) -> BattleTerms:
    """Return the terms of a set. Raises `Refused` where it was not drawn here."""
    if not battle_set.seed:
        raise Refused("not_drawn", f"The battles of {battle_set} were drawn elsewhere: no more can be drawn.")
    design = battle_set.design
    lists = {name: tuple(design[name]) for name in TERMS}
    return BattleTerms(
        seed=battle_set.seed,
        rounds=battle_set.rounds,
        spacing=design["spacing"],
        missing=design["missing"],
        **lists,
    )


def battle_set_named(campaign: Campaign, name: str) -> BattleSet:
    """Return a set; the only one where no name is said. Raises `Refused` with the names that exist."""
    sets = BattleSet.objects.filter(campaign=campaign)
    if name:
        battle_set = sets.filter(name=name).first()
        if battle_set is None:
            raise no_such(
                "no_such_set", f"battle set {name} in {campaign.slug}", sets.values_list("name", flat=True)
            )
        return battle_set
    several = list(sets)
    if not several:
        raise Refused("no_such_set", f"{campaign.slug} has no battles yet.")
    if len(several) > 1:
        names = [str(battle_set) for battle_set in several]
        raise Refused("ambiguous", f"Say which battle set: {', '.join(names)}.", field="set", choices=names)
    return several[0]


def _check_words(order: BattleOrder) -> None:
    check_name("battle set", order.name)
    if len(order.name) > LONGEST_NAME:
        raise Refused("bad_name", f"The name of a battle set has at most {LONGEST_NAME} characters.")
    if len(order.seed) > LONGEST_SEED or not order.seed.isprintable():
        raise Refused("usage", f"A seed has 1 to {LONGEST_SEED} characters, all printable.", field="seed")


def _begun(campaign: Campaign, order: BattleOrder) -> BattleTerms:
    runs = _runs(campaign, order, campaign.runs.filter(control=False).values_list("run_id", flat=True))
    topics = _topics(campaign, order.topics) or list(campaign.topics.values_list("topic_id", flat=True))
    if len(runs) < 2:
        raise Refused("no_battles", "A battle set needs two runs or more.", field="runs")
    rounds = usual_rounds(len(runs)) if order.rounds is None else order.rounds
    return _checked(new_terms(order.seed or order.name, runs, topics, rounds, order.missing or "zero"))


def _grown(campaign: Campaign, terms: BattleTerms, look: BattleLook, order: BattleOrder) -> BattleTerms:
    same = order.seed in ("", terms.seed) and order.missing in (None, terms.missing)
    if not same or order.show not in (None, look.show):
        text = f"{order.name} was drawn with seed {terms.seed}, missing {terms.missing}, show {look.show}: these stay."
        raise Refused("usage", text)
    if order.rounds is not None and order.rounds < terms.rounds:
        raise Refused("usage", f"{order.name} has {terms.rounds} rounds: no battle is taken back.", field="rounds")
    runs = _runs(campaign, order) - set(terms.all_runs)
    topics = set(_topics(campaign, order.topics)) - set(terms.topics)
    return _checked(
        replace(
            terms,
            rounds=order.rounds or terms.rounds,
            joined=(*terms.joined, *in_order(terms.seed, "run", runs)),
            topics=(*terms.topics, *in_order(terms.seed, "topic", topics)),
        )
    )


def _checked(terms: BattleTerms) -> BattleTerms:
    if not 1 <= terms.rounds <= terms.most_rounds:
        text = f"Rounds of {len(terms.runs)} runs: from 1 to {terms.most_rounds}, in which all have met."
        raise Refused("usage", text, field="rounds")
    return terms


def _runs(campaign: Campaign, order: BattleOrder, usual: Iterable[str] = ()) -> set[str]:
    """Return the runs that an order names, or else the `usual` ones; with `controls` the organizers' too."""
    there = dict(campaign.runs.values_list("run_id", "control"))
    if unknown := sorted(set(order.runs) - there.keys()):
        raise Refused("no_such_run", f"There is no run {', '.join(unknown)} in {campaign.slug}.", field="runs")
    controls = {run for run, control in there.items() if control and order.controls}
    return controls.union(order.runs or usual)


def _topics(campaign: Campaign, names: Sequence[str]) -> list[str]:
    there = campaign.topics.filter(topic_id__in=names).values_list("topic_id", flat=True)
    if unknown := sorted(set(names) - set(there)):
        text = f"There is no topic {', '.join(unknown)} in {campaign.slug}."
        raise Refused("no_such_topic", text, field="topics")
    return list(there)


def runs_and_words(campaign: Campaign) -> tuple[dict[int, str], dict[tuple[str, str], int]]:
    """Return the run of each answer that is compared, and the words of each by topic and run."""
    rows = AnswerProvenance.objects.filter(run__campaign=campaign, sample=1)
    runs: dict[int, str] = {}
    words: dict[tuple[str, str], int] = {}
    for key, topic, run, count in rows.values_list("answer", "topic__topic_id", "run__run_id", "answer__words"):
        runs[key], words[topic, run] = run, count
    return runs, words


Words = Mapping[tuple[str, str], tuple[int, int]]
"""Key and words of each answer, by topic and run: of several samples the first is compared."""


def _words_of(campaign: Campaign, terms: BattleTerms) -> Words:
    rows = AnswerProvenance.objects.filter(run__campaign=campaign, sample=1).values_list(
        "topic__topic_id", "run__run_id", "answer", "answer__words"
    )
    runs, topics = set(terms.all_runs), set(terms.topics)
    return {(topic, run): (key, words) for topic, run, key, words in rows if topic in topics and run in runs}


def _drawn_before(battle_set: BattleSet) -> list[DrawnBattle]:
    run_of = dict(
        AnswerProvenance.objects.filter(run__campaign=battle_set.campaign_id).values_list("answer", "run__run_id")
    )
    rows = battle_set.battles.values_list("topic__topic_id", "left", "right", "round")
    judged = [DrawnBattle(topic, run_of[left], run_of[right], number) for topic, left, right, number in rows]
    return judged + [DrawnBattle(*row[:4]) for row in battle_set.design["by_rule"]]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Battles that an order adds to those that are `there`; `battle_set`: the one that grows, None for a new one."""

    name: str
    battle_set: BattleSet | None
    terms: BattleTerms
    look: BattleLook
    protocol: Protocol
    there: list[DrawnBattle]
    drawn: list[DrawnBattle]
    words: Words
    own_minutes: float | None

    def has_words(self, topic: str, run: str) -> bool:
        return bool(self.words.get((topic, run), (0, 0))[1])

    @property
    def to_judge(self) -> list[DrawnBattle]:
        return self._with_words(self.drawn)

    @property
    def to_judge_twice(self) -> list[DrawnBattle]:
        before = self._with_words(self.there)
        share, seed = self.protocol.battle_overlap, self.terms.seed
        already = set(overlap(seed, before, share))
        now = overlap(seed, before + self.to_judge, share, already)
        return [battle for battle in now if battle not in already]

    def _with_words(self, battles: Sequence[DrawnBattle]) -> list[DrawnBattle]:
        return [battle for battle in battles if all(self.has_words(battle.topic, run) for run in battle.runs)]

    def _tasks(self, battles: Sequence[DrawnBattle]) -> list[Sequence[DrawnBattle]]:
        protocol = self.protocol
        return topic_tasks(self.terms.seed, battles, BattleWalk(protocol.battle_order), protocol.battle_task)

    @property
    def by_rule(self) -> list[list[Any]]:
        """Battles of missing answers, with the points of the left."""
        rows = []
        for battle in self.drawn:
            left, right = (self.has_words(battle.topic, run) for run in (battle.left, battle.right))
            if not (left and right):
                rows.append([battle.topic, battle.left, battle.right, battle.round, (left - right + 1) / 2])
        return rows

    def draw(self, battle_set: BattleSet) -> BattleDraw:
        battles = self.to_judge
        tasks = self._tasks(battles)
        lengths = {answer: count for answer, (_, count) in self.words.items()}
        minutes = [
            task_minutes(task, lengths, self.own_minutes) for task in (*tasks, *self._tasks(self.to_judge_twice))
        ]
        return BattleDraw(
            battle_set=battle_set,
            battles=len(battles),
            by_rule=len(self.drawn) - len(battles),
            tasks=len(tasks),
            hours=sum(minutes) / 60,
            runs=len(self.terms.all_runs),
            topics=len(self.terms.topics),
            battles_in_all=len(self.there) + len(self.drawn),
        )


def _planned(campaign: Campaign, order: BattleOrder) -> _Plan:
    _check_words(order)
    battle_set = BattleSet.objects.filter(campaign=campaign, name=order.name).first()
    before = terms_of(battle_set) if battle_set else None
    protocol = campaign.protocol
    look = BattleLook.of(protocol, battle_set.design if battle_set else {})
    if before:
        terms = _grown(campaign, before, look, order)
    else:
        terms, look = _begun(campaign, order), replace(look, show=order.show or look.show)
    words = _words_of(campaign, terms)
    there = _drawn_before(battle_set) if battle_set else []
    drawn = deal(terms, {answer for answer, (_, count) in words.items() if count}, before, there)
    if not drawn:
        raise Refused("no_battles", "No two runs would meet that have not met: nothing was drawn.")
    return _Plan(order.name, battle_set, terms, look, protocol, there, drawn, words, own_minutes(campaign))


def _stored(campaign: Campaign, plan: _Plan, actor: User | None) -> BattleSet:
    terms = plan.terms
    payload = {"name": plan.name, "seed": terms.seed, "rounds": terms.rounds, "battles": len(plan.drawn)}
    payload |= {"runs": len(terms.all_runs), "topics": len(terms.topics)}
    kind = "battles.grown" if plan.battle_set else "battles.drawn"
    event = Event.objects.create(campaign=campaign, kind=kind, actor=actor, payload=payload)
    stored = plan.battle_set or BattleSet(
        campaign=campaign, name=plan.name, seed=terms.seed, design={"by_rule": []}
    )
    stored.event, stored.rounds = event, terms.rounds
    stored.design |= {field: list(getattr(terms, field)) for field in TERMS}
    stored.design |= {"spacing": terms.spacing, "missing": terms.missing} | asdict(plan.look)
    stored.design["by_rule"] += plan.by_rule
    stored.save()
    topics = dict(campaign.topics.values_list("topic_id", "pk"))
    Battle.objects.bulk_create(
        [
            Battle(
                battle_set=stored,
                topic_id=topics[battle.topic],
                left_id=plan.words[battle.topic, battle.left][0],
                right_id=plan.words[battle.topic, battle.right][0],
                round=battle.round,
                event=event,
            )
            for battle in plan.to_judge
        ],
        batch_size=ROWS_A_STATEMENT,
    )
    return stored
