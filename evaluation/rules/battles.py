"""Draw of battles: a round robin dealt over topics, and the order in which a topic's battles are judged.

Each pair of runs meets equally often, and more rounds keep the battles of earlier ones. Runs without an answer to a
topic lose there by rule or, where missing answers are skipped, leave their opponents to each other.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from hashlib import sha256
from math import ceil, gcd
from typing import Final, Literal, TypeVar

from evaluation.terms import BattleWalk

ALL_PAIRS: Final = 10
"""Most runs of which all pairs meet in each topic where no number of rounds is said."""
USUAL_ROUNDS: Final = 2
NARRATIVE_MINUTES: Final = 2.0
BATTLE_MINUTES: Final = 1.0
OWN_TIMES: Final = 20
"""Times of a campaign's own from which on its hours go by them."""
IN_BOTH_ORDERS: Final = 0.2
FEWEST_IN_BOTH_ORDERS: Final = 100
"""Share, and at least how many, of the battles that an LLM judges in both orders where not all are."""
WORDS_A_MINUTE: Final = 238
"""Silent reading of English (Brysbaert 2019)."""

Missing = Literal["zero", "skip"]
BattleT = TypeVar("BattleT")
ClassT = TypeVar("ClassT")


@dataclass(frozen=True, slots=True)
class DrawnBattle:
    """Two runs that meet in a topic. `left`: shown on the left to whoever judges first. `round`: from 1."""

    topic: str
    left: str
    right: str
    round: int

    @property
    def runs(self) -> frozenset[str]:
        return frozenset((self.left, self.right))


@dataclass(frozen=True, slots=True)
class BattleTerms:
    """Terms of a draw. `runs` and `joined`: from the beginning and later ones; `topics`: in their places.

    `spacing`: number of topics at the first draw, by which the rounds of a topic lie apart.
    """

    seed: str
    runs: tuple[str, ...]
    joined: tuple[str, ...]
    topics: tuple[str, ...]
    spacing: int
    rounds: int
    missing: Missing = "zero"

    @property
    def all_runs(self) -> tuple[str, ...]:
        return (*self.runs, *self.joined)

    @property
    def most_rounds(self) -> int:
        return most_rounds(len(self.runs))


def most_rounds(runs: int) -> int:
    """Rounds of a topic until all of so many runs have met."""
    return runs - 1 + runs % 2


def usual_rounds(runs: int) -> int:
    return most_rounds(runs) if runs <= ALL_PAIRS else USUAL_ROUNDS


def new_terms(seed: str, runs: Iterable[str], topics: Iterable[str], rounds: int, missing: Missing) -> BattleTerms:
    places = in_order(seed, "topic", topics)
    return BattleTerms(seed, in_order(seed, "run", runs), (), places, len(places), rounds, missing)


def in_order(seed: str, what: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: _digest(seed, what, name)))


def deal(
    terms: BattleTerms,
    answered: Collection[tuple[str, str]],
    before: BattleTerms | None = None,
    there: Iterable[DrawnBattle] = (),
) -> list[DrawnBattle]:
    """Return the battles that these terms add to those `there`, drawn by the terms `before`.

    `answered`: topic and run of each answer with a word. A pair meets once in a topic at most.
    """
    draw = _Draw(terms, frozenset(answered), before, list(there))
    for number in range(terms.rounds):
        for place, topic in enumerate(terms.topics):
            if not draw.is_dealt(topic, number):
                draw.deal_round(place, topic, number)
    for run in terms.joined:
        for number in range(terms.rounds):
            for topic in terms.topics:
                if not draw.has_joined(run, topic, number):
                    draw.join(run, topic, number)
    return draw.battles


class _Draw:
    def __init__(
        self,
        terms: BattleTerms,
        answered: frozenset[tuple[str, str]],
        before: BattleTerms | None,
        there: Sequence[DrawnBattle],
    ) -> None:
        self.terms = terms
        self.answered = answered
        self.before = before
        self.battles: list[DrawnBattle] = []
        self.met = {(battle.topic, battle.runs) for battle in there}
        self.meetings = Counter(battle.runs for battle in there)
        self.rounds = _circle(terms.runs)
        order = in_order(terms.seed, "round", map(str, range(len(self.rounds))))
        self.order = [int(number) for number in order]
        self.step = _coprime(max(1, terms.spacing % len(self.rounds)), len(self.rounds))

    def is_dealt(self, topic: str, number: int) -> bool:
        return self.before is not None and topic in self.before.topics and number < self.before.rounds

    def has_joined(self, run: str, topic: str, number: int) -> bool:
        return self.before is not None and run in self.before.joined and self.is_dealt(topic, number)

    def deal_round(self, place: int, topic: str, number: int) -> None:
        pairs = self.rounds[self.order[(place + number * self.step) % len(self.rounds)]]
        free = [pair for pair in pairs if self._can_meet(topic, *pair)]
        for pair in free:
            self._add(topic, *pair, number)
        if self.terms.missing == "skip":
            left_over = {run for pair in pairs if pair not in free for run in pair}
            self._pair_alone(topic, {run for run in left_over if (topic, run) in self.answered}, number)

    def join(self, run: str, topic: str, number: int) -> None:
        """Let a run that came later meet whom it has met least."""
        earlier = self.terms.all_runs[: self.terms.all_runs.index(run)]
        opponents = [other for other in earlier if self._can_meet(topic, run, other)]
        if opponents:
            seed = self.terms.seed
            opponent = min(
                opponents,
                key=lambda other: (
                    self.meetings[frozenset((run, other))],
                    _digest(seed, "join", topic, run, other),
                ),
            )
            self._add(topic, run, opponent, number)

    def _pair_alone(self, topic: str, runs: Collection[str], number: int) -> None:
        waiting = sorted(runs, key=lambda run: _digest(self.terms.seed, "alone", topic, run))
        while waiting:
            run = waiting.pop(0)
            opponent = next((other for other in waiting if self._can_meet(topic, run, other)), None)
            if opponent is not None:
                waiting.remove(opponent)
                self._add(topic, run, opponent, number)

    def _can_meet(self, topic: str, run: str, other: str) -> bool:
        if (topic, frozenset((run, other))) in self.met:
            return False
        return self.terms.missing == "zero" or {(topic, run), (topic, other)} <= self.answered

    def _add(self, topic: str, run: str, other: str, number: int) -> None:
        first, second = sorted((run, other))
        heads = int(_digest(self.terms.seed, "side", topic, first, second)[0], 16) < 8
        left, right = (first, second) if heads else (second, first)
        battle = DrawnBattle(topic, left, right, number + 1)
        self.battles.append(battle)
        self.met.add((topic, battle.runs))
        self.meetings[battle.runs] += 1


def walk(seed: str, battles: Iterable[DrawnBattle]) -> list[DrawnBattle]:
    """Order a topic's battles so that nearly each shares an answer with the one before.

    Next is a battle of the answer that came in last, else of the one that stayed, else of the run with fewest left.
    """
    place = {battle: _walk_digest(seed, battle) for battle in battles}
    left: dict[str, set[DrawnBattle]] = {}
    for battle in place:
        for run in battle.runs:
            left.setdefault(run, set()).add(battle)
    ordered: list[DrawnBattle] = []
    came_in: frozenset[str] = frozenset()
    stayed: frozenset[str] = frozenset()
    while len(ordered) < len(place):
        open_to = _battles_of(came_in, left) or _battles_of(stayed, left) or _battles_of(_fewest(left), left)
        battle = min(open_to, key=lambda battle: place[battle])
        on_screen = ordered[-1].runs if ordered else frozenset()
        stayed, came_in = battle.runs & on_screen, battle.runs - on_screen
        ordered.append(battle)
        for run in battle.runs:
            left[run].remove(battle)
    return ordered


def _walk_digest(seed: str, battle: DrawnBattle) -> str:
    return _digest(seed, "walk", battle.topic, *sorted(battle.runs))


def _battles_of(runs: Iterable[str], battles: Mapping[str, set[DrawnBattle]]) -> set[DrawnBattle]:
    return set().union(*(battles[run] for run in runs))


def _fewest(battles: Mapping[str, set[DrawnBattle]]) -> list[str]:
    fewest = min(len(left) for left in battles.values() if left)
    return [run for run, left in battles.items() if len(left) == fewest]


def in_turn(order: BattleWalk, seed: str, battles: Iterable[DrawnBattle]) -> list[DrawnBattle]:
    if order == BattleWalk.WALK:
        return walk(seed, battles)
    return sorted(battles, key=lambda battle: _walk_digest(seed, battle))


def in_tasks(battles: Sequence[BattleT], longest: int) -> list[Sequence[BattleT]]:
    return [battles[start : start + longest] for start in range(0, len(battles), longest)]


def topic_tasks(
    seed: str, battles: Iterable[DrawnBattle], order: BattleWalk, longest: int
) -> list[Sequence[DrawnBattle]]:
    """Return battles as they are handed out: each topic's in their order, cut into tasks of `longest` at most."""
    by_topic: dict[str, list[DrawnBattle]] = {}
    for battle in battles:
        by_topic.setdefault(battle.topic, []).append(battle)
    return [task for of_topic in by_topic.values() for task in in_tasks(in_turn(order, seed, of_topic), longest)]


def overlap(
    seed: str, battles: Collection[DrawnBattle], share: float, there: Collection[DrawnBattle] = ()
) -> list[DrawnBattle]:
    """Return the battles of a set that two people judge; those that are `there` already stay among them."""
    ordered = sorted(battles, key=lambda battle: _digest(seed, "overlap", battle.topic, *sorted(battle.runs)))
    return sorted(ordered, key=lambda battle: battle not in there)[: share_of(share, len(ordered))]


def share_of(share: float, number: int) -> int:
    # As decimals: in floats .07 of 100 is a little over 7, so rounding up gave 8.
    return ceil(Decimal(str(share)) * number)


class Orders(StrEnum):
    """Sides on which an LLM sees answers: as drawn, changed too in a fifth of the battles, or changed too in all."""

    ONE = "one"
    FIFTH = "fifth"
    BOTH = "both"


def in_both_orders(
    seed: str, battles: Collection[DrawnBattle], orders: Orders, there: Collection[DrawnBattle] = ()
) -> frozenset[DrawnBattle]:
    """Return the battles of a set that an LLM judges in both orders. Those that are `there` already stay among them."""
    if orders is Orders.ONE:
        return frozenset()
    if orders is Orders.BOTH:
        return frozenset(battles)
    ordered = sorted(battles, key=lambda battle: _digest(seed, "orders", battle.topic, *sorted(battle.runs)))
    number = max(FEWEST_IN_BOTH_ORDERS, share_of(IN_BOTH_ORDERS, len(ordered)))
    return frozenset(sorted(ordered, key=lambda battle: battle not in there)[:number])


def people_sample(
    seed: str, classes: Mapping[ClassT, Collection[DrawnBattle]], number: int, drawn: Mapping[ClassT, int]
) -> dict[ClassT, list[DrawnBattle]]:
    """Return the battles of each class that people judge, `number` of all in proportion to the classes.

    `drawn`: how many of each there are already; larger samples have those of smaller ones among them.
    """
    total = sum(map(len, classes.values()))
    shares = {name: divmod(number * len(battles), total) for name, battles in classes.items()}
    by_remainder = sorted(shares, key=lambda name: -shares[name][1])
    left = number - sum(whole for whole, _ in shares.values())
    numbers = {name: shares[name][0] + (place < left) for place, name in enumerate(by_remainder)}
    sample = {}
    for name, battles in classes.items():
        ordered = sorted(battles, key=lambda battle: _digest(seed, "people", battle.topic, *sorted(battle.runs)))
        sample[name] = ordered[: max(numbers[name], drawn.get(name, 0))]
    return sample


def task_minutes(
    battles: Sequence[DrawnBattle], words: Mapping[tuple[str, str], int], own: float | None = None
) -> float:
    """Minutes to expect for a task: the narrative, each of its answers read once, and each battle.

    `words`: of an answer, by topic and run. `own`: minutes that a battle took in the campaign so far, reading and all.
    """
    if own is not None:
        return own * len(battles)
    answers = {(battle.topic, run) for battle in battles for run in battle.runs}
    reading = sum(words.get(answer, 0) for answer in answers) / WORDS_A_MINUTE
    return NARRATIVE_MINUTES + reading + BATTLE_MINUTES * len(battles)


def _digest(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()


def _coprime(least: int, other: int) -> int:
    while gcd(least, other) != 1:
        least += 1
    return least


def _circle(runs: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return rounds in which all pairs meet once: the first stays, the last moves to second place each time."""
    seats: list[str] = [*runs, *([""] if len(runs) % 2 else [])]  # whoever meets nobody rests
    half = len(seats) // 2
    rounds = []
    for _ in range(len(seats) - 1):
        pairs = zip(seats[:half], reversed(seats[half:]), strict=True)
        rounds.append([pair for pair in pairs if all(pair)])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds
