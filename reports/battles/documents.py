"""The report of battles, for the command and the API."""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

import numpy as np

from evaluation.battles import battle_set_named
from evaluation.errors import Refused
from evaluation.models import BattleSet, Campaign
from evaluation.rules.battles import FEWEST_IN_BOTH_ORDERS
from evaluation.terms import BattleCondition, Condition, JudgeKind, SupportCondition
from reports.battles.agreement import BOTH_ORDERS, PEOPLE, Conflict, agreements, conflicts
from reports.battles.boards import Board, beside, board_of_battles, board_of_scores, is_inversion, with_scores
from reports.battles.corrected import NEW, TARGETS, THESE, CorrectedFigures, CorrectedWinRate, corrected_figures
from reports.battles.figures import LEVEL, BattleFigures, BattleRun, battle_figures
from reports.battles.samples import sample_judges
from reports.battles.verdicts import (
    BattleVerdict,
    CountedBattle,
    counted_battles,
    current_verdicts,
    sheet_of,
    sheet_of_sides,
    verdicts_by,
)
from reports.document import Document, Naming, Option
from reports.metrics.arrays import defined
from reports.metrics.battles.agreement import VerdictAgreement
from reports.metrics.battles.explained import explained
from reports.metrics.battles.ratings import length_slope, side_term
from reports.metrics.battles.sheet import FEWEST_TRIADS, BattleSheet, cycles
from reports.metrics.battles.win_rates import share_of
from reports.metrics.intervals import FEWEST_TOPICS, UNDEFINED, Estimate
from reports.metrics.jackknife import Jackknife
from reports.metrics.registry import SCORES
from reports.metrics.significance import significance_groups
from reports.registry import Choices, document

LEAST_BATTLES = 20
WIN, RATING, CORRECTED = SORTINGS = ("win", "rating", "corrected")
ESTIMATES = ("llm", "people", "corrected")
ENOUGH = 0.7
"""Reliability below which win rates do not order the runs."""
ENOUGH_ORDERS = 0.45
"""Agreement of an LLM's two orders below which further second orders are worth more than further battles."""
USUAL = {"by": WIN, "target": THESE, "least_topics": FEWEST_TOPICS, "least_battles": LEAST_BATTLES}
ODDS = {"side_term": "on the left", "length": "twice as long"}
UNSEEN = "of no verdict is it known which answer had stayed"
JUDGE = Option(
    "judge", "whose verdicts alone; of LLMs which, where several judged", metavar="NAME", of=Naming.JUDGE
)
AGAINST = (
    Option(
        "against",
        "a condition whose scores are set beside the battles, or the other one of battles",
        (*Condition, *SupportCondition, *BattleCondition),
    ),
    Option("against_judge", "whose labels are meant, where several fit", metavar="NAME", of=Naming.JUDGE),
    Option("against_nuggets", "which set is meant, where several fit", metavar="SET", of=Naming.NUGGET_SET),
    Option(
        "score", "which score of it; the primary one where none is named", tuple(score.name for score in SCORES)
    ),
)


@document(
    "battles",
    "Runs by win rate and rating of their battles, with intervals that cluster by topic.",
    (
        Option("condition", "by people or by an LLM", tuple(BattleCondition), needed=True),
        Option("set", "which battle set, where there are several", metavar="NAME"),
        JUDGE,
        Option("by", "the order of the runs (default win)", SORTINGS, WIN),
        Option("target", "corrected win rates for these topics or for others like them", TARGETS, THESE),
        Option(
            "least_topics",
            f"topics that a run needs (default {FEWEST_TOPICS})",
            default=FEWEST_TOPICS,
            is_count=True,
        ),
        Option(
            "least_battles",
            f"battles that a run needs (default {LEAST_BATTLES})",
            default=LEAST_BATTLES,
            is_count=True,
        ),
        *AGAINST,
    ),
)
def battles_report(campaign: Campaign, choices: Choices) -> Document:
    battle_set, condition = battle_set_named(campaign, choices["set"]), BattleCondition(choices["condition"])
    verdicts = current_verdicts(battle_set, condition, choices["judge"])
    battles = _counted(battle_set, condition, verdicts)
    sheet = sheet_of(battle_set, battles)
    figures = _figures(sheet, choices)
    corrected = _corrected(battle_set, condition, choices)
    people, llms = _people_and_llms(battle_set, condition, verdicts)
    by_sample = corrected if choices["by"] == CORRECTED else None
    ordering = by_sample or figures
    runs = _ranked(figures, corrected, choices["by"])
    differences = [
        {"a": ordering.run_ids[gap.a], "b": ordering.run_ids[gap.b], "value": gap.value}
        | {"low": gap.interval.low, "high": gap.interval.high, "p": defined(gap.p), "holm": defined(gap.holm)}
        for gap in ordering.differences
    ]
    content = {
        "set": battle_set.name,
        "condition": condition.value,
        "by": choices["by"],
        "target": by_sample.target if by_sample else NEW,
        "policies": {"missing": battle_set.design.get("missing", "skip")},
        "sample": _sample_document(corrected) if corrected else None,
        "runs": runs,
        "bands": _bands(runs, differences),
        "differences": differences,
        "side": _share_document(_mean_points(verdicts, "left_points")),
        "side_term": _share_document(side_term(sheet_of_sides(verdicts))),
        "stayed": _share_document(_mean_points(verdicts, "stayed_points"), UNSEEN),
        "length": _share_document(length_slope(sheet)),
        "agreement": [_agreement_document(*row) for row in agreements(people, llms)],
        "conflicts": [_conflict_document(conflict) for conflict in conflicts(people, llms)],
        "cycles": _cycles_document(sheet),
        "reliability": figures.reliability,
        "unbalanced": list(figures.unbalanced),
        **_beside(campaign, battle_set, battles, board_of_battles(condition.value, ordering), choices),
    }
    return Document(
        content, [run_row(run, choices["by"]) for run in runs], _text(battle_set, figures, content, len(battles))
    )


def _figures(sheet: BattleSheet, choices: Choices) -> BattleFigures:
    return battle_figures(sheet, least_topics=choices["least_topics"], least_battles=choices["least_battles"])


def _counted(
    battle_set: BattleSet, condition: BattleCondition, verdicts: Sequence[BattleVerdict]
) -> list[CountedBattle]:
    """Raises `Refused` where no verdict has points: replies failed, or nobody could judge."""
    battles = counted_battles(verdicts)
    if not battles:
        raise Refused("no_labels", f"No battle of {battle_set} has a verdict that counts under {condition}.")
    return battles


def _corrected(battle_set: BattleSet, condition: BattleCondition, choices: Choices) -> CorrectedFigures | None:
    """Return the figures of the sample of the LLM that is meant; None where there is none, or it is not clear which.

    Raises `Refused` for them where they are asked for.
    """
    judges = sample_judges(battle_set)
    if condition is BattleCondition.LLM and choices["judge"]:
        judges = [judge for judge in judges if judge == choices["judge"]]
    if len(judges) != 1:
        if choices["by"] != CORRECTED:
            return None
        if not judges:
            text = f"Of {battle_set} no battles were drawn for people to correct an LLM by."
            raise Refused("no_sample", text, field="by")
        text = f"Say by {BattleCondition.LLM} which LLM is corrected: {', '.join(judges)}."
        raise Refused("ambiguous", text, field="judge", choices=judges)
    return corrected_figures(
        battle_set,
        judges[0],
        target=choices["target"],
        least_topics=choices["least_topics"],
        least_battles=choices["least_battles"],
    )


def _ranked(figures: BattleFigures, corrected: CorrectedFigures | None, by: str) -> list[dict[str, Any]]:
    samples = {run.run_id: run for run in corrected.runs} if corrected else {}
    runs = [_run_document(run, samples.get(run.run_id), by) for run in figures.runs]
    value = {WIN: "win_rate", RATING: "rating"}.get(by)

    def place(run: dict[str, Any]) -> tuple[bool, float, str]:
        of_run = run[value] if value else (run["corrected"] or {}).get("value")
        return of_run is None, -(of_run or 0.0), run["run_id"]

    return sorted(runs, key=place)


def _bands(runs: Sequence[Mapping[str, Any]], differences: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the largest sets of runs of which no two differ, each difference by itself."""
    names = [run["run_id"] for run in runs if run["rank"]]
    place = {name: number for number, name in enumerate(names)}
    p = np.ones((len(names), len(names)))
    for gap in differences:
        a, b = place[gap["a"]], place[gap["b"]]
        p[a, b] = p[b, a] = 1.0 if gap["p"] is None else gap["p"]
    return [[names[run] for run in sorted(band)] for band in significance_groups(p, LEVEL)]


def _people_and_llms(
    battle_set: BattleSet, condition: BattleCondition, verdicts: list[BattleVerdict]
) -> tuple[list[BattleVerdict], list[BattleVerdict]]:
    """Return the verdicts of people and those of LLMs, of which `verdicts` are the report's."""
    if condition.judge_kind is JudgeKind.LLM:
        return verdicts_by(battle_set, JudgeKind.HUMAN), verdicts
    return verdicts, verdicts_by(battle_set, JudgeKind.LLM)


def _beside(
    campaign: Campaign, battle_set: BattleSet, battles: Sequence[CountedBattle], own: Board, choices: Choices
) -> dict[str, Any]:
    against = choices["against"]
    if not against:
        return {"explained": None, "boards": []}
    if against in list(BattleCondition):
        condition = BattleCondition(against)
        verdicts = current_verdicts(battle_set, condition, choices["against_judge"])
        counted = _counted(battle_set, condition, verdicts)
        other = board_of_battles(against, _figures(sheet_of(battle_set, counted), choices))
    else:
        other = board_of_scores(campaign, choices)
    return {"explained": _explained(battles, other), "boards": [beside(own, other)]}


def _explained(battles: Sequence[CountedBattle], board: Board) -> dict[str, Any] | None:
    if board.table is None:
        return None
    known, scored = with_scores(battles, board.table)
    figures = explained(scored)
    model = figures.prediction
    return {
        "battles": len(known),
        "decided": figures.decided,
        "agree": _share_document(figures.agree),
        "no_difference": figures.equal,
        "slope": model and model.model.slope,
        "half_band": model and model.model.band,
        "loss": model and model.loss,
        "loss_without": model and model.loss_without,
        "gain": _share_document(model.gain if model else None, figures.reason),
        "inversions": [
            _battle_document(battle) | {"gap": gap, "reasons": list(battle.reasons)}
            for battle, gap in zip(known, scored.gap.tolist(), strict=True)
            if is_inversion(battle, gap)
        ],
    }


def _agreement_document(of: str, judge: str, agreement: VerdictAgreement) -> dict[str, Any]:
    figures = {name: _value_document(figure) for name, figure in agreement.figures.items()}
    head = {"of": of, "judge": judge or None, "pairs": agreement.pairs}
    return head | figures | {"opposite": agreement.opposite}


def _battle_document(battle: CountedBattle) -> dict[str, Any]:
    """A battle by name; `points` are those of a."""
    runs = {"a": battle.first, "b": battle.second, "points": battle.points}
    return {"battle": battle.battle, "topic_id": battle.topic_id} | runs


def _conflict_document(conflict: Conflict) -> dict[str, Any]:
    head = {"of": conflict.of, "judge": conflict.judge or None, "settled": conflict.is_settled}
    return _battle_document(conflict.battle) | head


def _cycles_document(sheet: BattleSheet) -> dict[str, Any]:
    triads = cycles(sheet)
    reason = None if triads.share is not None else f"fewer than {FEWEST_TRIADS} decided triads"
    return {"triads": triads.triads, "cyclic": triads.cyclic, "share": triads.share, "reason": reason}


def _run_document(run: BattleRun, sample: CorrectedWinRate | None, by: str) -> dict[str, Any]:
    rate, rating = run.win_rate.interval, run.rating.interval
    rank = (sample and sample.rank) if by == CORRECTED else run.rank
    return {
        "run_id": run.run_id,
        "win_rate": run.win_rate.value,
        "low": rate.low,
        "high": rate.high,
        "rating": run.rating.value,
        "rating_low": rating.low,
        "rating_high": rating.high,
        "rank": list(rank) if rank else None,
        **{name: getattr(run, name) for name in ("battles", "won", "lost", "tied", "both_bad", "topics", "few")},
        "reason": run.reason or None,
        **{name: _value_document(getattr(sample, name)) if sample else None for name in ESTIMATES},
        **{name: getattr(sample, name) if sample else None for name in ("drawn", "judged", "refused")},
    }


def _sample_document(figures: CorrectedFigures) -> dict[str, Any]:
    names = ("judge", "target", "battles", "drawn", "judged", "refused", "outside", "stale")
    return {name: getattr(figures, name) for name in names}


def run_row(document: Mapping[str, Any], by: str) -> dict[str, Any]:
    """A run as a line of a table; with the parts of its corrected win rate where that orders them."""
    row = dict(document)
    best, worst = row.pop("rank") or (None, None)
    reason, counts = row.pop("reason"), {name: row.pop(name) for name in ("drawn", "judged", "refused")}
    estimates = {name: row.pop(name) or {} for name in ESTIMATES}
    row |= {"best_rank": best, "worst_rank": worst, "reason": reason or ""}
    if by != CORRECTED:
        return row
    for name, estimate in estimates.items():
        row[name] = estimate.get("value")
        row |= {f"{name}_{end}": estimate.get(end) for end in ("low", "high")}
    return row | counts | {"corrected_reason": estimates["corrected"].get("reason") or ""}


def _mean_points(verdicts: list[BattleVerdict], of: str) -> Estimate | None:
    """Mean points of the answer on the left, or of the one that stayed, over verdicts that are no second opinion."""
    shares = [(getattr(verdict, of), verdict.topic_id) for verdict in verdicts if not verdict.second]
    return share_of([(points, topic) for points, topic in shares if points is not None])


def _share_document(share: Estimate | None, reason: str = UNDEFINED) -> dict[str, Any]:
    return (
        _value_document(share) if share else {"value": None, "low": None, "high": None, "reason": reason or None}
    )


def _value_document(figure: Jackknife | Estimate) -> dict[str, Any]:
    interval = figure.interval
    return {"value": figure.value, "low": interval.low, "high": interval.high, "reason": interval.reason or None}


def _text(battle_set: BattleSet, figures: BattleFigures, content: Mapping[str, Any], judged: int) -> str:
    apart = sum(gap["holm"] is not None and gap["holm"] < LEVEL for gap in content["differences"])
    battles = battle_set.battles.count()
    lines = [
        f"{judged:,} of {battles:,} battles judged. Win rates are mean points, ties half; 95 % "
        "intervals cluster by topic.",
        f"{apart:,} of {len(content['differences']):,} pairs of runs differ (Holm).",
    ]
    if by_rule := len(battle_set.design.get("by_rule", [])):
        lines.append(f"{by_rule:,} battles of missing answers are decided by rule.")
    if figures.split:
        lines.append(f"The side decided {figures.split:,} battles, judged in both orders.")
    lines += [
        f"The two orders of {row['judge']} agree in {agree:.2f} of battles: judge the rest in both."
        for row in content["agreement"]
        if row["of"] == BOTH_ORDERS and FEWEST_IN_BOTH_ORDERS <= row["pairs"] < battles
        if (agree := row["agreement"]["value"]) is not None and agree < ENOUGH_ORDERS
    ]
    if figures.unbalanced:
        names = ", ".join(figures.unbalanced)
        lines.append(f"Unbalanced: by whom they met, win rates lean by more than .01 of {names}.")
    if opposite := [row["settled"] for row in content["conflicts"] if row["of"] == PEOPLE]:
        settled = f", and a third person settled {sum(opposite):,}" if any(opposite) else ""
        lines.append(f"In {len(opposite):,} battles people named opposite winners{settled}.")
    for what, words in ODDS.items():
        if (slope := content[what]["value"]) is not None:
            lines.append(f"An answer {words} has {exp(slope):.2f} times the odds to win.")
    of = " of corrected win rates" if content["by"] == CORRECTED else ""
    lines += [_board_line(board, of) for board in content["boards"]]
    if figures.reliability is not None and figures.reliability < ENOUGH:
        lines.append(f"Reliability {figures.reliability:.2f}: these battles do not order the runs.")
    return "\n".join(["", *lines])


def _board_line(board: Mapping[str, Any], of: str) -> str:
    tau = board["reason"] if board["tau"] is None else f"{board['tau']:.3f}"
    pairs = f"{board['same']:,} in the same order, {board['opposite']:,} in the opposite one"
    return f"Tau{of} with {board['condition']} {board['score']}: {tau}. Pairs that differ on both boards: {pairs}."
