"""Made-up campaigns of a track's size, seeded. Written past the imports, which are measured elsewhere."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone
from numpy.typing import NDArray

from evaluation.formats.source import Source
from evaluation.imports.topics import import_topics
from evaluation.labels import AssignmentLabel
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Campaign,
    Judge,
    ListedNugget,
    Nugget,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Run,
    Sentence,
)
from evaluation.terms import Importance, JudgeKind, Origin
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import Size

ROWS_A_BATCH = 1000
SENTENCES = 3
WORDS = ("river", "delta", "levee", "sediment", "basin", "tide", "harbour", "dredge", "silt", "channel", "estuary")


def make_database(_size: Size, _turn: int) -> Measured:
    call_command("migrate", verbosity=0)
    return Measured()


def make_campaign(slug: str, topics: int) -> Campaign:
    call_command("create_campaign", slug, "--name", slug, stderr=io.StringIO())
    campaign = Campaign.objects.get(slug=slug)
    lines = tuple((n, f"{topic_id(n)}\twhat is known about {phrase(n, 5)}") for n in range(1, topics + 1))
    import_topics(campaign=campaign, source=Source("topics.tsv", "", lines))
    return campaign


def topic_id(number: int) -> str:
    return f"2024-{number:06d}"


def run_id(number: int) -> str:
    return f"synthetic.rag24.test_system-{number:03d}"


def phrase(seed: int, words: int) -> str:
    """Return some words, always the same for a seed and length, ending in the seed to be unique."""
    chosen = np.random.default_rng((seed, words)).integers(len(WORDS), size=words - 1)
    return " ".join([WORDS[index] for index in chosen] + [str(seed)])


def make_answers(campaign: Campaign, size: Size) -> None:
    runs = [Run(campaign=campaign, run_id=run_id(n), group=f"g{n // 2}", task="RAG") for n in range(size.runs)]
    Run.objects.bulk_create(runs)
    topics = list(campaign.topics.all())
    pairs = [(run, topic) for run in runs for topic in topics]
    texts = answer_sentences()
    words = sum(len(text.split()) for text in texts)
    answers = [Answer(topic=topic, words=words) for _, topic in pairs]
    Answer.objects.bulk_create(answers, batch_size=ROWS_A_BATCH)
    provenance = [
        AnswerProvenance(answer=answer, run=run, topic=topic)
        for answer, (run, topic) in zip(answers, pairs, strict=True)
    ]
    AnswerProvenance.objects.bulk_create(provenance, batch_size=ROWS_A_BATCH)
    sentences = [Sentence(answer=answer, index=n, text=text) for answer in answers for n, text in enumerate(texts)]
    Sentence.objects.bulk_create(sentences, batch_size=ROWS_A_BATCH)


def answer_sentences() -> list[str]:
    return [f"{phrase(number, 20).capitalize()}." for number in range(SENTENCES)]


def make_nuggets(campaign: Campaign, size: Size, origin: Origin, judge: str) -> NuggetSet:
    """Give every topic a list, two thirds of it vital."""
    maker, _ = Judge.objects.get_or_create(name=judge, defaults={"kind": JudgeKind.LLM})
    made = NuggetSet.objects.create(campaign=campaign, name=f"{origin}-{judge}", origin=origin, judge=maker)
    lists = [NuggetList(nugget_set=made, topic=topic) for topic in campaign.topics.all()]
    NuggetList.objects.bulk_create(lists)
    places = [(nugget_list, position) for nugget_list in lists for position in range(size.nuggets)]
    nuggets = [Nugget(nugget_set=made, topic_id=nugget_list.topic_id) for nugget_list, _ in places]
    Nugget.objects.bulk_create(nuggets, batch_size=ROWS_A_BATCH)
    wordings = [NuggetVersion(nugget=nugget, text=nugget_text(n)) for n, nugget in enumerate(nuggets)]
    NuggetVersion.objects.bulk_create(wordings, batch_size=ROWS_A_BATCH)
    items = [
        ListedNugget(
            nugget_list=nugget_list, nugget_version=wording, position=position, importance=importance(position)
        )
        for (nugget_list, position), wording in zip(places, wordings, strict=True)
    ]
    ListedNugget.objects.bulk_create(items, batch_size=ROWS_A_BATCH)
    return made


def nugget_text(number: int) -> str:
    """Return a nugget's text, in list order over all topics; about as long as the published ones."""
    return phrase(number, 6)


def importance(position: int) -> Importance:
    return Importance.OKAY if position % 3 == 2 else Importance.VITAL


def label_cells(size: Size, seed: int) -> NDArray[np.int8]:
    """Return labels, topics x runs x nuggets: runs differ in quality, and two seeds agree where that shows."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.2, 0.8, size.runs)[np.newaxis, :, np.newaxis]
    luck = rng.random((size.topics, size.runs, size.nuggets))
    return (luck < quality).astype(np.int8) + (luck < quality * 0.6)


def write_label_files(folder: Path, size: Size, seed: int) -> list[str]:
    cells, files = label_cells(size, seed), []
    names = [AssignmentLabel(code).name.lower() for code in range(3)]
    texts = [nugget_text(n) for n in range(size.topics * size.nuggets)]
    for run in range(size.runs):
        path = folder / f"{run_id(run)}.jsonl"
        path.write_text("".join(_label_lines(cells[:, run], run, names, texts)), encoding="utf-8")
        files.append(str(path))
    return files


def _label_lines(cells: NDArray[np.int8], run: int, names: list[str], texts: list[str]) -> Iterator[str]:
    answer = " ".join(answer_sentences())
    for topic, labels in enumerate(cells.tolist()):
        nuggets = [
            {
                "text": texts[topic * len(labels) + position],
                "importance": importance(position).name.lower(),
                "assignment": names[label],
            }
            for position, label in enumerate(labels)
        ]
        row = {"query": f"what is known about {topic}", "qid": topic_id(topic + 1), "answer_text": answer}
        yield json.dumps(row | {"response_length": 60, "run_id": run_id(run), "nuggets": nuggets}) + "\n"


def store_labels(made: NuggetSet, size: Size, judge: str, kind: JudgeKind, seed: int) -> Judge:
    """Write a condition's labels straight into the table, in the order in which files would bring them."""
    giver, _ = Judge.objects.get_or_create(name=judge, defaults={"kind": kind})
    cells = label_cells(size, seed)
    provenance = AnswerProvenance.objects.filter(run__campaign=made.campaign).order_by("run__run_id", "topic")
    answers = np.array(provenance.values_list("pk", flat=True)).reshape(size.runs, size.topics)
    items = ListedNugget.objects.filter(nugget_list__nugget_set=made).order_by("nugget_list__topic", "position")
    wordings = np.array(items.values_list("nugget_version", flat=True)).reshape(size.topics, size.nuggets)
    rows = [
        (answer, wording, label)
        for run in range(size.runs)
        for topic in range(size.topics)
        for answer in (int(answers[run, topic]),)
        for wording, label in zip(wordings[topic].tolist(), cells[topic, run].tolist(), strict=True)
    ]
    _insert(rows, giver.pk)
    return giver


def _insert(rows: list[tuple[int, int, int]], judge: int) -> None:
    now = timezone.now().isoformat(sep=" ")
    columns = "(answer_id, nugget_version_id, label, judge_id, submission, raw, given_at)"
    whole = [(*row, judge, 1, "", now) for row in rows]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            with cursor.copy(f"COPY evaluation_assignment {columns} FROM STDIN") as copy:
                for row in whole:
                    copy.write_row(row)
            cursor.execute("VACUUM ANALYZE")
        return
    sql = f"INSERT INTO evaluation_assignment {columns} VALUES (%s, %s, %s, %s, %s, %s, %s)"  # noqa: S608
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(sql, whole)
