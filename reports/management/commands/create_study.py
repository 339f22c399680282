"""Drawing the pairs of a study: where a person and an LLM differ, or by chance from all that an LLM labelled."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from assessor.timing.times import hours_of_labels
from evaluation.errors import Refused
from evaluation.management.base import AssayCommand, add_campaign, the_campaign, words_of
from evaluation.models import Campaign, Study, StudyPair
from evaluation.stages import stage_of_study
from evaluation.studies import DECOYS, PER_TOPIC, StudyOrder, create_study
from evaluation.terms import DrawKind, StudyKind, SupportCondition
from reports.random_checks.drawing import LEAST, PER_RUN, RandomCheckOrder, create_random_check, size_of
from web.text import hours_text

BY_PEOPLE = [word for word in words_of(SupportCondition) if word != SupportCondition.LLM]


class Command(AssayCommand):
    help = "Draw pairs to be judged by others: where a person and an LLM differ, or by chance (--draw random)."
    example = (
        "manage.py create_study --campaign rag24 who-is-right --kind assignment --nuggets edited --per-topic 15"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("name", metavar="NAME", help="the study's name; no assessor sees it")
        parser.add_argument("--kind", required=True, choices=words_of(StudyKind), help="which labels are compared")
        text = "where a person and an LLM differ (default), or by chance from all that an LLM labelled"
        parser.add_argument("--draw", choices=words_of(DrawKind), default=DrawKind.DISAGREEMENTS.value, help=text)
        parser.add_argument(
            "--nuggets", default="", metavar="SET", help="of assignments: which, where several fit"
        )
        text = "of support: under which the person judged (default scratch)"
        parser.add_argument("--condition", choices=BY_PEOPLE, default=SupportCondition.SCRATCH.value, help=text)
        parser.add_argument("--person", default="", metavar="JUDGE", help="which person, where several fit")
        parser.add_argument("--judge", default="", metavar="JUDGE", help="which LLM, where several fit")
        text = f"pairs drawn of each topic, all where there are fewer (default {PER_TOPIC})"
        parser.add_argument("--per-topic", type=int, default=PER_TOPIC, metavar="N", help=text)
        text = "give each pair of labels its share of a topic's pairs, in proportion to how often it occurs"
        parser.add_argument("--stratified", action="store_true", help=text)
        text = f"percent of a topic's pairs on which both agree, mixed in for the assessor (default {DECOYS})"
        parser.add_argument("--decoys", type=int, default=DECOYS, metavar="PERCENT", help=text)
        text = "another seed draws others (default 0): a number, or of a random check 1 to 60 characters"
        parser.add_argument("--seed", default="0", metavar="SEED", help=text)
        parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help="only these topics")
        check = parser.add_argument_group("of a random check")
        text = f"pairs drawn of each run (default {PER_RUN})"
        check.add_argument("--per-run", type=int, default=PER_RUN, metavar="N", help=text)
        check.add_argument("--runs", nargs="+", default=[], metavar="RUN", help="only these runs")
        text = "judges or studies whose labels count where they are, and say nothing about other pairs"
        check.add_argument("--known", nargs="+", default=[], metavar="NAME", help=text)
        text = "another random check, whose draw and labels are taken over"
        check.add_argument("--sample", default="", metavar="STUDY", help=text)
        text = f"pairs at least of each label of a run (default {LEAST})"
        check.add_argument("--least", type=int, default=LEAST, metavar="N", help=text)
        check.add_argument("--dry-run", action="store_true", help="say what would be drawn, and draw nothing")

    def act(self, options: dict[str, Any]) -> None:
        campaign = the_campaign(options["campaign"])
        if options["draw"] == DrawKind.RANDOM:
            with transaction.atomic():
                self.say(_random_check(campaign, options))
                # A dry run does the real work and takes it back, so that its figures are the real ones.
                transaction.set_rollback(options["dry_run"])
            return
        if not options["seed"].isdecimal():
            raise Refused("usage", "The seed of a study of disagreements is a number.")
        names = ("name", "person", "judge", "nuggets", "per_topic", "stratified", "decoys")
        order = StudyOrder(
            kind=StudyKind(options["kind"]),
            condition=SupportCondition(options["condition"]),
            seed=int(options["seed"]),
            topics=tuple(options["topics"]),
            **{name: options[name] for name in names},
        )
        study = create_study(campaign=campaign, order=order)
        pairs = StudyPair.objects.filter(study=study)
        topics = pairs.order_by().values("topic").distinct().count()
        drawn = f"{pairs.counted().count():,} pairs of {topics:,} topics and {pairs.decoys().count():,} decoys"
        self.say(f"{study}: {drawn}, {study.person} against {study.judge}.")


def _random_check(campaign: Campaign, options: dict[str, Any]) -> str:
    fields = {name: options[name] for name in ("name", "judge", "nuggets", "per_run", "sample", "least", "seed")}
    fields |= {name: tuple(options[name]) for name in ("runs", "topics", "known")}
    study = create_random_check(
        campaign=campaign, order=RandomCheckOrder(kind=StudyKind(options["kind"]), **fields)
    )
    size = size_of(study)
    text = f"{study}: {size}, labelled by {study.judge}."
    return f"{text} {_hours(study, size.judgments)}" if options["dry_run"] else text


def _hours(study: Study, labels: int) -> str:
    campaigns = Campaign.objects.filter(pk=study.campaign_id)
    hours = hours_of_labels(campaigns, stage_of_study(study.kind), labels)
    if hours is None:
        return "Hours of judging are not known yet: nobody has submitted such labels here."
    return f"About {hours_text(hours)} of judging, by the median time of a label in this campaign."
