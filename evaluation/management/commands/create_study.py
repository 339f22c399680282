"""Drawing the pairs of a disagreement study."""

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand, add_campaign, the_campaign, words_of
from evaluation.models import StudyPair
from evaluation.studies import PER_TOPIC, StudyWish, create_study
from evaluation.terms import StudyKind, SupportCondition

BY_PEOPLE = [word for word in words_of(SupportCondition) if word != SupportCondition.LLM]


class Command(AssayCommand):
    help = "Draw pairs on which a person and an LLM differ, to be judged again by others."
    example = (
        "manage.py create_study --campaign rag24 who-is-right --kind assignment --nuggets edited --per-topic 15"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_campaign(parser)
        parser.add_argument("name", metavar="NAME", help="the study's name; no assessor sees it")
        parser.add_argument("--kind", required=True, choices=words_of(StudyKind), help="which labels are compared")
        parser.add_argument(
            "--nuggets", default="", metavar="SET", help="of assignments: which set, where several fit"
        )
        text = "of support: under which the person judged (default scratch)"
        parser.add_argument("--condition", choices=BY_PEOPLE, default=SupportCondition.SCRATCH.value, help=text)
        parser.add_argument("--person", default="", metavar="JUDGE", help="which person, where several fit")
        parser.add_argument("--machine", default="", metavar="JUDGE", help="which LLM, where several fit")
        text = f"pairs drawn of each topic, all where there are fewer (default {PER_TOPIC})"
        parser.add_argument("--per-topic", type=int, default=PER_TOPIC, metavar="N", help=text)
        text = "give each pair of labels its share of a topic's pairs, in proportion to how often it occurs"
        parser.add_argument("--stratified", action="store_true", help=text)
        parser.add_argument(
            "--seed", type=int, default=0, metavar="N", help="another seed draws others (default 0)"
        )
        parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help="only these topics")

    def act(self, options: dict[str, Any]) -> None:
        wish = StudyWish(
            name=options["name"],
            kind=StudyKind(options["kind"]),
            person=options["person"],
            machine=options["machine"],
            nuggets=options["nuggets"],
            condition=SupportCondition(options["condition"]),
            per_topic=options["per_topic"],
            stratified=options["stratified"],
            seed=options["seed"],
            topics=tuple(options["topics"]),
        )
        study = create_study(campaign=the_campaign(options["campaign"]), wish=wish)
        drawn = StudyPair.objects.filter(study=study)
        topics = drawn.order_by().values("topic").distinct().count()
        self.say(f"{study}: {drawn.count():,} pairs of {topics:,} topics, {study.person} against {study.machine}.")
