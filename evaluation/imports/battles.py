"""Import verdicts of battles, which of two answers a person or an LLM said is better, and battles drawn elsewhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from accounts.models import User
from evaluation.campaigns.pseudonyms import Names
from evaluation.errors import InputProblem, Refused
from evaluation.formats.battles import BattleRecord, BattleTask, has_tasks, named, parse_battles, parse_tasks
from evaluation.formats.source import Source
from evaluation.imports.base import (
    LONGEST_SHOWN,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    compare,
    refuse,
)
from evaluation.imports.dependents import refuse_if_judged_here
from evaluation.judges import judge_named, stored_judge
from evaluation.labels import BATTLE_LABELS, BattleLabel
from evaluation.models import AnswerProvenance, Battle, BattleSet, Campaign, Event, Judge, Verdict
from evaluation.models.querysets import in_parts_of
from evaluation.stages.battle import LEFT, RIGHT
from evaluation.terms import FindingCode, JudgeKind
from web.statements import ROWS_A_STATEMENT
from web.text import cut

IMPORTED = "imported"
"""The set of battles that were not drawn here."""
BATTLES = "battles"
"""Noun of an import of battles without verdicts."""

Pair = frozenset[int]
VerdictKey = tuple[str, Pair, int]
"""Judge, answers, and for an LLM, which may judge in both orders, the answer on the left."""
AnyMatch = TypeVar("AnyMatch", bound="_Match")


@dataclass(frozen=True, slots=True)
class _Match:
    """A battle of a file; `left`, `right`: keys of the answers as the judge saw them."""

    record: BattleTask
    topic: int
    left: int
    right: int

    @property
    def pair(self) -> Pair:
        return frozenset((self.left, self.right))


@dataclass(frozen=True, slots=True)
class _VerdictEntry(_Match):
    """A verdict of a file."""

    record: BattleRecord

    @property
    def stayed(self) -> int | None:
        return {LEFT: self.left, RIGHT: self.right}.get(self.record.stayed)

    def key(self, kind: JudgeKind) -> VerdictKey:
        return _key(self.record.judge, kind, self.pair, self.left)


def _key(judge: str, kind: JudgeKind, pair: Pair, left: int) -> VerdictKey:
    return judge, pair, left if kind is JudgeKind.LLM else 0


def import_battles(
    *,
    campaign: Campaign,
    source: Source,
    kind: JudgeKind,
    judge: str = "",
    form: str = "",
    set_name: str = "",
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load verdicts of battles that were drawn here or, into the set `imported`, of others; or such battles alone.

    `judge`: who judged, in the place of what the file says. `set_name`: '' for the only set that was drawn, or the
    set `imported` where there is none. Raises `BadInput`: answers that are not loaded, battles that were not drawn,
    two verdicts of one judge, sides other than drawn, and changed verdicts without `replace`.
    """
    if has_tasks(source, form):
        return _import_tasks(campaign, source, set_name, actor)
    names = Names([campaign], DEFAULT_DB_ALIAS)
    # Files of exports name people by pseudonym.
    records = [
        named(record, names.real_judge(campaign.pk, judge or record.judge))
        for record in parse_battles(source, form)
    ]

    def make_plan(locked: Campaign) -> ImportPlan:
        return _plan(locked, source, records, kind, set_name, replace)

    return carry_out(campaign=campaign, kind="battles", sources=[source], actor=actor, make_plan=make_plan)


def _plan(
    campaign: Campaign,
    source: Source,
    records: Sequence[BattleRecord],
    kind: JudgeKind,
    set_name: str,
    replace: bool,
) -> ImportPlan:
    battle_set = _set_named(campaign, set_name or _only_drawn(campaign) or IMPORTED)
    battles = _battles_of(battle_set)
    entries = _matched(
        campaign, source, records, _VerdictEntry, list(_without_judge_or_verdict(source, records, kind))
    )
    is_drawn = battle_set is not None and bool(battle_set.seed)
    problems = list(_not_drawn(source, entries, battles, kind)) if is_drawn else []
    refuse(problems + list(_twice(source, entries, kind)))
    judges = {judge: judge_named(judge, kind) for judge in {entry.record.judge for entry in entries}}
    loaded, numbers = _loaded(battles)
    compared = compare(
        entries, lambda entry: entry.key(kind), loaded, _differs, lambda *pair: _change(source, *pair), replace
    )
    replaced = [loaded[entry.key(kind)] for entry in compared.changed]
    refuse_if_judged_here(
        Verdict.objects.filter(pk__in=[verdict.pk for verdict in replaced]),
        [(verdict.battle_id, verdict.left_id) for verdict in replaced],
        *("battle", "left"),
    )

    def write(event: Event) -> None:
        Verdict.objects.filter(pk__in=[verdict.pk for verdict in replaced]).update(stands=False)
        if not is_drawn:
            battles.update(_new_battles(campaign, battle_set, entries, battles, event))
        stored = {name: stored_judge(judge) for name, judge in judges.items()}
        _write(compared.to_write, battles, stored, numbers, kind, event)

    return ImportPlan("verdicts", *compared.counts, list(_failed(source, compared.to_write)), write=write)


def _failed(source: Source, entries: Iterable[_VerdictEntry]) -> Iterator[ImportFinding]:
    for record in (entry.record for entry in entries if entry.record.label is BattleLabel.FAILED):
        text = f"{cut(record.raw, LONGEST_SHOWN)!r} is no verdict; the battle of {record.name} counts as failed"
        yield ImportFinding(FindingCode.UNKNOWN_LABEL, source.name, record.line, text, record.topic_id)


def _import_tasks(campaign: Campaign, source: Source, set_name: str, actor: User | None) -> LoadReceipt:
    tasks = parse_tasks(source)

    def make_plan(locked: Campaign) -> ImportPlan:
        battle_set = _set_named(locked, set_name or IMPORTED)
        if battle_set and battle_set.seed:
            text = f"{battle_set} was drawn here: what others drew goes into the set {IMPORTED}."
            raise Refused("drawn_here", text, field="set")
        battles = _battles_of(battle_set)
        matches = _matched(locked, source, tasks, _Match)
        # A file may have a battle in both orders.
        pairs = {match.pair for match in matches}
        new = len(pairs - battles.keys())

        def write(event: Event) -> None:
            _new_battles(locked, battle_set, matches, battles, event)

        return ImportPlan(BATTLES, new, unchanged=len(pairs) - new, write=write)

    return carry_out(campaign=campaign, kind="battles", sources=[source], actor=actor, make_plan=make_plan)


def _set_named(campaign: Campaign, name: str) -> BattleSet | None:
    """Return a set; None of the one for battles of others where it is not there yet."""
    battle_set = BattleSet.objects.filter(campaign=campaign, name=name).first()
    if battle_set is None and name != IMPORTED:
        raise Refused("no_such_set", f"There is no battle set {name} in {campaign.slug}.", field="set")
    return battle_set


def _battles_of(battle_set: BattleSet | None) -> dict[Pair, Battle]:
    battles = battle_set.battles.all() if battle_set else ()
    return {frozenset((battle.left_id, battle.right_id)): battle for battle in battles}


def _only_drawn(campaign: Campaign) -> str:
    names = list(BattleSet.objects.filter(campaign=campaign).exclude(seed="").values_list("name", flat=True))
    if len(names) > 1:
        text = f"Say which battle set: {', '.join([*names, IMPORTED])}."
        raise Refused("ambiguous", text, field="set", choices=[*names, IMPORTED])
    return names[0] if names else ""


def _matched(
    campaign: Campaign,
    source: Source,
    records: Iterable[BattleTask],
    match: type[AnyMatch],
    beside: Sequence[InputProblem] = (),
) -> list[AnyMatch]:
    """Return battles with their answers. Raises `BadInput` with the problems `beside`, and those of no such answer."""
    rows = AnswerProvenance.objects.filter(run__campaign=campaign, sample=1).select_related("run", "topic")
    answers = {(row.topic.topic_id, row.run.run_id): row for row in rows.defer("references", "extra")}
    matches, problems = list[AnyMatch](), list(beside)
    for record in records:
        for field, run in (("left", record.left), ("right", record.right)):
            if (record.topic_id, run) not in answers:
                text = f"an answer that is loaded; there is none of {run} for topic {record.topic_id}"
                problems.append(InputProblem(source.name, record.line, field, text))
        if not problems:
            left, right = (answers[record.topic_id, run] for run in (record.left, record.right))
            matches.append(match(record, left.topic_id, left.pk, right.pk))
    refuse(problems)
    return matches


def _without_judge_or_verdict(
    source: Source, records: Iterable[BattleRecord], kind: JudgeKind
) -> Iterator[InputProblem]:
    """Find verdicts of which it is not said who judged, and those of people that are none: only a reply fails."""
    for record in records:
        if not record.judge:
            yield InputProblem(source.name, record.line, "judge", "who judged, in the file or said with it")
        if kind is JudgeKind.HUMAN and record.label is BattleLabel.FAILED:
            yield InputProblem(
                source.name, record.line, "verdict", "a verdict; one of an LLM alone may have failed"
            )


def _not_drawn(
    source: Source, entries: Sequence[_VerdictEntry], battles: Mapping[Pair, Battle], kind: JudgeKind
) -> Iterator[InputProblem]:
    for entry in entries:
        battle, line = battles.get(entry.pair), entry.record.line
        if battle is None:
            text = f"a battle that was drawn, not {entry.record.name}"
            yield InputProblem(source.name, line, "left", text)
        elif kind is JudgeKind.HUMAN and (entry.left == battle.left_id) is entry.record.second:
            which = "changed for a second opinion" if entry.record.second else "as they were drawn"
            yield InputProblem(source.name, line, "left", f"the sides {which}, not {entry.record.name}")


def _twice(source: Source, entries: Sequence[_VerdictEntry], kind: JudgeKind) -> Iterator[InputProblem]:
    """Find second verdicts of one judge; an LLM may give one in each order."""
    first: dict[VerdictKey, int] = {}
    for entry in entries:
        line = first.setdefault(entry.key(kind), entry.record.line)
        if line != entry.record.line:
            text = f"one verdict of {entry.record.judge}; it is also at {source.name}:{line}"
            yield InputProblem(source.name, entry.record.line, "verdict", text)


def _loaded(
    battles: Mapping[Pair, Battle],
) -> tuple[dict[VerdictKey, Verdict], dict[VerdictKey, int]]:
    """Return current verdicts, and the number of the last submission of each key, withdrawn ones too."""
    pairs = {battle.pk: pair for pair, battle in battles.items()}
    loaded: dict[VerdictKey, Verdict] = {}
    numbers: dict[VerdictKey, int] = {}
    for part in in_parts_of(list(pairs)):
        for verdict in Verdict.objects.filter(battle__in=part).select_related("judge").order_by("submission"):
            judge = verdict.judge
            key = _key(judge.name, JudgeKind(judge.kind), pairs[verdict.battle_id], verdict.left_id)
            numbers[key] = verdict.submission
            if verdict.stands:
                loaded[key] = verdict
    return loaded, numbers


def _differs(entry: _VerdictEntry, loaded: Verdict) -> bool:
    """Say whether a verdict differs, or what is beside it. A field that the file leaves empty is no difference."""
    record = entry.record
    here = int(record.label), record.second, entry.left
    if here != (loaded.label, loaded.second_opinion, loaded.left_id):
        return True
    in_file = record.raw, list(record.reasons), record.place, entry.stayed, record.seconds
    there = loaded.raw, loaded.reasons, loaded.place, loaded.stayed_id, loaded.seconds
    return any(mine not in ("", [], None) and mine != theirs for mine, theirs in zip(in_file, there, strict=True))


def _change(source: Source, entry: _VerdictEntry, loaded: Verdict) -> InputProblem:
    words = BATTLE_LABELS.by_code
    old, new = words[loaded.label].word, words[int(entry.record.label)].word
    return changed_problem(source, entry.record.line, "verdict", entry.record.name, loaded=old, in_file=new)


def _new_battles(
    campaign: Campaign,
    battle_set: BattleSet | None,
    entries: Sequence[_Match],
    battles: Mapping[Pair, Battle],
    event: Event,
) -> dict[Pair, Battle]:
    """Make the battles that are not there, with the sides of those who saw them first."""
    # Second opinions last: a battle's sides are those of its first verdict.
    ordered = sorted(entries, key=lambda entry: entry.record.second)
    new = {entry.pair: entry for entry in reversed(ordered) if entry.pair not in battles}
    rounds = max(entry.record.round for entry in entries)
    if battle_set is None:
        battle_set = BattleSet.objects.create(
            campaign=campaign, name=IMPORTED, rounds=rounds, design={"by_rule": []}, event=event
        )
    battles = {
        pair: Battle(
            battle_set=battle_set,
            topic_id=entry.topic,
            left_id=entry.left,
            right_id=entry.right,
            round=entry.record.round,
            event=event,
        )
        for pair, entry in reversed(new.items())
    }
    Battle.objects.bulk_create(battles.values(), batch_size=ROWS_A_STATEMENT)
    return battles


def _write(
    entries: Sequence[_VerdictEntry],
    battles: Mapping[Pair, Battle],
    judges: Mapping[str, Judge],
    numbers: Mapping[VerdictKey, int],
    kind: JudgeKind,
    event: Event,
) -> None:
    now = timezone.now()
    Verdict.objects.bulk_create(
        [
            Verdict(
                battle=battles[entry.pair],
                judge=judges[entry.record.judge],
                left_id=entry.left,
                submission=numbers.get(entry.key(kind), 0) + 1,
                label=entry.record.label,
                raw=entry.record.raw,
                reasons=list(entry.record.reasons),
                second_opinion=entry.record.second,
                place=entry.record.place,
                stayed_id=entry.stayed,
                seconds=entry.record.seconds,
                given_at=now,
                event=event,
            )
            for entry in entries
        ],
        batch_size=ROWS_A_STATEMENT,
    )
