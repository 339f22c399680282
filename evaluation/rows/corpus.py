"""Campaigns, topics and segments as rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Count, Max, QuerySet

from evaluation.models import (
    AnswerProvenance,
    Campaign,
    Citation,
    Event,
    Finding,
    Protocol,
    Qrel,
    Run,
    Segment,
    Sentence,
    Topic,
    TopicTag,
)
from evaluation.rows.base import Reader, Row, Values

TOPIC_TEXTS = ("language", "problem_statement", "background", "article")


class Campaigns(Reader):
    """The evaluations that the viewer may see whole."""

    model = Campaign
    paths = {"campaign": "pk"}
    values = ("slug", "name", "description", "language", "created_at", "revision")
    row_path = "slug"

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        pks = [row[0] for row in chunk]
        topics = self._per_campaign(Topic.objects.filter(campaign__in=pks))
        runs = self._per_campaign(Run.objects.filter(campaign__in=pks))
        versions = Protocol.objects.using(self.alias).filter(campaign__in=pks).order_by().values_list("campaign")
        protocols = dict(versions.annotate(Max("version")))
        for pk, *values in chunk:
            yield dict(zip(self.values, values, strict=True)) | {
                "protocol_version": protocols.get(pk),
                "topics": topics.get(pk, 0),
                "runs": runs.get(pk, 0),
            }

    def _per_campaign(self, rows: QuerySet[Any]) -> dict[int, int]:
        return dict(rows.using(self.alias).order_by().values_list("campaign").annotate(Count("pk")))


class Topics(Reader):
    model = Topic
    paths = {"campaign": "campaign", "topics": "pk"}
    values = ("public_id", "campaign", "topic_id", "text", "position", "extra", *TOPIC_TEXTS)
    row_path = "public_id"

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        tags = defaultdict(list)
        found = TopicTag.objects.using(self.alias).filter(topic__in=[row[0] for row in chunk])
        for topic, name in found.order_by("name").values_list("topic", "name"):
            tags[topic].append(name)
        for pk, public_id, campaign, topic_id, text, position, extra, *texts in chunk:
            yield {
                "id": public_id,
                "campaign": self.names.slug(campaign),
                "topic_id": topic_id,
                "text": text,
                "tags": tags[pk],
                "position": position,
                **dict(zip(TOPIC_TEXTS, texts, strict=True)),
                "extra": extra,
            }


class Segments(Reader):
    """Passages that qrels grade and answers cite, with their grades."""

    model = Segment
    paths = {"campaign": "campaign"}
    values = (
        *("public_id", "campaign", "docid", "document", "has_text"),
        *("title", "headings", "url", "text", "start_char", "end_char"),
    )
    renamed = {"public_id": "id"}
    row_path = "public_id"

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(pk__in=Qrel.objects.filter(topic__in=topics).values("segment"))

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        grades = defaultdict(list)
        found = Qrel.objects.using(self.alias).filter(segment__in=[row[0] for row in chunk]).order_by("pk")
        for segment, topic, source, grade in found.values_list(
            "segment", "topic__topic_id", "source__name", "grade"
        ):
            grades[segment].append({"topic_id": topic, "source": source, "grade": grade})
        for row in chunk:
            yield self.plain(row) | {"grades": grades[row[0]]}


class Runs(Reader):
    model = Run
    paths = {"campaign": "campaign", "runs": "pk"}
    values = ("campaign", "run_id", "group", "task", "priority", "control", "pool", "sha256")

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        given = AnswerProvenance.objects.using(self.alias).filter(run__in=[row[0] for row in chunk])
        answers = dict(given.order_by().values_list("run").annotate(Count("pk")))
        for row in chunk:
            yield self.plain(row) | {"answers": answers.get(row[0], 0)}


class Answers(Reader):
    """Answers of runs: sentences, and the citations of each."""

    model = AnswerProvenance
    paths = {"campaign": "run__campaign", "topics": "topic", "runs": "run"}
    values = (
        *("answer__public_id", "run__campaign", "run__run_id", "topic__topic_id"),
        *("answer__words", "response_length", "references", "extra"),
    )
    chunk = 200
    row_path = "answer__public_id"

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        sentences = self._sentences([row[0] for row in chunk])
        for pk, public_id, campaign, run_id, topic_id, words, response_length, references, extra in chunk:
            yield {
                "id": public_id,
                "campaign": self.names.slug(campaign),
                "run_id": run_id,
                "topic_id": topic_id,
                "words": words,
                "response_length": response_length,
                "references": references,
                "sentences": sentences[pk],
                "extra": extra,
            }

    def _sentences(self, answers: Sequence[int]) -> dict[int, list[Row]]:
        citations = self._citations(answers)
        found: dict[int, list[Row]] = defaultdict(list)
        rows = Sentence.objects.using(self.alias).filter(answer__in=answers).order_by("answer", "index")
        for pk, answer, index, text in rows.values_list("pk", "answer", "index", "text"):
            found[answer].append({"index": index, "text": text, "citations": citations[pk]})
        return found

    def _citations(self, answers: Sequence[int]) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = defaultdict(list)
        rows = Citation.objects.using(self.alias).filter(sentence__answer__in=answers)
        ordered = rows.order_by("sentence", "position").values_list(
            "sentence", "position", "segment__docid", "raw"
        )
        for sentence, position, docid, raw in ordered:
            found[sentence].append({"position": position, "docid": docid, "raw": raw})
        return found


class Grades(Reader):
    """Relevance grades of segments by source."""

    model = Qrel
    paths = {"campaign": "source__campaign", "topics": "topic", "kind": "source__name"}
    values = ("source__campaign", "topic__topic_id", "segment__docid", "source__name", "grade", "event")
    renamed = {
        "source__campaign": "campaign",
        "topic__topic_id": "topic_id",
        "segment__docid": "docid",
        "source__name": "source",
    }

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        for row in chunk:
            yield self.plain(row) | {"source": self.names.clean(row[1], row[4])}


class Events(Reader):
    model = Event
    paths = {"campaign": "campaign", "kind": "kind", "moment": "at"}
    values = ("campaign", "at", "kind", "actor", "payload")
    chunk = 2000

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        for row in chunk:
            _, campaign, _, _, actor, payload = row
            person = self.names.person(campaign, actor)
            yield self.plain(row) | {"actor": person, "payload": self.names.clean(campaign, payload)}


class Findings(Reader):
    model = Finding
    paths = {"campaign": "campaign", "kind": "code", "moment": "event__at"}
    values = ("campaign", "event", "event__at", "code", "file", "line", "run_id", "topic_id", "message")
    renamed = {"event__at": "at"}

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(topic_id__in=Topic.objects.filter(pk__in=topics).values("topic_id"))

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(run_id__in=Run.objects.filter(pk__in=runs).values("run_id"))

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        for row in chunk:
            told = self.plain(row)
            # Files are often named after the person who judged, and messages quote files.
            yield told | {name: self.names.clean(row[1], told[name]) for name in ("file", "message")}
