"""One battle, for who may see runs: both answers, everybody's verdicts, and its place among the conflicts."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.battles import battle_set_named
from evaluation.campaigns.access import may_organize
from evaluation.labels import BATTLE_LABELS, BattleLabel
from evaluation.models import AnswerProvenance, Battle, Campaign, Verdict
from evaluation.stages import BATTLE
from evaluation.terms import JudgeKind
from reports.battles.agreement import PEOPLE, Conflict, conflicts
from reports.battles.verdicts import verdicts_by
from reports.cache import cached_report
from reports.views import get_campaign


@require_safe
def battle(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    battles = Battle.objects.filter(battle_set__campaign=campaign).select_related("battle_set", "topic")
    this = get_object_or_404(battles, public_id=public_id)
    provenance = AnswerProvenance.objects.select_related("run").in_bulk([this.left_id, this.right_id])
    all_conflicts = conflicts_of(campaign, this.battle_set.name)
    queue = list(dict.fromkeys(conflict.battle.battle for conflict in all_conflicts))
    number = queue.index(public_id) + 1 if public_id in queue else 0
    by_people = [
        conflict for conflict in all_conflicts if conflict.battle.battle == public_id and conflict.of == PEOPLE
    ]
    verdicts = Verdict.objects.current().filter(battle=this, judge__aside=False).select_related("judge")
    in_order = verdicts.order_by("judge__kind", "second_opinion", "judge__name", "pk")
    rows = [_row(verdict, this, provenance) for verdict in in_order]
    context = {
        "campaign": campaign,
        "battle": this,
        "answers": [(provenance[answer.pk].run, answer.sentences.all()) for answer in (this.left, this.right)],
        "verdicts": rows,
        "has_reasons": any(row["why"] for row in rows),
        "number": number,
        "total": len(queue),
        "before": queue[number - 2] if number > 1 else None,
        "after": queue[number] if 0 < number < len(queue) else None,
        "is_settled": any(conflict.is_settled for conflict in by_people),
        "third": _hand_out_address(this)
        if by_people and not by_people[0].is_settled and may_organize(request.user, campaign)
        else "",
    }
    return render(request, "reports/battle.html", context)


@cached_report(size=16)
def conflicts_of(campaign: Campaign, name: str) -> list[Conflict]:
    battle_set = battle_set_named(campaign, name)
    return conflicts(verdicts_by(battle_set, JudgeKind.HUMAN), verdicts_by(battle_set, JudgeKind.LLM))


def _row(verdict: Verdict, this: Battle, provenance: dict[int, AnswerProvenance]) -> dict[str, Any]:
    right = this.right_id if verdict.left_id == this.left_id else this.left_id
    winner = {BattleLabel.LEFT: verdict.left_id, BattleLabel.RIGHT: right}.get(BattleLabel(verdict.label))
    return {
        "verdict": verdict,
        "winner": provenance[winner].run.run_id if winner else "",
        "words": BATTLE_LABELS.by_code[verdict.label].caption,
        "left": provenance[verdict.left_id].run.run_id,
        "why": ". ".join(filter(None, (", ".join(verdict.reasons), verdict.raw))),
    }


def _hand_out_address(this: Battle) -> str:
    """Return the page that hands out the topic's battles of opposite winners to a third person."""
    choice = {"stage": BATTLE, "choose": "ticked", "topics": this.topic.public_id}
    choice |= {"again": "on", "battles": this.battle_set.name}
    return f"{reverse('organizer:hand_out', args=[this.battle_set.campaign.slug])}?{urlencode(choice)}"
