"""Battles of a campaign's runs that people and a machine have judged."""

import json
from typing import Any

from evaluation.battles import BattleOrder, draw_battles
from evaluation.formats.source import Source
from evaluation.imports.battles import import_battles
from evaluation.models import AnswerProvenance, Campaign
from evaluation.terms import JudgeKind
from reports.battles.samples import SampleOrder, draw_sample

BATTLES = "side by side"


def judge_battles(campaign: Campaign, judge: str, other: str, machine: str) -> None:
    """Draw all battles; a person judges each, another some again, a machine each twice, and most are a sample."""
    draw = draw_battles(campaign=campaign, order=BattleOrder(name=BATTLES, seed="river"))
    runs = dict(AnswerProvenance.objects.filter(run__campaign=campaign).values_list("answer", "run__run_id"))
    words = ("left", "tie", "right", "bad", "left", "cant_judge")
    people, replies = list[dict[str, Any]](), list[dict[str, Any]]()
    for place, battle in enumerate(draw.battle_set.battles.select_related("topic")):
        left, right = runs[battle.left_id], runs[battle.right_id]
        sides = {"topic_id": battle.topic.topic_id, "left": left, "right": right, "round": battle.round}
        turned = sides | {"left": right, "right": left}
        verdict = words[place % len(words)]
        reasons = ["accuracy", "point"] if verdict == "left" else []
        people.append(sides | {"verdict": verdict, "reasons": reasons, "judge": judge})
        if place % 2:
            people.append(turned | {"verdict": words[(place + 2) % 6], "judge": other, "second": True})
        replies += [
            sides | {"verdict": words[place % 4], "judge": machine},
            turned | {"verdict": words[(place + 1) % 4], "judge": machine},
        ]
    for name, rows, kind in (("verdicts", people, JudgeKind.HUMAN), ("replies", replies, JudgeKind.LLM)):
        lines = tuple((place, json.dumps(row)) for place, row in enumerate(rows, 1))
        import_battles(campaign=campaign, source=Source(f"{name}.jsonl", "", lines), kind=kind)
    number = max(1, draw.battles * 3 // 4)
    draw_sample(campaign=campaign, order=SampleOrder(number, BATTLES, machine))
