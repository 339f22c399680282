"""Runs and their answers as rows. Answers are read from provenance on: no relation leads from an answer to its run."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.models import AnswerProvenance, Citation, Run, Sentence
from evaluation.queries.data.reading import Reader, Row, Values


class Runs(Reader):
    """What systems submitted."""

    values = ("campaign", "run_id", "group", "task", "priority", "control", "pool", "sha256")

    def rows(self) -> QuerySet[Run]:
        """Return the runs of the viewer's campaigns."""
        return Run.objects.using(self.alias).filter(campaign__in=self.seen)

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        """Keep some runs."""
        return rows.filter(pk__in=runs)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield runs with how many topics they answer."""
        given = AnswerProvenance.objects.using(self.alias).filter(run__in=[one[0] for one in chunk])
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
    """What runs answered: sentences, and what each of them cites."""

    values = (
        *("answer__public_id", "run__campaign", "run__run_id", "topic__topic_id"),
        *("answer__words", "response_length", "references", "extra"),
    )
    chunk = 200
    row_path = "answer__public_id"

    def rows(self) -> QuerySet[AnswerProvenance]:
        """Return the answers to the topics of the viewer's campaigns."""
        return AnswerProvenance.objects.using(self.alias).filter(run__campaign__in=self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        """Keep the answers to some topics."""
        return rows.filter(topic__in=topics)

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        """Keep the answers of some runs."""
        return rows.filter(run__in=runs)

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield answers with their sentences and citations."""
        sentences = self._sentences([one[0] for one in chunk])
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
