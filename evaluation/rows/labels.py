"""Labels as rows, and studies of them: a million leave in one answer, so answers and names are looked up in chunks.

Labels that were withdrawn, or replaced by a later submission, do not leave. Those of studies leave where their judge is
named.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Cast

from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Campaign,
    Judge,
    Judgment,
    NuggetSet,
    NuggetVersion,
    RandomCheckPair,
    Segment,
    Sentence,
    Study,
    StudyPair,
    SupportJudgment,
    Task,
    Topic,
    Verdict,
)
from evaluation.models.querysets import CurrentQuerySet
from evaluation.rows.base import Reader, Row, Values
from evaluation.terms import DrawKind, JudgeKind

KEPT = 20_000
"""How many answers and wordings are remembered between chunks: memory stays the same however many labels follow."""

ASSIGNED = {label.value: label.name.lower() for label in AssignmentLabel}
NO_ANSWER: Values = (None, None, None)
"""Run, sample and public id."""
ONE, OTHER = ("run_id", "sample", "answer"), ("other_run_id", "other_sample", "other")
SUPPORTED = {label.value: label.name.lower() for label in SupportLabel}


def in_order(**among: QuerySet[Any]) -> Case:
    """Return a condition for which the database walks the labels in the order of their keys.

    A plain one has it collect and sort a million of them before the first leaves.
    """
    return Case(When(**among, then=Value(True)), default=Value(False))


def iso(text: str) -> str:
    """Return a moment in ISO 8601, as the database writes it in UTC: to parse a million of them takes half the time."""
    return f"{text[:10]}T{text[11:].removesuffix('+00')}Z"


class LabelReader(Reader):
    chunk = 2000  # answers, nuggets and names are looked up once a chunk

    def current_labels(self, labels: CurrentQuerySet[Any]) -> QuerySet[Any]:
        current = labels.using(self.alias).current()
        rows: QuerySet[Any] = current.annotate(given=Cast("given_at", TextField()))
        return rows

    def raw_words(self, campaign: int, raw: str) -> str:
        """Return a judge's own words, in which a person may have named one."""
        return str(self.names.clean(campaign, raw)) if raw else raw

    def counting(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.exclude(judge__in=self.names.judges_aside)

    def answers(self, pks: Iterable[int], memory: dict[int, Values]) -> None:
        rows = AnswerProvenance.objects.using(self.alias).filter(pk__in=_unknown(pks, memory))
        fields = ("pk", "run__campaign", "topic__topic_id", "run__run_id", "sample", "answer__public_id")
        for pk, campaign, *rest in rows.values_list(*fields):
            memory[pk] = (self.names.slug(campaign), campaign, *rest)


class Assignments(LabelReader):
    paths = {
        "topics": "answer__topic",
        "sets": "nugget_version__nugget__nugget_set",
        "judges": "judge",
        "moment": "given_at",
    }
    values = (
        "answer",
        "nugget_version",
        "judge",
        "label",
        "raw",
        "sentence",
        "first_label",
        "submission",
        "given",
        "event",
    )

    def rows(self) -> QuerySet[Assignment]:
        answers = Answer.objects.filter(topic__campaign__in=self.seen).values("pk")
        return self.current_labels(Assignment.objects.filter(in_order(answer__in=answers)))

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(answer__in=AnswerProvenance.objects.filter(run__in=runs).values("answer"))

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._answers: dict[int, Values] = {}
        self._wordings: dict[int, Values] = {}

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        self.answers({row[1] for row in chunk}, self._answers)
        self._look_up({row[2] for row in chunk})
        answers, wordings, judge_of = self._answers, self._wordings, self.names.judge
        for pk, answer, wording, judge, label, raw, sentence, first_label, submission, given_at, event in chunk:
            slug, campaign, topic_id, run_id, sample, public_id = answers[answer]
            nugget, number, nugget_set = wordings[wording]
            yield {
                "id": pk,
                "campaign": slug,
                "topic_id": topic_id,
                "run_id": run_id,
                "sample": sample,
                "answer": public_id,
                "nugget": nugget,
                "nugget_version": number,
                "nugget_set": nugget_set,
                "judge": judge_of(campaign, judge),
                "label": ASSIGNED[label],
                "raw": self.raw_words(campaign, raw),
                "sentence": sentence,
                "first_label": None if first_label is None else ASSIGNED[first_label],
                "submission": submission,
                "given_at": iso(given_at),
                "event": event,
            }

    def _look_up(self, pks: Iterable[int]) -> None:
        rows = NuggetVersion.objects.using(self.alias).filter(pk__in=_unknown(pks, self._wordings))
        fields = ("pk", "nugget__public_id", "number", "nugget__nugget_set")
        self._wordings.update(
            (pk, (public_id, number, self.names.nugget_set(nugget_set)))
            for pk, public_id, number, nugget_set in rows.values_list(*fields)
        )


class SupportJudgments(LabelReader):
    paths = {"topics": "sentence__answer__topic", "judges": "judge", "moment": "given_at"}
    values = (
        "sentence",
        "segment",
        "condition",
        "judge",
        "label",
        "raw",
        "shown_label",
        "shown_ms",
        "accepted",
        "evidence",
        "submission",
        "given",
        "event",
    )

    def rows(self) -> QuerySet[SupportJudgment]:
        segments = Segment.objects.filter(campaign__in=self.seen).values("pk")
        return self.current_labels(SupportJudgment.objects.filter(in_order(segment__in=segments)))

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(sentence__answer__in=AnswerProvenance.objects.filter(run__in=runs).values("answer"))

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        sentence_rows = Sentence.objects.using(self.alias).filter(pk__in={row[1] for row in chunk})
        sentences = {
            pk: (answer, index) for pk, answer, index in sentence_rows.values_list("pk", "answer", "index")
        }
        answers: dict[int, Values] = {}
        self.answers({answer for answer, _ in sentences.values()}, answers)
        cited = Segment.objects.using(self.alias).filter(pk__in={row[2] for row in chunk})
        docids = dict(cited.values_list("pk", "docid"))
        for pk, sentence, segment, condition, judge, label, raw, shown_label, shown_ms, accepted, *rest in chunk:
            evidence, submission, given_at, event = rest
            answer, index = sentences[sentence]
            slug, campaign, topic_id, run_id, sample, public_id = answers[answer]
            yield {
                "id": pk,
                "campaign": slug,
                "topic_id": topic_id,
                "run_id": run_id,
                "sample": sample,
                "answer": public_id,
                "sentence": index,
                "docid": docids[segment],
                "condition": condition,
                "judge": self.names.judge(campaign, judge),
                "label": SUPPORTED[label],
                "raw": self.raw_words(campaign, raw),
                "shown_label": None if shown_label is None else SUPPORTED[shown_label],
                "shown_ms": shown_ms,
                "accepted": accepted,
                "evidence": evidence,
                "submission": submission,
                "given_at": iso(given_at),
                "event": event,
            }


class Judgments(LabelReader):
    """Labels of stages without a table of their own."""

    paths = {"topics": "topic", "judges": "judge", "moment": "given_at", "stage": "stage"}
    values = (
        "stage",
        "topic",
        "answer",
        "other",
        "segment",
        "judge",
        "label",
        "raw",
        "extras",
        "submission",
        "given",
        "event",
    )

    def rows(self) -> QuerySet[Judgment]:
        topics = Topic.objects.filter(campaign__in=self.seen).values("pk")
        return self.current_labels(Judgment.objects.filter(in_order(topic__in=topics)))

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        answers = AnswerProvenance.objects.filter(run__in=runs).values("answer")
        return rows.filter(Q(answer__in=answers) | Q(other__in=answers))

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        topics = Topic.objects.using(self.alias).in_bulk({row[2] for row in chunk})
        judged = Segment.objects.using(self.alias).filter(pk__in={row[5] for row in chunk})
        docids = dict(judged.values_list("pk", "docid"))
        answers: dict[int, Values] = {}
        self.answers({answer for row in chunk for answer in row[3:5] if answer}, answers)
        for pk, stage, topic, answer, other, segment, judge, label, raw, extras, *rest in chunk:
            submission, given_at, event = rest
            campaign = topics[topic].campaign_id
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "stage": str(stage),
                "topic_id": topics[topic].topic_id,
                **dict(zip(ONE, answers.get(answer or 0, NO_ANSWER)[-3:], strict=True)),
                **dict(zip(OTHER, answers.get(other or 0, NO_ANSWER)[-3:], strict=True)),
                "docid": docids.get(segment),
                "judge": self.names.judge(campaign, judge),
                "label": stage.labels.by_code[label].word,
                "raw": self.raw_words(campaign, raw),
                "extras": self.names.clean(campaign, extras),
                "submission": submission,
                "given_at": iso(given_at),
                "event": event,
            }


def _unknown(pks: Iterable[int], memory: dict[int, Values]) -> list[int]:
    """Return the keys that must be looked up; the memory is emptied when it grows too large."""
    keys = list(pks)
    if len(memory) + len(keys) > KEPT:
        memory.clear()
    return [pk for pk in keys if pk not in memory]


KEYS = 2**32
"""A row's key is made of the campaign's and the judge's."""


class Judges(Reader):
    """Judges with labels, by campaign."""

    def rows(self) -> QuerySet[Judge]:
        return Judge.objects.using(self.alias).none()

    def keyed(self, campaigns: Iterable[Campaign]) -> list[tuple[int, Row]]:
        """Return the judges of some of the viewer's campaigns with their keys: one query a campaign."""
        return [
            (campaign.pk * KEYS + judge.pk, self._row(campaign, judge))
            for campaign in campaigns
            for judge in self._judges_of(campaign)
        ]

    def _judges_of(self, campaign: Campaign) -> QuerySet[Judge]:
        assigned = Assignment.objects.filter(judge=OuterRef("pk"), answer__topic__campaign=campaign.pk)
        supported = SupportJudgment.objects.filter(judge=OuterRef("pk"), segment__campaign=campaign.pk)
        fought = Verdict.objects.filter(judge=OuterRef("pk"), battle__battle_set__campaign=campaign.pk)
        judged = Judgment.objects.filter(judge=OuterRef("pk"), topic__campaign=campaign.pk)
        tasks = Task.objects.filter(campaign=campaign.pk)
        working = Q(user__in=tasks.values("assessor"), study=None) | Q(pk__in=tasks.values("judge"))
        makers = Q(pk__in=NuggetSet.objects.filter(campaign=campaign.pk).values("judge"))
        judges = Judge.objects.using(self.alias).select_related("study").order_by("pk")
        labelled = Q(Exists(assigned)) | Q(Exists(supported)) | Q(Exists(judged)) | Q(Exists(fought))
        return judges.filter(makers | working | labelled)

    def _row(self, campaign: Campaign, judge: Judge) -> Row:
        return {
            "campaign": campaign.slug,
            "name": self.names.judge(campaign.pk, judge.pk),
            "kind": judge.kind,
            "model": judge.model,
            "prompt_versions": self.names.clean(campaign.pk, judge.prompt_versions),
            "study": self.names.clean(campaign.pk, judge.study.name) if judge.study else None,
            "aside": judge.aside,
            "created_at": judge.created_at,
        }


class Studies(Reader):
    """Studies, and how many of their drawn pairs people have judged, decoys left out."""

    model = Study
    paths = {"campaign": "campaign"}
    values = (
        "campaign",
        "name",
        "kind",
        "draw",
        "person",
        "judge",
        "nugget_set",
        "condition",
        "seed",
        "per_topic",
        "stratified",
        "design",
        "event__actor",
        "created_at",
    )

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        studies = [row[0] for row in chunk]
        # A random check can have taken over another's draw, of which it hands out nothing.
        pairs = StudyPair.objects.using(self.alias).filter(study__in=studies)
        decoys = dict(pairs.decoys().order_by().values_list("study").annotate(Count("pk")))
        drawn = self._counts(StudyPair.objects.counted().exclude(study__draw=DrawKind.RANDOM), Q(), studies)
        drawn |= self._counts(RandomCheckPair.objects.filter(chance__gt=0, known=False), ~Q(given=""), studies)
        for pk, campaign, name, kind, draw, person, llm, nugget_set, condition, seed, *rest in chunk:
            per_topic, stratified, design, actor, created_at = rest
            check = draw == DrawKind.RANDOM
            number, judged = drawn.get(pk, (0, 0))
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "name": self.names.clean(campaign, name),
                "kind": kind,
                "draw": draw,
                "person": self.names.judge(campaign, person),
                "judge": self.names.judge(campaign, llm),
                "nugget_set": self.names.nugget_set(nugget_set),
                "condition": condition or None,
                "seed": self.names.clean(campaign, design["seed"]) if check else str(seed),
                "per_run": design["per_run"] if check else None,
                "per_topic": per_topic,
                "stratified": None if check else stratified,
                "drawn": number,
                "judged": judged,
                "decoys": decoys.get(pk, 0),
                "made_by": self.names.person(campaign, actor),
                "made_at": created_at,
            }

    def _counts(self, pairs: QuerySet[Any], taken_over: Q, studies: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Return by study how many of the pairs there are, and how many have a label of a person in the study."""
        by_people = {"judge__study": OuterRef("study"), "judge__kind": JudgeKind.HUMAN}
        nuggets = {name: OuterRef(name) for name in ("answer", "nugget_version")}
        citations = {name: OuterRef(name) for name in ("sentence", "segment")}
        judged = Q(Exists(Assignment.objects.current().filter(**by_people, **nuggets)))
        judged |= Q(Exists(SupportJudgment.objects.current().filter(**by_people, **citations)))
        judged = judged | taken_over if taken_over else judged
        rows = pairs.using(self.alias).filter(study__in=studies).order_by().values_list("study")
        counted = rows.annotate(n=Count("pk"), judged=Count("pk", filter=judged))
        return {study: (n, of_them) for study, n, of_them in counted}
