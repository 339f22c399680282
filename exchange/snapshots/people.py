"""People of a snapshot: their rows, and how a value is written in which one may be named."""

from dataclasses import dataclass
from functools import partial

from django.db import models

from evaluation.campaigns.pseudonyms import Hiding
from exchange.snapshots.tables import Coder, Field

PEOPLE_COLUMNS = ("username", "first_name", "last_name")
PersonRow = tuple[str, str, str]

CODES = frozenset(
    {
        *(
            "public_id",
            "sha256",
            "key",
            "kind",
            "stage",
            "unit",
            "window",
            "holder",
            "item",
            "gap_answer",
            "source",
        ),
        *("slug", "salt", "family", "language", "languages", "condition", "given", "score", "task", "part"),
        *("price_table", "currency", "base_url", "model", "model_answered", "finish_reason", "error"),
    }
)
"""Columns of ids, of the program's own words and of LLMs, in any table."""

DATA = {
    "assessor.Desk": ("composer",),
    "assessor.PracticeItem": ("question", "text", "statement"),
    "assessor.WorkingNugget": ("text", "group", "parents", "evidence"),
    "evaluation.AnswerProvenance": ("references", "extra"),
    "evaluation.Campaign": ("name",),
    "evaluation.Citation": ("raw",),
    "evaluation.Finding": ("run_id", "topic_id"),
    "evaluation.ListedNugget": ("raw_importance", "group"),
    "evaluation.NuggetList": ("query",),
    "evaluation.NuggetVersion": ("text",),
    "evaluation.Run": ("run_id", "group"),
    "evaluation.Segment": ("docid", "document", "text", "title", "headings", "url"),
    "evaluation.Sentence": ("text",),
    "evaluation.Topic": ("topic_id", "text", "problem_statement", "background", "article", "extra"),
    "evaluation.TopicTag": ("name",),
    "llmjobs.Call": ("parameters", "messages", "template_sha256", "reply"),
    "llmjobs.Text": ("content",),
    "reports.Adjudication": ("labels",),
    "reports.ExternalScore": ("run_id", "group", "topic_id"),
}
"""Columns of material, of topics, passages, runs, nuggets and LLMs: no name in them is a person's of the campaign."""

OF_DESKS = {("assessor.Operation", column) for column in ("payload", "before", "after")}
"""Columns of work at desks: nuggets in them are left as they are, reasons are hidden."""


@dataclass(frozen=True, slots=True)
class People:
    rows: list[PersonRow]
    hiding: Hiding | None = None

    def hides(self, table: str, field: Field) -> Coder | None:
        """Return the writer of a column that may say somebody's name: any of text or JSON that is not listed above."""
        if self.hiding is None or not may_name(table, field):
            return None
        hide = partial(self.hiding.row, typed=(table, field.name) not in OF_DESKS)
        # A pseudonym may be longer than the name.
        return hide if field.max_length is None else lambda value: hide(value)[: field.max_length]


def may_name(table: str, field: Field) -> bool:
    if not isinstance(field, models.CharField | models.TextField | models.JSONField) or field.choices:
        return False
    return field.name not in CODES and field.name not in DATA.get(table, ())
