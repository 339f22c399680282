"""Page of battles: win rates and ratings, what leans, how far judges agree, and what scores explain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.http import QueryDict

from evaluation.models import BattleSet, Campaign
from evaluation.terms import BattleCondition
from reports import charts, needs
from reports.battles.agreement import BOTH_ORDERS
from reports.battles.corrected import NEW, THESE
from reports.battles.documents import AGAINST, CORRECTED, ESTIMATES, USUAL, WIN, battles_report, run_row
from reports.battles.samples import sample_judges
from reports.cache import cached_report
from reports.document import Document
from reports.forms import (
    BATTLE_SCORES,
    CONDITIONS,
    HIDDEN,
    SUPPORT_CONDITIONS,
    ChoicesForm,
    name_options,
    usual_battle_condition,
)
from reports.metrics.registry import BY_NAME
from reports.profiles import profiles_of, score_choices
from reports.registry import report
from reports.report import OVERVIEW, Chart, ColumnKind, ReportContent, Row, Section, columns, counted, of_kind

BATTLES = [(condition.value, condition.words) for condition in BattleCondition]
WIN_RATE = "Win rate"
SORTED = dict(BATTLE_SCORES)
TARGETS = {THESE: "these topics", NEW: "topics like these"}
LEANINGS = {
    "side": "Points of the answer on the left",
    "side_term": "Slope of standing on the left, in logits",
    "stayed": "Points of the answer that stayed on screen",
    "length": "Slope of twice the length, in logits",
}
BARS = ("bars", "Group of runs that are not told apart", ColumnKind.BARS)
BESIDE_BARS = " Runs beside one bar are not told apart, pair by pair. Rank: the best and worst that this allows."
ASIDE = ("ranks", "bars", "intervals")
AGREEMENT = ("agreement", "kappa", "kappa_linear", "alpha")


class BattlesForm(ChoicesForm):
    """Choice of a battle set, of who judged, and of scores beside the battles."""

    set = forms.ChoiceField(label="Battle set", required=False)
    condition = forms.ChoiceField(label="By", choices=BATTLES)
    by = forms.ChoiceField(label="Sorted by", required=False)
    target = forms.ChoiceField(label="Corrected for")
    judge = HIDDEN()
    against = forms.ChoiceField(label="Beside", required=False)
    score = forms.ChoiceField(label="Scored", required=False)
    against_judge, against_nuggets = HIDDEN(), HIDDEN()
    needless = ("set", "target")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        usual = {"condition": usual_battle_condition(campaign), "by": WIN, "target": THESE}
        super().__init__(query, campaign, usual)
        sets = list(BattleSet.objects.filter(campaign=campaign))
        names = [battle_set.name for battle_set in sets]
        self.offer("set", name_options(names if len(names) > 1 else (), ("", "choose one")))
        has_sample = any(sample_judges(battle_set) for battle_set in sets)
        self.offer("by", [(by, words) for by, words in SORTED.items() if has_sample or by != CORRECTED])
        self.offer("target", list(TARGETS.items()) if has_sample else [(THESE, TARGETS[THESE])])
        others = [("Battles", BATTLES), ("Nuggets", CONDITIONS), ("Citations", SUPPORT_CONDITIONS)]
        self.offer("against", [("", "nothing"), *others])
        self.offer("score", [("", "by the primary score"), *score_choices(profiles_of(campaign))])


@report(
    "battles",
    title="Battles",
    form=BattlesForm,
    menu="Results",
    order=15,
    below=("battle",),
    needs=(needs.BATTLES, needs.VERDICTS),
)
def battles_page(form: BattlesForm) -> ReportContent:
    names = ("set", "condition", "judge", "by", "target", *(option.name for option in AGAINST))
    return _content(form.campaign, tuple((name, form.chosen[name]) for name in names))


@cached_report(size=16)
def document_of(campaign: Campaign, choices: tuple[tuple[str, str], ...]) -> Document:
    """Return the document that `report battles` has with these choices, those without one as usual."""
    return battles_report(campaign, USUAL | dict.fromkeys((option.name for option in AGAINST), "") | dict(choices))


def run_sections(campaign: Campaign, content: Mapping[str, Any], name: str = OVERVIEW) -> list[Section]:
    """Return the tables of runs, of which the first has the order that was chosen and this name."""
    tasks = dict(campaign.runs.values_list("run_id", "task"))
    sections = [_runs(content, tasks)]
    if content["sample"]:
        sections.append(_corrected(content, tasks))
    if content["by"] == CORRECTED:
        sections.reverse()
    return [replace(sections[0], name=name, document=lambda: content), *sections[1:]]


def _content(campaign: Campaign, choices: tuple[tuple[str, str], ...]) -> ReportContent:
    document = document_of(campaign, choices)
    content = document.content
    sections = run_sections(campaign, content)
    sections += [_differences(content), _leanings(content), _agreement(content)]
    sections += [
        section for section in (_boards(content), _conflicts(content), _inversions(content)) if section.rows
    ]
    return ReportContent(tuple(document.text.split("\n")[1:]), sections)


def _runs(content: Mapping[str, Any], tasks: Mapping[str, str]) -> Section:
    bars = [row | {"task": tasks[row["run_id"]]} for row in content["runs"] if row["win_rate"] is not None]
    ranked = () if content["by"] == CORRECTED else (BARS, ("ranks", "Rank"))
    return Section(
        name="runs",
        title="Runs",
        columns=columns(
            ("run_id", "Run", ColumnKind.RUN),
            *ranked,
            ("win_rate", WIN_RATE, ColumnKind.SCORE),
            ("rating", "Rating", ColumnKind.MEAN),
            *of_kind(
                ColumnKind.COUNT, battles="Battles", won="Won", lost="Lost", tied="Tied", both_bad="Both bad"
            ),
            ("topics", "Topics", ColumnKind.COUNT),
            *_why_not("reason", content["runs"]),
            primary="win_rate",
            screen="bars reason",
        ),
        rows=[_run(row, content) for row in content["runs"]],
        note="Win rate: mean points against the field, ties half. Below it and the rating: 95 % interval, over topics."
        f"{BESIDE_BARS if ranked else ''}",
        topics="topics",
        aside=ASIDE,
        chart=_ranking(bars, "win_rate", WIN_RATE.lower()),
    )


def _ranking(bars: Sequence[Row], score: str, words: str) -> Chart | None:
    if not bars:
        return None
    return Chart(
        alt=f"{counted(len(bars), 'run')} by {words}, each with its interval.",
        draw=lambda palette: charts.ranking(palette, bars, score, words),
    )


def _run(row: Mapping[str, Any], content: Mapping[str, Any]) -> Row:
    ends = {"win_rate": ("low", "high"), "rating": ("rating_low", "rating_high")}
    reason = row["reason"] or ""
    intervals = {
        name: {"low": row[low], "high": row[high], "reason": reason} for name, (low, high) in ends.items()
    }
    return {**run_row(row, content["by"]), **_place(row, content), "intervals": intervals}


def _place(row: Mapping[str, Any], content: Mapping[str, Any]) -> Row:
    """Return what only the page has: the range of ranks, and beside which bars the run stands."""
    return {"ranks": _ranks(row), "bars": [row["run_id"] in band for band in content["bands"]]}


def _why_not(key: str, rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    return ((key, "Why not"),) if any(row[key] for row in rows) else ()


def _ranks(row: Mapping[str, Any]) -> str:
    return " to ".join(map(str, sorted({*(row["rank"] or ())})))


def _corrected(content: Mapping[str, Any], tasks: Mapping[str, str]) -> Section:
    sample = content["sample"]
    by_corrected = content["by"] == CORRECTED
    rows = [
        {**run_row(row, CORRECTED), **_place(row, content)}
        | {"intervals": {name: _ends(row[name]) for name in ESTIMATES}}
        for row in content["runs"]
        if row["corrected"]
    ]
    bars = [
        row | row["intervals"]["corrected"] | {"task": tasks[row["run_id"]]}
        for row in rows
        if row["corrected"] is not None
    ]
    return Section(
        name="corrected",
        title="Corrected",
        columns=columns(
            ("run_id", "Run", ColumnKind.RUN),
            *((BARS, ("ranks", "Rank")) if by_corrected else ()),
            ("corrected", "Corrected", ColumnKind.SCORE),
            ("llm", "LLM", ColumnKind.SCORE),
            ("people", "People only", ColumnKind.SCORE),
            *of_kind(ColumnKind.COUNT, drawn="Drawn", judged="Judged", refused="Can't judge"),
            *_why_not("corrected_reason", rows),
            primary="corrected",
            screen="bars corrected_reason",
        ),
        rows=rows,
        note=f"{sample['judge']} judged {sample['battles']:,} battles, people {sample['judged']:,} of "
        f"{sample['drawn']:,} that were drawn. Below each win rate: 95 % interval, corrected for "
        f"{TARGETS[sample['target']]}, the others for topics like these.{BESIDE_BARS if by_corrected else ''}",
        # Where win rates order the runs, ranks are theirs.
        aside=ASIDE if by_corrected else (*ASIDE, "best_rank", "worst_rank"),
        chart=_ranking(bars, "corrected", SORTED[CORRECTED].lower()),
    )


def _differences(content: Mapping[str, Any]) -> Section:
    return Section(
        name="differences",
        title="All pairs of runs",
        columns=columns(
            ("a", "Run", ColumnKind.RUN),
            ("b", "Against", ColumnKind.RUN),
            ("value", SORTED[CORRECTED] if content["by"] == CORRECTED else WIN_RATE, ColumnKind.SIGNED),
            *of_kind(ColumnKind.P, p="p", holm="p, Holm"),
        ),
        rows=[_with_ends(row) for row in content["differences"]],
        note="Above 0: the first run is better. Holm: corrected for the number of pairs.",
        aside=("intervals",),
    )


def _with_ends(row: Mapping[str, Any]) -> Row:
    return {**row, "intervals": {"value": _ends(row)}}


def _ends(figure: Mapping[str, Any]) -> Row:
    ends = {"low": figure["low"], "high": figure["high"]}
    return ends | ({"reason": figure["reason"]} if figure["low"] is None and figure.get("reason") else {})


def _leanings(content: Mapping[str, Any]) -> Section:
    rows = [_with_ends({"of": words, **content[name]}) for name, words in LEANINGS.items()]
    return Section(
        name="leanings",
        title="What else decides",
        columns=columns(("of", "Of"), ("value", "Value", ColumnKind.SCORE), *_why_not("reason", rows)),
        rows=rows,
        note="Half of the points is no leaning, and neither is a slope of 0.",
        aside=("intervals",),
    )


def _agreement(content: Mapping[str, Any]) -> Section:
    rows = []
    for row in content["agreement"]:
        figures = {name: row[name]["value"] for name in AGREEMENT}
        intervals = {name: _ends(row[name]) for name in AGREEMENT}
        rows.append({**row, **figures, "intervals": intervals})
    return Section(
        name="agreement",
        title="Agreement",
        columns=columns(
            ("of", "Of"),
            ("judge", "LLM"),
            ("pairs", "Pairs", ColumnKind.COUNT),
            *of_kind(
                ColumnKind.SCORE, agreement="Agreement", kappa="Kappa", kappa_linear="Linear kappa", alpha="Alpha"
            ),
            ("opposite", "Opposite winners", ColumnKind.COUNT),
        ),
        rows=rows,
        note="Each battle counts from both of its sides.",
        pairs="pairs",
        empty="No battle was judged twice.",
    )


def _boards(content: Mapping[str, Any]) -> Section:
    figure = f"{SORTED[CORRECTED]} beside the board. " if content["by"] == CORRECTED else ""
    explained = content["explained"] or {}
    rows = [
        {
            **board,
            "scored": WIN_RATE if board["score"] not in BY_NAME else BY_NAME[board["score"]].words,
            "agree": (explained.get("agree") or {}).get("value"),
            "gain": (explained.get("gain") or {}).get("value"),
            "no_difference": explained.get("no_difference"),
        }
        for board in content["boards"]
    ]
    return Section(
        name="boards",
        title="Beside another board",
        columns=columns(
            ("condition", "Board", ColumnKind.CONDITION),
            ("scored", "Score"),
            ("tau", "Tau", ColumnKind.SCORE),
            *of_kind(ColumnKind.COUNT, runs="Runs", same="Apart, same order", opposite="Apart, opposite"),
            *of_kind(ColumnKind.SHARE, agree="Higher score won", no_difference="No difference"),
            ("gain", "Gain, nats", ColumnKind.SCORE),
        ),
        rows=rows,
        aside=("scored",),
        note=f"{figure}Apart: pairs of runs that differ on both boards. Tau has no interval here: none of those tried "
        "holds.",
    )


def _battles(
    name: str,
    title: str,
    rows: Sequence[Row],
    *more: tuple[str, str, ColumnKind],
    note: str = "",
    aside: tuple[str, ...] = (),
) -> Section:
    return Section(
        name=name,
        title=title,
        columns=columns(
            ("topic_id", "Topic", ColumnKind.TOPIC),
            ("a", "Run", ColumnKind.RUN),
            ("b", "Against", ColumnKind.RUN),
            ("points", "Points", ColumnKind.MEAN),
            *more,
            ("battle", "Battle", ColumnKind.BATTLE),
            screen="battle",
        ),
        rows=rows,
        note=note,
        aside=aside,
    )


def _conflicts(content: Mapping[str, Any]) -> Section:
    rows = [
        {**row, "between": _between(row), "state": "by a third person" if row["settled"] else ""}
        for row in content["conflicts"]
    ]
    settled = (("state", "Settled", ColumnKind.TEXT),) if any(row["settled"] for row in rows) else ()
    return _battles(
        "conflicts",
        "Opposite winners",
        rows,
        ("between", "Between", ColumnKind.TEXT),
        *settled,
        note="Points: of the run, by the verdict that is named first.",
        aside=("between", "state"),
    )


def _between(row: Mapping[str, Any]) -> str:
    if row["of"] == BOTH_ORDERS:
        return f"the two orders of {row['judge']}"
    return f"people and {row['judge']}" if row["judge"] else "two people"


def _inversions(content: Mapping[str, Any]) -> Section:
    inversions = (content["explained"] or {}).get("inversions", [])
    rows = [{**row, "reasons": " ".join(row["reasons"])} for row in inversions]
    more = (("gap", "Score, less the other's", ColumnKind.SIGNED), ("reasons", "Reasons", ColumnKind.NAMES))
    return _battles("inversions", "Won by the lower score", rows, *more)
