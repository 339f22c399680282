"""The leaderboard on the overview: what was chosen, or why there is none to show."""

from dataclasses import dataclass

from django.http import QueryDict

from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.queries.holdings import LabelCount, SetCount
from evaluation.terms import Condition, JudgeKind
from reports.choices import resolve_condition
from reports.forms import BoardForm
from reports.leaderboard import Leaderboard, leaderboard


@dataclass(frozen=True, slots=True)
class Board:
    """A form and its leaderboard; without one, `message` says why."""

    form: BoardForm
    board: Leaderboard | None
    message: str = ""


def labelled_conditions(sets: list[SetCount], labels: list[LabelCount]) -> list[Condition]:
    """Return the conditions under which labels exist, in the order of the studies."""
    origins = {one.name: one.origin for one in sets}
    kinds = {(origins.get(one.of), JudgeKind.LLM if one.machine else JudgeKind.HUMAN) for one in labels}
    return [condition for condition in Condition if (condition.origin, condition.judge_kind) in kinds]


def board_for(campaign: Campaign, query: QueryDict, sets: list[SetCount], labels: list[LabelCount]) -> Board:
    """Return the leaderboard the query string asks for; without a wish, that of the first labelled condition."""
    there = labelled_conditions(sets, labels)
    form = BoardForm(
        query,
        sets=[one.name for one in sets if one.origin != "draft"],
        judges=sorted({one.judge for one in labels}),
        defaults={"condition": there[0] if there else Condition.AA},
    )
    if not form.is_valid():
        return Board(form, None, "This is not a choice of this campaign. See the form.")
    try:
        choice = resolve_condition(
            campaign, form.condition_said, judge=form.said["judge"], nuggets=form.said["nuggets"]
        )
    except Refused as refused:
        return Board(form, None, refused.message)
    return Board(form, leaderboard(choice, form.policies))
