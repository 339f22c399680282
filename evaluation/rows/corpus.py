"""Campaigns, topics, segments, runs and nuggets as rows."""

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
    ListedNugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetSet,
    Protocol,
    Qrel,
    Run,
    Segment,
    Sentence,
    Topic,
    TopicTag,
)
from evaluation.rows.base import Reader, Row, Values
from evaluation.terms import Importance

TOPIC_TEXTS = ("language", "problem_statement", "background", "article")


class Campaigns(Reader):
    model = Campaign
    paths = {"campaign": "pk"}
    values = ("slug", "name", "description", "language", "created_at", "revision")
    row_path = "slug"

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        pks = [row[0] for row in chunk]
        topics = self._per_campaign(Topic.objects.filter(campaign__in=pks))
        runs = self._per_campaign(Run.objects.filter(campaign__in=pks))
        versions = Protocol.objects.using(self.alias).filter(campaign__in=pks).order_by().values_list("campaign")
        protocols = dict(versions.annotate(Max("version")))
        for pk, *values in chunk:
            row = dict(zip(self.values, values, strict=True))
            yield row | {
                "description": self.names.clean(pk, row["description"]),
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

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        tags = defaultdict(list)
        topic_tags = TopicTag.objects.using(self.alias).filter(topic__in=[row[0] for row in chunk])
        for topic, name in topic_tags.order_by("name").values_list("topic", "name"):
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
        "public_id",
        "campaign",
        "docid",
        "document",
        "has_text",
        "title",
        "headings",
        "url",
        "text",
        "start_char",
        "end_char",
    )
    renamed = {"public_id": "id"}
    row_path = "public_id"

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(pk__in=Qrel.objects.filter(topic__in=topics).values("segment"))

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        grades = defaultdict(list)
        qrels = Qrel.objects.using(self.alias).filter(segment__in=[row[0] for row in chunk]).order_by("pk")
        fields = ("segment", "topic__topic_id", "source__name", "grade")
        for segment, topic, source, grade in qrels.values_list(*fields):
            grades[segment].append({"topic_id": topic, "source": source, "grade": grade})
        for row in chunk:
            yield self.plain(row) | {"grades": [self._called(row[2], grade) for grade in grades[row[0]]]}

    def _called(self, campaign: int, grade: Row) -> Row:
        return grade | {"source": self.names.clean(campaign, grade["source"])}


class Runs(Reader):
    model = Run
    paths = {"campaign": "campaign", "runs": "pk"}
    values = ("campaign", "run_id", "group", "task", "priority", "control", "pool", "has_candidates", "sha256")

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        provenance = AnswerProvenance.objects.using(self.alias).filter(run__in=[row[0] for row in chunk])
        answers = dict(provenance.order_by().values_list("run").annotate(Count("pk")))
        for row in chunk:
            yield self.plain(row) | {"answers": answers.get(row[0], 0)}


class Answers(Reader):
    model = AnswerProvenance
    paths = {"campaign": "run__campaign", "topics": "topic", "runs": "run"}
    values = (
        "answer__public_id",
        "run__campaign",
        "run__run_id",
        "topic__topic_id",
        "sample",
        "answer__words",
        "response_length",
        "references",
        "extra",
    )
    chunk = 200
    row_path = "answer__public_id"

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        sentences = self._sentences([row[0] for row in chunk])
        for pk, public_id, campaign, run_id, topic_id, sample, words, response_length, references, extra in chunk:
            yield {
                "id": public_id,
                "campaign": self.names.slug(campaign),
                "run_id": run_id,
                "topic_id": topic_id,
                "sample": sample,
                "words": words,
                "response_length": response_length,
                "references": references,
                "sentences": sentences[pk],
                "extra": extra,
            }

    def _sentences(self, answers: Sequence[int]) -> dict[int, list[Row]]:
        citations = self._citations(answers)
        sentences: dict[int, list[Row]] = defaultdict(list)
        rows = Sentence.objects.using(self.alias).filter(answer__in=answers).order_by("answer", "index")
        for pk, answer, index, text in rows.values_list("pk", "answer", "index", "text"):
            sentences[answer].append({"index": index, "text": text, "citations": citations[pk]})
        return sentences

    def _citations(self, answers: Sequence[int]) -> dict[int, list[Row]]:
        citations: dict[int, list[Row]] = defaultdict(list)
        rows = Citation.objects.using(self.alias).filter(sentence__answer__in=answers)
        fields = ("sentence", "position", "segment__docid", "raw")
        for sentence, position, docid, raw in rows.order_by("sentence", "position").values_list(*fields):
            citations[sentence].append({"position": position, "docid": docid, "raw": raw})
        return citations


class Grades(Reader):
    model = Qrel
    paths = {"campaign": "source__campaign", "topics": "topic", "kind": "source__name"}
    values = ("source__campaign", "topic__topic_id", "segment__docid", "source__name", "grade", "event")
    renamed = {
        "source__campaign": "campaign",
        "topic__topic_id": "topic_id",
        "segment__docid": "docid",
        "source__name": "source",
    }

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        for row in chunk:
            yield self.plain(row) | {"source": self.names.clean(row[1], row[4])}


class Events(Reader):
    model = Event
    paths = {"campaign": "campaign", "kind": "kind", "moment": "at"}
    values = ("campaign", "at", "kind", "actor", "payload")
    chunk = 2000

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
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

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        for row in chunk:
            finding = self.plain(row)
            # Files are often named after the person who judged, and messages quote files.
            yield finding | {name: self.names.clean(row[1], finding[name]) for name in ("file", "message")}


class NuggetSets(Reader):
    model = NuggetSet
    paths = {"campaign": "campaign", "judges": "judge"}
    values = ("campaign", "origin", "judge", "drafts")

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        lists = NuggetList.objects.using(self.alias).filter(
            nugget_set__in=[row[0] for row in chunk], submitted=True
        )
        topics = dict(lists.order_by().values_list("nugget_set").annotate(Count("topic", distinct=True)))
        for pk, campaign, origin, judge, drafts in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "name": self.names.nugget_set(pk),
                "origin": origin,
                "judge": self.names.judge(campaign, judge),
                "drafts": self.names.nugget_set(drafts),
                "topics": topics.get(pk, 0),
            }


class Nuggets(Reader):
    """The nuggets of submitted lists: how much each is needed, where it comes from, what it rests on."""

    model = ListedNugget
    paths = {
        "campaign": "nugget_list__nugget_set__campaign",
        "topics": "nugget_list__topic",
        "judges": "nugget_list__nugget_set__judge",
        "sets": "nugget_list__nugget_set",
    }
    values = (
        "nugget_list__nugget_set__campaign",
        "nugget_list__topic__topic_id",
        "nugget_list__topic",
        "nugget_list__nugget_set",
        "nugget_list__version",
        "position",
        "nugget_version",
        "nugget_version__nugget__public_id",
        "nugget_version__number",
        "nugget_version__text",
        "importance",
        "raw_importance",
        "group",
        "weight",
    )

    def rows(self) -> QuerySet[ListedNugget]:
        return super().rows().filter(nugget_list__submitted=True)

    def newest(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        # The version that reports read: earlier versions of a reopened list are history.
        return rows.filter(NuggetList.objects.newest_submitted_q("nugget_list__"))

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        wordings = [row[7] for row in chunk]
        lineage, evidence = self._lineage(wordings), self._evidence(wordings)
        newest = self._newest(chunk)
        for (
            pk,
            campaign,
            topic_id,
            topic,
            nugget_set,
            version,
            position,
            wording,
            nugget,
            number,
            *content,
        ) in chunk:
            text, importance, raw_importance, group, weight = content
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "topic_id": topic_id,
                "nugget_set": self.names.nugget_set(nugget_set),
                "list_version": version,
                "newest": newest.get((nugget_set, topic)) == version,
                "position": position,
                "nugget": nugget,
                "nugget_version": number,
                "text": text,
                "importance": Importance(importance).name.lower(),
                "raw_importance": raw_importance,
                "group": group,
                "weight": weight,
                "lineage": lineage[wording],
                "evidence": evidence[wording],
            }

    def _newest(self, chunk: Sequence[Values]) -> dict[tuple[int, int], int]:
        lists = NuggetList.objects.using(self.alias).filter(
            submitted=True, topic__in={row[3] for row in chunk}, nugget_set__in={row[4] for row in chunk}
        )
        versions = lists.order_by().values_list("nugget_set", "topic").annotate(Max("version"))
        return {(nugget_set, topic): version for nugget_set, topic, version in versions}

    def _lineage(self, wordings: Sequence[int]) -> dict[int, list[Row]]:
        lineage: dict[int, list[Row]] = defaultdict(list)
        rows = NuggetLineage.objects.using(self.alias).filter(child__in=wordings).order_by("pk")
        fields = ("child", "relation", "parent__nugget__public_id", "parent__number", "parent__text")
        for child, relation, nugget, number, text in rows.values_list(*fields):
            lineage[child].append({"relation": relation, "nugget": nugget, "nugget_version": number, "text": text})
        return lineage

    def _evidence(self, wordings: Sequence[int]) -> dict[int, list[Row]]:
        evidence: dict[int, list[Row]] = defaultdict(list)
        rows = NuggetEvidence.objects.using(self.alias).filter(nugget_version__in=wordings).order_by("pk")
        for wording, docid, sentence in rows.values_list("nugget_version", "segment__docid", "sentence"):
            evidence[wording].append({"docid": docid, "sentence": sentence})
        return evidence
