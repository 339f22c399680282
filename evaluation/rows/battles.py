"""Battles as rows: sets, the pairs of answers that were drawn, and who said which is better."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from evaluation.labels import BATTLE_LABELS
from evaluation.models import AnswerProvenance, Battle, BattleSet, SampledBattle, Verdict
from evaluation.rows.base import Reader, Row, Values
from evaluation.rows.labels import LabelReader, in_order, iso


class BattleSets(Reader):
    model = BattleSet
    paths = {"campaign": "campaign"}
    values = ("campaign", "name", "seed", "rounds", "design", "created_at")

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        keys = [row[0] for row in chunk]
        battles = Battle.objects.using(self.alias).filter(battle_set__in=keys).order_by().values_list("battle_set")
        numbers = dict(battles.annotate(Count("pk")))
        samples = self._samples(keys)
        for pk, campaign, name, seed, rounds, design, created_at in chunk:
            clean = self.names.clean
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "name": clean(campaign, name),
                "seed": clean(campaign, seed) or None,
                "rounds": rounds,
                "missing": design.get("missing"),
                "show": design.get("show"),
                "markdown": design.get("markdown"),
                "rubric": design.get("rubric"),
                "runs": [*design.get("runs", []), *design.get("joined", [])],
                "topics": design.get("topics", []),
                "battles": numbers.get(pk, 0),
                "by_rule": len(design.get("by_rule", [])),
                "samples": [
                    {"judge": self.names.judge(campaign, judge), "battles": number, "drawn": drawn}
                    for judge, number, drawn in samples[pk]
                ],
                "made_at": created_at,
            }

    def _samples(self, keys: Iterable[int]) -> dict[int, list[Values]]:
        rows = SampledBattle.objects.using(self.alias).filter(battle__battle_set__in=keys)
        counted = rows.order_by("judge").values_list("battle__battle_set", "judge")
        samples: dict[int, list[Values]] = defaultdict(list)
        for key, *sample in counted.annotate(Count("pk"), Count("chance")):
            samples[key].append(tuple(sample))
        return samples


class OfAnswers(Reader):
    """Rows that two answers make, `left` and `right`."""

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        answers = AnswerProvenance.objects.filter(run__in=runs).values("answer")
        left, right = (f"{self.paths['battle']}{side}__in" for side in ("left", "right"))
        return rows.filter(Q(**{left: answers}) | Q(**{right: answers}))

    def run_ids(self, answers: Iterable[int]) -> dict[int, tuple[str, str]]:
        rows = AnswerProvenance.objects.using(self.alias).filter(pk__in=set(answers))
        return {pk: (run, name) for pk, run, name in rows.values_list("pk", "run__run_id", "answer__public_id")}


class Battles(OfAnswers):
    model = Battle
    paths = {"campaign": "battle_set__campaign", "topics": "topic", "kind": "battle_set__name", "battle": ""}
    values = (
        *("public_id", "battle_set__campaign", "battle_set__name", "topic__topic_id", "left", "right", "round"),
        "event",
    )
    chunk = 2000
    row_path = "public_id"

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        answers = self.run_ids(answer for row in chunk for answer in row[5:7])
        for _, public_id, campaign, name, topic_id, left, right, number, event in chunk:
            yield {
                "id": public_id,
                "campaign": self.names.slug(campaign),
                "battle_set": self.names.clean(campaign, name),
                "topic_id": topic_id,
                **dict(zip(("left_run_id", "left"), answers[left], strict=True)),
                **dict(zip(("right_run_id", "right"), answers[right], strict=True)),
                "round": number,
                "event": event,
            }


class Verdicts(LabelReader, OfAnswers):
    paths = {
        "topics": "battle__topic",
        "judges": "judge",
        "moment": "given_at",
        "kind": "battle__battle_set__name",
        "battle": "battle__",
    }
    values = (
        *("battle__public_id", "battle__battle_set__campaign", "battle__battle_set__name"),
        *("battle__topic__topic_id", "battle__left", "battle__right", "left", "judge", "label", "raw", "reasons"),
        *("second_opinion", "place", "stayed", "seconds", "submission", "given", "event"),
    )

    def rows(self) -> QuerySet[Verdict]:
        battles = Battle.objects.filter(battle_set__campaign__in=self.seen).values("pk")
        return self.current_labels(Verdict.objects.filter(in_order(battle__in=battles)))

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        answers = self.run_ids(answer for row in chunk for answer in row[5:7])
        for pk, battle, campaign, name, topic_id, one, other, left, judge, label, raw, reasons, *rest in chunk:
            second, place, stayed, seconds, submission, given_at, event = rest
            right = other if left == one else one
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "battle_set": self.names.clean(campaign, name),
                "battle": battle,
                "topic_id": topic_id,
                "left_run_id": answers[left][0],
                "right_run_id": answers[right][0],
                "judge": self.names.judge(campaign, judge),
                "verdict": BATTLE_LABELS.by_code[label].word,
                "reasons": reasons,
                "raw": self.raw_words(campaign, raw),
                "second": second,
                "place": place,
                "stayed": answers[stayed][0] if stayed else None,
                "seconds": seconds,
                "submission": submission,
                "given_at": iso(given_at),
                "event": event,
            }
