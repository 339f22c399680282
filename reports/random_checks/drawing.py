"""Drawing a random check, drawing more of it, and taking in what came since. Each is one transaction with one event."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction

from accounts.models import User
from evaluation.errors import Refused
from evaluation.labelling import touch
from evaluation.labels import NO_LABEL
from evaluation.models import (
    AnswerProvenance,
    Campaign,
    Event,
    Judge,
    RandomCheckPair,
    Run,
    Study,
    StudyPair,
    Topic,
)
from evaluation.models.studies import REAL_LABELS
from evaluation.studies import (
    ITEM,
    NO_LABELS,
    add_pairs,
    answers_of,
    item_fields,
    judge_to_study,
    labels_between,
    lock_for_study,
    set_to_study,
    topics_named,
)
from evaluation.tasks.hand_out import add_drawn_answers
from evaluation.tasks.pooling import lock_judging
from evaluation.terms import DrawKind, JudgeKind, StudyKind, SupportCondition
from reports.frames import cells_of
from reports.metrics.arrays import Booleans, Counts
from reports.metrics.label_matrix import points_of
from reports.metrics.random_check.draw import KNOWN, RandomCheckFrame, draw, place_in_order
from reports.metrics.random_check.weights import lenient_values, strict_values
from reports.random_checks.frame import GivenLabels, StoredFrame, current_labels, people_of, stored_frame
from reports.random_checks.population import (
    Population,
    default_policies,
    draws_sentences,
    packed,
    pair_names,
    population_of,
)
from web.statements import ROWS_A_STATEMENT
from web.text import plural

PER_RUN = 50
LEAST = 5
LONGEST_SEED = 60
MOST_PER_RUN = 100_000
FORECAST = (50, 100, 200)
FEWEST_LABELS = 30
MOST_PEOPLE = 20  # who labelled one pair before: as many digits as the column holds


@dataclass(frozen=True, slots=True)
class RandomCheckOrder:
    """Order of a random check. `judge`, `nuggets`: by name, '' for the only judge or set that fits.

    `runs`, `topics`: by id; none: all, without the organizers' controls. `known`: judges or studies whose labels
    count as known pairs; `sample`: another random check whose draw and labels are taken over. `least`: of each stratum.
    """

    name: str
    kind: StudyKind
    judge: str = ""
    nuggets: str = ""
    per_run: int = PER_RUN
    runs: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    sample: str = ""
    least: int = LEAST
    seed: str = "0"


def create_random_check(*, campaign: Campaign, order: RandomCheckOrder, actor: User | None = None) -> Study:
    """Draw pairs of every run by chance from what an LLM labelled; later changes of its labels have no effect.

    Raises `Refused`: a name that is taken, runs, topics, judges or sets that are not there or not the only
    candidates, figures out of range, and labels that may not be taken over.
    """
    _check_figures(order)
    with transaction.atomic():
        locked = lock_for_study(campaign, order.name)
        study, population, known_labels = _planned(locked, order)
        sample = _sampled(study, order.sample)
        payload = _payload(study, order) | {"of": len(population.run), "known": len(known_labels)}
        study.event = Event.objects.create(campaign=locked, kind="study.created", actor=actor, payload=payload)
        study.save()
        _add_pairs(
            study, population, np.arange(len(population.run)), block=0, known_labels=known_labels, sample=sample
        )
        if not order.sample:
            _draw(study)
        touch(locked.pk)
        return study


@dataclass(frozen=True, slots=True)
class RandomCheckSize:
    """Number of a random check's runs and of its units: of a run, to judge, in all, and judged before.

    `noun`: a unit, pair or sentence; `judgments`: pairs to judge, about as many before they are drawn; `forecast`:
    None where people gave too few of the LLM's labels too.
    """

    runs: int
    per_run: int
    drawn: int
    units: int
    known: int
    noun: str
    judgments: int
    forecast: "ExpectedWidth | None" = None

    def __str__(self) -> str:
        # Floors and short runs change the sum: then it is no product.
        exact = self.drawn == self.runs * self.per_run
        how = f" x {self.per_run} =" if exact else f", about {self.per_run} each:"
        text = f"{self.runs} {plural(self.runs, 'run')}{how} {self.drawn:,} of {self.units:,} {self.noun}s"
        return f"{text}, beside {self.known:,} known" if self.known else text


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """Half of the 95 % interval to expect by pairs a run, told from `labels` that people and the LLM both gave."""

    labels: int
    of: int
    widths: tuple[tuple[int, float], ...]

    def __str__(self) -> str:
        first, *more = self.widths
        parts = [
            f"about ± {first[1]:.2g} at {first[0]} pairs a run",
            *(f"± {width:.2g} at {n}" for n, width in more),
        ]
        return f"By {self.labels:,} labels that people gave beside this LLM: {', '.join(parts)}, of {self.of:,}."


def _forecast(study: Study, population: Population, people: Iterable[str]) -> ExpectedWidth | None:
    labels = _known_labels(study, people)
    points, cells = points_of(study.labels), cells_of(study.labels)
    values = strict_values(points) if study.kind == StudyKind.ASSIGNMENT else lenient_values(points)
    errors = [
        values[population.label[unit]] - np.mean(values[[cells[int(digit)] for digit in labels[pair]]])
        for unit, pair in zip(population.unit, map(tuple, population.items.tolist()), strict=True)
        if pair in labels and population.label[unit] != NO_LABEL
    ]
    if len(errors) < FEWEST_LABELS:
        return None
    pairs = int(np.median(np.bincount(population.run)))
    # A sample without putting back: of all pairs there is nothing left to estimate.
    widths = [(n, 1.96 * np.std(errors) * np.sqrt((1 / n) * (1 - n / pairs))) for n in FORECAST if n < pairs]
    return ExpectedWidth(len(errors), pairs, tuple((n, float(width)) for n, width in widths)) if widths else None


def size_of_order(campaign: Campaign, order: RandomCheckOrder, people: Iterable[str] = ()) -> RandomCheckSize:
    """Count what would be drawn, and write nothing. Raises `Refused` as `create_random_check` does, but for the name.

    `people`: judges and studies by whose labels the LLM's are forecast.
    """
    _check_figures(order)
    study, population, known_labels = _planned(campaign, order)
    is_known = _known_units(population, known_labels)
    frame = RandomCheckFrame(
        run=population.run,
        label=np.where(is_known, KNOWN, population.label),
        block=np.zeros_like(population.run),
        size=population.size,
        order=population.size,
        runs=len(population.run_ids),
        points=points_of(study.labels),
    )
    totals = np.array([order.per_run])
    drawn = sum(
        int(number[0]) for run in range(frame.runs) for number in frame.numbers(run, totals, order.least).values()
    )
    units = len(population.run)
    return RandomCheckSize(
        runs=len(study.design["per_run"]),
        per_run=order.per_run,
        drawn=drawn,
        units=units,
        known=int(is_known.sum()),
        noun="sentence" if draws_sentences(study) else "pair",
        judgments=round(drawn * len(population.items) / units),
        forecast=_forecast(study, population, people),
    )


def size_of(study: Study) -> RandomCheckSize:
    frame = stored_frame(study)
    return RandomCheckSize(
        runs=len(study.design["per_run"]),
        per_run=study.event.payload["per_run"],
        drawn=int(frame.drawn.sum()),
        units=len(frame.chance),
        known=int(frame.known.sum()),
        noun="sentence" if draws_sentences(study) else "pair",
        judgments=len(frame.items_of(frame.drawn)),
    )


def _known_units(population: Population, known_labels: "Taken") -> Booleans:
    """Units of which every pair was judged before, P."""
    is_known = np.ones(len(population.run), dtype=np.bool_)
    new = [pair not in known_labels for pair in map(tuple, population.items.tolist())]
    is_known[population.unit[np.array(new, dtype=np.bool_)]] = False
    return is_known


def grow_random_check(*, study: Study, per_run: int, runs: Sequence[str] = (), actor: User | None = None) -> int:
    """Draw the next pairs of the same order, of some runs or of all; return how many came. What was drawn stays.

    Raises `Refused` where no run gets more, for unknown runs, and for a random check whose sample is another's.
    """
    _check_per_run(per_run)
    with transaction.atomic():
        study = _locked(study)
        if study.design.get("sample"):
            raise Refused("usage", f"{study} has the draw of {study.design['sample']}: that one can grow.")
        numbers: dict[str, int] = study.design["per_run"]
        _refuse_unknown(set(runs) - numbers.keys(), study.campaign)
        more = {run: per_run for run in runs or numbers if per_run > numbers[run]}
        if not more:
            raise Refused("not_more", f"These runs have {per_run} pairs or more drawn already.")
        study.design["per_run"] = numbers | more
        study.save(update_fields=["design"])
        return _drawn_more(study, "study.grown", {"per_run": per_run, "runs": sorted(more)}, actor)


def grow_runs(*, study: Study, numbers: Mapping[str, int], actor: User | None = None) -> int:
    """Draw more of some runs, up to a number for each; return how many came. Refuses as `grow_random_check` does."""
    with transaction.atomic():
        return sum(
            grow_random_check(
                study=study,
                per_run=per_run,
                runs=sorted(run for run in numbers if numbers[run] == per_run),
                actor=actor,
            )
            for per_run in sorted(set(numbers.values()))
        )


def extend_random_check(*, study: Study, actor: User | None = None) -> int:
    """Take in pairs that came since, as strata of their own; return how many to judge. Raises `Refused` for none."""
    with transaction.atomic():
        study = _locked(study)
        frame, population = stored_frame(study), population_of(study, default_policies(study))
        is_new = frame.outside(population)
        if not is_new.any():
            raise Refused("nothing_outside", f"Every pair is in {study} already.")
        items = population.items[is_new[population.unit]]
        if np.isin(packed(items), frame.keys).any():
            text = f"A sentence of {study} has other citations than at the draw: draw a new random check."
            raise Refused("usage", text)
        new = np.flatnonzero(is_new)
        numbers: dict[str, int] = study.design["per_run"]
        usual = int(study.event.payload["per_run"])
        came = {population.run_ids[run] for run in np.unique(population.run[new])}
        study.design["per_run"] = dict.fromkeys(sorted(came), usual) | numbers
        study.save(update_fields=["design"])
        _add_pairs(study, population, new, block=int(frame.block.max(initial=0)) + 1, known_labels={}, sample={})
        return _drawn_more(study, "study.extended", {"pairs": len(items), "runs": sorted(came)}, actor)


def _locked(study: Study) -> Study:
    # Tasks before the campaign: taken the other way round, this and a submission would wait for each other.
    lock_judging(study.campaign)
    Campaign.objects.select_for_update().get(pk=study.campaign_id)
    return Study.objects.select_related("campaign", "judge", "nugget_set", "event").get(pk=study.pk)


def _drawn_more(study: Study, kind: str, payload: Mapping[str, object], actor: User | None) -> int:
    came = _draw(study)
    add_drawn_answers(study)
    Event.objects.create(
        campaign=study.campaign, kind=kind, actor=actor, payload={"study": study.name, **payload, "drawn": came}
    )
    touch(study.campaign_id)
    return came


def _check_figures(order: RandomCheckOrder) -> None:
    _check_per_run(order.per_run)
    if not 1 <= order.least <= MOST_PER_RUN:
        raise Refused("usage", f"Pairs of each stratum: from 1 to {MOST_PER_RUN:,}.")
    if not 1 <= len(order.seed) <= LONGEST_SEED or not order.seed.isprintable():
        raise Refused("usage", f"A seed has 1 to {LONGEST_SEED} characters, all printable.")
    if order.known and order.sample:
        raise Refused("usage", "Take over known pairs or another's sample, not both.")


def _check_per_run(per_run: int) -> None:
    if not 1 <= per_run <= MOST_PER_RUN:
        raise Refused("usage", f"Pairs per run: from 1 to {MOST_PER_RUN:,}.")


def _worded_runs(order: RandomCheckOrder, population: Population) -> set[str]:
    """Runs with answers that have words. Raises `Refused` where there are none, or not all that are wished for."""
    there = {population.run_ids[run] for run in np.unique(population.run)}
    for run_id in order.runs:
        if run_id not in there:
            raise Refused("no_words", f"{run_id} has no answer with words here: nothing of it can be drawn.")
    if not there:
        raise Refused("nothing_to_draw", "No run has an answer with words to these topics: nothing was drawn.")
    return there


def _planned(campaign: Campaign, order: RandomCheckOrder) -> tuple[Study, Population, "Taken"]:
    """The study, not stored, with its population and the labels that are taken over."""
    topics = topics_named(campaign, order.topics)
    _refuse_unknown(set(order.runs) - set(campaign.runs.values_list("run_id", flat=True)), campaign)
    study = _unsaved(campaign, order, topics)
    population = population_of(study, default_policies(study))
    study.design["per_run"] = dict.fromkeys(sorted(_worded_runs(order, population)), order.per_run)
    return study, population, _known_labels(study, order.known)


def _refuse_unknown(runs: set[str], campaign: Campaign) -> None:
    if runs:
        raise Refused("no_such_run", f"There is no run {', '.join(sorted(runs))} in {campaign.slug}.")


def _unsaved(campaign: Campaign, order: RandomCheckOrder, topics: Sequence[Topic]) -> Study:
    llm = JudgeKind.LLM
    nugget_set = set_to_study(campaign, order.nuggets, [llm]) if order.kind is StudyKind.ASSIGNMENT else None
    judges = labels_between(campaign, topics, nugget_set, SupportCondition.SCRATCH).judges(llm)
    return Study(
        campaign=campaign,
        name=order.name,
        kind=order.kind,
        draw=DrawKind.RANDOM,
        judge=judge_to_study(judges, llm, order.judge),
        nugget_set=nugget_set,
        condition="" if nugget_set else SupportCondition.SCRATCH,
        per_topic=None,
        design={
            "seed": order.seed,
            "least": order.least,
            "runs": list(order.runs),
            "topics": list(order.topics),
            "known": list(order.known),
            "sample": order.sample,
        }
        # The scores or the measure for which it is drawn; the protocol may change later.
        | ({"profile": campaign.protocol.scoring} if nugget_set else {"measure": campaign.protocol.measure}),
    )


def _payload(study: Study, order: RandomCheckOrder) -> dict[str, object]:
    # The log can never be changed, so it names nobody: whose labels were taken over is in the study.
    return {
        "study": study.name,
        "kind": study.kind,
        "draw": study.draw,
        "judge": study.judge.name,
        "nuggets": study.nugget_set_id,
        "seed": order.seed,
        "per_run": order.per_run,
        "least": order.least,
        "runs": list(order.runs),
        "topics": list(order.topics),
        "sample": order.sample,
    }


Taken = Mapping[tuple[int, int], str]
"""Digits of the labels of pairs that are taken over, one a person."""

Sample = Mapping[tuple[int, int], tuple[float, float, str]]
"""Chance, place and digits of the pairs of another random check's draw."""


def _known_labels(study: Study, names: Iterable[str]) -> Taken:
    """Labels of pairs that were judged before, blind. Raises `Refused` for whoever saw a machine's label."""
    digits_of: dict[tuple[int, int], str] = {}
    for name in names:
        other = Study.objects.filter(campaign=study.campaign, name=name).first()
        labels = _labels_of_study(study, other) if other else _labels_of_judge(study, name)
        for item, by_judge in labels.items():
            digits = "".join(str(label) for _, label in sorted(by_judge.items()) if label in REAL_LABELS)
            digits_of[item] = (digits_of.get(item, "") + digits)[:MOST_PEOPLE]
    return {item: digits for item, digits in digits_of.items() if digits}


def _labels_of_study(study: Study, other: Study) -> GivenLabels:
    if other.kind != study.kind:
        raise Refused("usage", f"{other} is a study of {other.kind} labels, and this one of {study.kind} labels.")
    if other.condition == SupportCondition.POST_EDIT:
        raise Refused("not_blind", _in_sight(other.name))
    judged = current_labels(other, people_of(other))
    first, second = ITEM[StudyKind(other.kind)]
    pairs = StudyPair.objects.filter(study=other, person_label__isnull=False)
    for first_id, second_id, label in pairs.values_list(first, second, "person_label"):
        # Who judged again, blind to both labels, decides; the person's label counts where nobody has.
        judged.setdefault((first_id, second_id), {"": label})
    return judged


def _labels_of_judge(study: Study, name: str) -> GivenLabels:
    judges = Judge.objects.filter(name=name, kind=JudgeKind.HUMAN)
    labels = current_labels(study, judges)
    if not labels:
        aided = Study(kind=study.kind, condition=SupportCondition.POST_EDIT)
        if study.kind == StudyKind.SUPPORT and current_labels(aided, judges):
            raise Refused("not_blind", _in_sight(name))
        raise Refused("no_such_judge", f"No person or study {name} has such labels here.")
    return labels


def _in_sight(name: str) -> str:
    return f"{name} gave labels in sight of the LLM's: they can be neither known pairs nor a sample."


def _population_key(study: Study) -> tuple[object, ...]:
    return study.kind, study.nugget_set_id, default_policies(study)


def _sampled(study: Study, name: str) -> Sample:
    """The draw of another random check with its chances and labels. Raises `Refused` where it is not complete."""
    if not name:
        return {}
    other = Study.objects.filter(campaign=study.campaign, name=name).first()
    if other is None:
        _labels_of_judge(study, name)
        raise Refused("no_sample", f"{name} chose what to label: its pairs can be known pairs, not a sample.")
    if other.condition == SupportCondition.POST_EDIT:
        raise Refused("not_blind", _in_sight(name))
    if other.draw != DrawKind.RANDOM:
        pairs = StudyPair.objects.filter(study=other).count()
        text = f"{name} chose its {pairs:,} pairs by their labels: they can be known pairs, not a sample."
        raise Refused("no_sample", text)
    if _population_key(other) != _population_key(study):
        raise Refused("usage", f"{name} is about other pairs, or was drawn for another measure.")
    frame, labels = stored_frame(other), current_labels(other, people_of(other))
    sample: dict[tuple[int, int], tuple[float, float, str]] = {}
    for place in np.flatnonzero((frame.chance > 0)[frame.unit]).tolist():
        item = frame.item(place)
        digits = frame.digits[place] or "".join(str(label) for _, label in sorted(labels.get(item, {}).items()))
        if not digits:
            raise Refused("not_complete", f"{name} has pairs that nobody has judged yet.")
        unit = frame.unit[place]
        sample[item] = float(frame.chance[unit]), float(frame.place[unit]), digits[:MOST_PEOPLE]
    return sample


def _add_pairs(
    study: Study, population: Population, new_units: Counts, *, block: int, known_labels: Taken, sample: Sample
) -> None:
    is_new = np.isin(population.unit, new_units)
    items, units = population.items[is_new], population.unit[is_new]
    names = pair_names(study.campaign, study.kind, items)
    # The u of a sentence with several citations is that of the first.
    name_of = {unit: names[place] for place, unit in reversed(list(enumerate(units.tolist())))}
    is_known = _known_units(population, known_labels)
    codes = [int(label.code) for label in study.labels.ascending]
    rows: list[RandomCheckPair] = []
    for answer, unit, (first, second) in zip(
        answers_of(study, items.tolist()), units.tolist(), items.tolist(), strict=True
    ):
        item = (first, second)
        chance, order, digits = sample.get(item, (None, None, ""))
        rows.append(
            RandomCheckPair(
                study=study,
                **{"answer_id": answer} | item_fields(study, item),
                judge_label=NO_LABEL if population.label[unit] == NO_LABEL else codes[population.label[unit]],
                block=block,
                size=float(population.size[unit]),
                place=order or place_in_order(study.design["seed"], *name_of[unit].values()),
                chance=1.0 if is_known[unit] else chance,
                known=bool(is_known[unit]),
                given=known_labels[item] if is_known[unit] else digits,
            )
        )
    RandomCheckPair.objects.bulk_create(rows, batch_size=ROWS_A_STATEMENT)


def _draw(study: Study) -> int:
    """Draw as many pairs as the design says, beside those that are drawn; return how many came."""
    frame = stored_frame(study)
    run_ids = sorted(study.design["per_run"])
    arrays = frame_arrays(frame, _runs_of(study, frame, run_ids), len(run_ids))
    numbers = np.array([study.design["per_run"][run] for run in run_ids], dtype=np.int64)
    chances = draw(arrays, numbers, study.design["least"], before=frame.drawn)
    changed = np.flatnonzero((chances != frame.chance)[frame.unit])
    RandomCheckPair.objects.bulk_update(
        [RandomCheckPair(pk=int(frame.pk[place]), chance=float(chances[frame.unit[place]])) for place in changed],
        ["chance"],
        batch_size=ROWS_A_STATEMENT,
    )
    new = frame.items_of((chances > 0) & ~frame.known & (frame.chance == 0))
    add_pairs(study, dict.fromkeys(map(tuple, new.tolist()), NO_LABELS))
    return len(new)


def frame_arrays(frame: StoredFrame, run: Counts, runs: int) -> RandomCheckFrame:
    return RandomCheckFrame(
        run=run,
        label=np.where(frame.known, KNOWN, frame.judge_label),
        block=frame.block,
        size=frame.size,
        order=frame.place,
        runs=runs,
        points=points_of(frame.labels),
    )


def _runs_of(study: Study, frame: StoredFrame, run_ids: Sequence[str]) -> Counts:
    places = {run_id: place for place, run_id in enumerate(run_ids)}
    answers = answers_of(study, frame.items[frame.first].tolist())
    rows = AnswerProvenance.objects.filter(run__in=Run.objects.filter(campaign=study.campaign))
    of_answer = dict(rows.values_list("answer", "run__run_id"))
    return np.array([places[of_answer[answer]] for answer in answers], dtype=np.int64)
