"""Rows of input files as lines that the parsers read back: the product reads these forms and writes none of them."""

from typing import Any

from evaluation.formats.lines import json_line
from evaluation.formats.runs import AnswerRecord, RunFile, SentenceRecord
from evaluation.formats.segments import SegmentRecord
from evaluation.formats.topics import TopicRecord


def run_line(run: RunFile, answer: AnswerRecord) -> str:
    """One answer in the form of its year: with `metadata` if the run has a team or type, else as in 2024."""
    words = {"response_length": answer.response_length, "answer": [_sentence(s) for s in answer.sentences]}
    body = {"references": list(answer.references), **words}
    if not run.team and not run.task_type:
        head = {"run_id": run.run_id, "topic_id": answer.topic_id, "topic": answer.topic_text or None}
        return json_line(head | body, answer.extra)
    metadata = {
        "team_id": run.team,
        "run_id": run.run_id,
        "type": run.task_type,
        "narrative_id": answer.topic_id,
        "narrative": answer.topic_text,
        **answer.extra.get("metadata", {}),
    }
    return json_line({"metadata": metadata} | body, answer.extra)


def _sentence(sentence: SentenceRecord) -> dict[str, Any]:
    citations = [c.docid if c.raw == c.docid else int(c.raw) for c in sentence.citations]
    return {"text": sentence.text, "citations": citations}


def segment_line(row: SegmentRecord) -> str:
    known = {
        "docid": row.docid,
        "url": row.url,
        "title": row.title,
        "headings": row.headings,
        "segment": row.text,
        "start_char": row.start_char,
        "end_char": row.end_char,
    }
    return json_line(known, {})


def topic_line(row: TopicRecord) -> str:
    """The topic as JSONL `{"id", "title", ...}`, which `parse_topics` reads back."""
    known = {
        "id": row.topic_id,
        "title": row.text,
        "tags": list(row.tags) or None,
        "language": row.language or None,
        "problem_statement": row.problem_statement or None,
        "background": row.background or None,
        "body": row.article or None,
    }
    return json_line(known, row.extra)
