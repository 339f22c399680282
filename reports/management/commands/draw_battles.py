"""Drawing battles of runs, and drawing more of them."""

from typing import Any, get_args

from django.core.management.base import CommandParser

from evaluation.battles import USUAL_NAME, BattleDraw, BattleOrder, draw_battles, forecast_battles
from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from evaluation.rules.battles import ALL_PAIRS, USUAL_ROUNDS, Missing
from evaluation.terms import BattleShow
from reports.metrics.battles.win_rates import expected_half_width
from web.text import hours_text, plural


class Command(AssayCommand):
    help = (
        "Draw pairs of answers of which people and LLMs say the better one; again for more rounds, runs or topics."
    )
    example = "manage.py draw_battles --campaign rag26 --rounds 2 --seed river --dry-run"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        text = f"the battle set (default {USUAL_NAME}); of one that is there, more is drawn and what it has stays"
        parser.add_argument("--set", default=USUAL_NAME, metavar="NAME", help=text)
        text = f"of each topic (default {USUAL_ROUNDS}; of up to {ALL_PAIRS} runs all in which all pairs meet)"
        parser.add_argument("--rounds", type=int, metavar="N", help=text)
        parser.add_argument("--runs", nargs="+", default=[], metavar="RUN", help="only these runs, or these more")
        text = "only these topics, or these more"
        parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help=text)
        parser.add_argument("--controls", action="store_true", help="the organizers' control runs too")
        text = "another seed draws others (default: the set's name)"
        parser.add_argument("--seed", default="", metavar="TEXT", help=text)
        text = "a run without an answer loses by rule (zero, the default), or its opponents meet each other (skip)"
        parser.add_argument("--missing", choices=get_args(Missing), help=text)
        text = (
            "what people see: answers alone, numbers of citations, or cited passages too (default: the protocol's)"
        )
        parser.add_argument("--show", choices=[*BattleShow], help=text)
        parser.add_argument("--dry-run", action="store_true", help="say what would be drawn, and draw nothing")

    def act(self, options: dict[str, Any]) -> None:
        order = BattleOrder(
            name=options["set"],
            runs=tuple(options["runs"]),
            topics=tuple(options["topics"]),
            **{name: options[name] for name in ("rounds", "controls", "seed", "missing", "show")},
        )
        act = forecast_battles if options["dry_run"] else draw_battles
        self.say(_sentences(act(campaign=the_campaign(options["campaign"]), order=order)))


def _sentences(draw: BattleDraw) -> str:
    battle_set = draw.battle_set
    size = f"{draw.runs} runs, {draw.topics} {plural(draw.topics, 'topic')}"
    rounds = f"{battle_set.rounds} {plural(battle_set.rounds, 'round')}, seed {battle_set.seed}"
    tasks = f"{draw.tasks:,} {plural(draw.tasks, 'task')}, about {hours_text(draw.hours)}"
    parts = [f"{battle_set}: {size}, {rounds}. {draw.battles:,} {plural(draw.battles, 'battle')} in {tasks}."]
    if draw.by_rule:
        parts.append(f"{draw.by_rule:,} more are decided by rule: an answer is missing.")
    width = expected_half_width(draw.battles_in_all, draw.runs, draw.topics)
    if width is not None:
        parts.append(f"Win rates to expect: ± {width:.3f}.")
    return " ".join(parts)
