"""Sentences of the methods text on battles."""

from collections.abc import Iterator
from typing import Final

from django.db.models import Count

from evaluation.battles import BattleLook
from evaluation.campaigns.pseudonyms import without_people
from evaluation.labels import LEFT_POINTS
from evaluation.models import BattleSet, Campaign, SampledBattle, Verdict
from evaluation.terms import BattleShow, JudgeKind
from web.text import plural

SHOWN_WITH: Final[dict[BattleShow, str]] = {
    BattleShow.ANSWER: "",
    BattleShow.CITATIONS: " who saw the numbers of citations",
    BattleShow.PASSAGES: " who saw citations and the cited passages",
}


def battle_sentences(campaign: Campaign) -> list[str]:
    """Return a sentence for each set that was judged by people or by LLMs, and for each sample of one."""
    sets = BattleSet.objects.filter(campaign=campaign).select_related("campaign")
    return [sentence for row in sets for sentence in (*_sentences(row), *_sample_sentences(row))]


def _sentences(battle_set: BattleSet) -> Iterator[str]:
    seed = without_people(battle_set.campaign, battle_set.seed)
    show = BattleLook.of(battle_set.campaign.protocol, battle_set.design).show
    drawn = f"round robin dealt over topics, seed {seed}" if seed else "drawn elsewhere"
    for kind in JudgeKind:
        verdicts = Verdict.objects.current().filter(
            battle__battle_set=battle_set,
            judge__kind=kind,
            judge__aside=False,
            second_opinion=False,
            label__in=LEFT_POINTS,
        )
        by_people = kind is JudgeKind.HUMAN
        names = sorted(set(verdicts.values_list("judge__name", flat=True)))
        if names:
            number = verdicts.aggregate(
                battles=Count("battle", distinct=True), topics=Count("battle__topic", distinct=True)
            )
            twice = (
                verdicts.values("battle", "judge").annotate(orders=Count("left", distinct=True)).filter(orders=2)
            )
            style = " No run's name was shown; its style may still have been known again." if by_people else ""
            people = f"blind by {len(names)} {plural(len(names), 'person', 'people')}{SHOWN_WITH[show]}"
            both = f", {twice.count():,} of them in both orders"
            judges = people if by_people else f"by {', '.join(names)}{both}"
            topics = f"{number['topics']:,} {plural(number['topics'], 'topic')}"
            yield (
                f"{number['battles']:,} battles over {topics} ({drawn}), sides drawn, judged {judges}; win rates are "
                f"mean points, ties half; 95 % intervals cluster by topic (t).{style}"
            )


def _sample_sentences(battle_set: BattleSet) -> Iterator[str]:
    rows = SampledBattle.objects.filter(battle__battle_set=battle_set).order_by("judge__name")
    for judge, battles, drawn in rows.values_list("judge__name").annotate(Count("pk"), Count("chance")):
        yield (
            f"Of the {battles:,} battles that {judge} judged, {drawn:,} were drawn in proportion to what it said "
            "(decided, tied, failed) and judged blind by people. Corrected win rates are post-stratified by the LLM's "
            "points (Dirichlet 1/2); 95 % intervals, for these topics, with t of the judged battles less 1."
        )
