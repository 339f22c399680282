"""Campaigns, topics and segments as rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
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

    values = ("slug", "name", "description", "language", "created_at", "revision")
    row_path = "slug"

    def rows(self) -> QuerySet[Campaign]:
        return Campaign.objects.using(self.alias).filter(pk__in=self.seen)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        pks = [row[0] for row in chunk]
        topics = self._per_campaign(Topic.objects.filter(campaign__in=pks))
        runs = self._per_campaign(Run.objects.filter(campaign__in=pks))
        versions = Protocol.objects.using(self.alias).filter(campaign__in=pks).order_by().values_list("campaign")
        protocols = dict(versions.annotate(Max("version")))
        for pk, slug, name, description, language, created_at, revision in chunk:
            yield {
                "slug": slug,
                "name": name,
                "description": description,
                "language": language,
                "created_at": created_at,
                "revision": revision,
                "protocol_version": protocols.get(pk),
                "topics": topics.get(pk, 0),
                "runs": runs.get(pk, 0),
            }

    def _per_campaign(self, rows: QuerySet[Any]) -> dict[int, int]:
        return dict(rows.using(self.alias).order_by().values_list("campaign").annotate(Count("pk")))


class Topics(Reader):
    """Topics."""

    values = ("public_id", "campaign", "topic_id", "text", "position", "extra", *TOPIC_TEXTS)
    row_path = "public_id"

    def rows(self) -> QuerySet[Topic]:
        return Topic.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(pk__in=topics)

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

    values = (
        *("public_id", "campaign", "docid", "document", "has_text"),
        *("title", "headings", "url", "text", "start_char", "end_char"),
    )
    row_path = "public_id"

    def rows(self) -> QuerySet[Segment]:
        return Segment.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(pk__in=Qrel.objects.filter(topic__in=topics).values("segment"))

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        grades = defaultdict(list)
        found = Qrel.objects.using(self.alias).filter(segment__in=[row[0] for row in chunk]).order_by("pk")
        for segment, topic, source, grade in found.values_list(
            "segment", "topic__topic_id", "source__name", "grade"
        ):
            grades[segment].append({"topic_id": topic, "source": source, "grade": grade})
        for pk, public_id, campaign, docid, document, has_text, title, headings, url, text, start, end in chunk:
            yield {
                "id": public_id,
                "campaign": self.names.slug(campaign),
                "docid": docid,
                "document": document,
                "has_text": has_text,
                "title": title,
                "headings": headings,
                "url": url,
                "text": text,
                "start_char": start,
                "end_char": end,
                "grades": grades[pk],
            }


class Runs(Reader):
    """Submitted runs."""

    values = ("campaign", "run_id", "group", "task", "priority", "control", "pool", "sha256")

    def rows(self) -> QuerySet[Run]:
        return Run.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(pk__in=runs)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        given = AnswerProvenance.objects.using(self.alias).filter(run__in=[row[0] for row in chunk])
        answers = dict(given.order_by().values_list("run").annotate(Count("pk")))
        for pk, campaign, run_id, group, task, priority, control, pool, sha256 in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "run_id": run_id,
                "group": group,
                "task": task,
                "priority": priority,
                "control": control,
                "pool": pool,
                "sha256": sha256,
                "answers": answers.get(pk, 0),
            }


class Answers(Reader):
    """Answers of runs: sentences, and the citations of each."""

    values = (
        *("answer__public_id", "run__campaign", "run__run_id", "topic__topic_id"),
        *("answer__words", "response_length", "references", "extra"),
    )
    chunk = 200
    row_path = "answer__public_id"

    def rows(self) -> QuerySet[AnswerProvenance]:
        return AnswerProvenance.objects.using(self.alias).filter(run__campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(topic__in=topics)

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(run__in=runs)

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

    values = ("source__campaign", "topic__topic_id", "segment__docid", "source__name", "grade", "event")

    def rows(self) -> QuerySet[Qrel]:
        return Qrel.objects.using(self.alias).filter(source__campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(topic__in=topics)

    def of_kind(self, rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
        return rows.filter(source__name=kind)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        for pk, campaign, topic_id, docid, source, grade, event in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "topic_id": topic_id,
                "docid": docid,
                "source": self.names.clean(campaign, source),
                "grade": grade,
                "event": event,
            }


class Events(Reader):
    """Events of the log."""

    values = ("campaign", "at", "kind", "actor", "payload")
    chunk = 2000

    def rows(self) -> QuerySet[Event]:
        return Event.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_kind(self, rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
        return rows.filter(kind=kind)

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        return rows.filter(at__gte=start)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        for pk, campaign, at, kind, actor, payload in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "at": at,
                "kind": kind,
                "actor": self.names.person(campaign, actor),
                "payload": self.names.clean(campaign, payload),
            }


class Findings(Reader):
    """Findings of imports."""

    values = ("campaign", "event", "event__at", "code", "file", "line", "run_id", "topic_id", "message")

    def rows(self) -> QuerySet[Finding]:
        return Finding.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(topic_id__in=Topic.objects.filter(pk__in=topics).values("topic_id"))

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        """Keep what is about some runs."""
        return rows.filter(run_id__in=Run.objects.filter(pk__in=runs).values("run_id"))

    def of_kind(self, rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
        return rows.filter(code=kind)

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        return rows.filter(event__at__gte=start)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        for pk, campaign, event, at, code, file, line, run_id, topic_id, message in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "event": event,
                "at": at,
                "code": code,
                "file": self.names.clean(campaign, file),
                "line": line,
                "run_id": run_id,
                "topic_id": topic_id,
                "message": self.names.clean(campaign, message),
            }
