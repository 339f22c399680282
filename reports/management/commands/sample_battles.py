"""Drawing the battles of which people say whether an LLM is right."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign
from reports.battles.samples import SampleDraw, SampleOrder, draw_sample, forecast_sample
from web.text import hours_text, plural


class Command(AssayCommand):
    help = "Draw battles of those that an LLM judged, for people to judge: they correct its win rates. Again for more."
    example = "manage.py sample_battles --campaign rag26 --judge gpt --n 200 --dry-run"

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("--set", default="", metavar="NAME", help="the battle set; none: the only one")
        parser.add_argument("--judge", default="", metavar="NAME", help="the LLM; none: the only one that judged")
        text = "battles that people judge in all; what is drawn already stays"
        parser.add_argument("--n", "--number", type=int, required=True, metavar="N", help=text)
        parser.add_argument("--dry-run", action="store_true", help="say what would be drawn, and draw nothing")

    def act(self, options: dict[str, Any]) -> None:
        order = SampleOrder(options["n"], options["set"], options["judge"])
        act = forecast_sample if options["dry_run"] else draw_sample
        self.say(_sentences(act(campaign=the_campaign(options["campaign"]), order=order)))


def _sentences(draw: SampleDraw) -> str:
    tasks = f"{draw.tasks:,} {plural(draw.tasks, 'task')}, about {hours_text(draw.hours)}"
    return (
        f"{draw.battle_set}: people judge {draw.drawn:,} of the {draw.battles:,} battles that {draw.judge} judged. "
        f"{draw.new:,} more in {tasks}."
    )
