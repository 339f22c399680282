"""Imports through the commands: files on disk to rows in the database."""

import io
import json
import tempfile
from pathlib import Path
from unittest.mock import patch

from django.core.management import call_command
from django.db import connection

from evaluation.formats.assignments import parse_assignments
from evaluation.formats.segments import parse_segment_file
from evaluation.imports import assignments, segments
from evaluation.management.base import read_sources
from evaluation.management.commands import import_assignments, import_segments
from evaluation.models import AnswerProvenance, Assignment, Campaign, Citation, Segment, Sentence
from evaluation.terms import Origin
from loadtest.bench import synthetic
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import Size

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL = {
    "trec-rag-2024": "topics.rag24.test.tsv",
    "qampari-list-qa": "topics.tsv",
}


def prepare_runs(_size: Size, turn: int) -> Measured:
    for folder, topics in REAL.items():
        if (SHARED / folder).is_dir():
            _command("create_campaign", f"{folder}-{turn}", "--name", folder)
            _command("import_topics", "--campaign", f"{folder}-{turn}", SHARED / folder / topics)
    return Measured(skipped="" if SHARED.is_dir() else f"{SHARED} is not there")


def runs(_size: Size, turn: int) -> Measured:
    measured = Measured()
    with measured.timing("all"):
        for folder in REAL:
            files = sorted((SHARED / folder / "runs").glob("*.jsonl"))
            _command("import_run", "--campaign", f"{folder}-{turn}", "--task", "RAG", *files)
    measured.rows = sum(model.objects.count() for model in (AnswerProvenance, Sentence, Citation)) // (turn + 1)
    return measured


def prepare_segments(size: Size, turn: int) -> Measured:
    synthetic.make_campaign(f"segments-{turn}", size.topics)
    return Measured()


def segment_texts(size: Size, turn: int) -> Measured:
    """Import segments of the corpus' usual length, about 200 words."""
    measured = Measured(rows=size.segments)
    text = " ".join(synthetic.phrase(number, 20) for number in range(10))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "segments.jsonl"
        with path.open("w") as out:
            for number in range(size.segments):
                row = {
                    "docid": f"msmarco_v2.1_doc_{number}#0_1",
                    "url": "https://example.org/",
                    "title": "A river",
                }
                row |= {"headings": "A river\nIts mouth", "segment": f"{text} {number}"}
                out.write(json.dumps(row | {"start_char": 0, "end_char": 1200}) + "\n")
        read = measured.timed("parse", read_sources)
        parse = measured.timed("parse", parse_segment_file)
        with (
            patch.object(import_segments, "read_sources", read),
            patch.object(segments, "parse_segment_file", parse),
            measured.timing("all"),
        ):
            _command("import_segments", "--campaign", f"segments-{turn}", path)
    _check_rows(Segment.objects.filter(campaign__slug=f"segments-{turn}").count(), size.segments)
    return measured


def prepare_labels(size: Size, turn: int) -> Measured:
    campaign = synthetic.make_campaign(f"labels-{turn}", size.topics)
    synthetic.make_answers(campaign, size)
    synthetic.make_nuggets(campaign, size, Origin.AUTO, "bench-nuggetizer")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    return Measured()


def labels(size: Size, turn: int) -> Measured:
    """Import one condition's labels, a file per run, each row with its answer's text as nuggetizer writes it."""
    measured = Measured(rows=size.labels)
    with tempfile.TemporaryDirectory() as folder:
        files = synthetic.write_label_files(Path(folder), size, turn)
        read = measured.timed("parse", read_sources)
        parse = measured.timed("parse", parse_assignments)
        with (
            patch.object(import_assignments, "read_sources", read),
            patch.object(assignments, "parse_assignments", parse),
            measured.timing("all"),
        ):
            judge = ("--origin", "auto", "--judge", f"bench-assigner-{turn}", "--by", "llm")
            _command("import_assignments", "--campaign", f"labels-{turn}", *judge, *files)
    campaign = Campaign.objects.get(slug=f"labels-{turn}")
    _check_rows(Assignment.objects.filter(answer__topic__campaign=campaign).count(), size.labels)
    return measured


def _command(name: str, *args: object) -> None:
    call_command(name, *map(str, args), stderr=io.StringIO())


def _check_rows(found: int, expected: int) -> None:
    if found != expected:
        raise SystemExit(f"{found:,} rows were written, not {expected:,}")
