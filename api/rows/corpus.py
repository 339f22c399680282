"""Columns of campaigns, topics, segments, runs, answers and nuggets, and what all columns are declared with.

A class is a component of the OpenAPI schema, and its fields, in order, are the columns of a CSV file. Readers make the
rows themselves; a test compares the two.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from evaluation.models import NuggetLineage
from evaluation.terms import Importance, Origin


def without_titles(schema: dict[str, Any]) -> None:
    """Drop pydantic's titles, which say a field's name again, and its defaults, which no answer has."""
    for part in (schema, *schema.get("properties", {}).values()):
        part.pop("title", None)
        part.pop("default", None)


class Out(BaseModel):
    """Something that leaves the API."""

    # From attributes: what is behind a label comes as the objects of llmjobs.provenance.
    model_config = ConfigDict(from_attributes=True, json_schema_extra=without_titles)


def words(values: Iterable[str]) -> WithJsonSchema:
    """Schema of one of some words. A Python enum would be a component of its own, with a name to keep for ever."""
    return WithJsonSchema({"type": "string", "enum": [str(value) for value in values]})


# Clients that were made from the schema have their type of a number by this format.
Number = Annotated[float, WithJsonSchema({"type": "number", "format": "double"})]
CampaignSlug = Annotated[str, Field(description="the campaign's slug")]
TopicId = Annotated[str, Field(description="the topic, by the track's id")]
RunId = Annotated[str, Field(description="the run, by its run id")]
JUDGE = "as `judges` names them"
JudgeName = Annotated[str, Field(description=JUDGE)]


class CampaignRow(Out):
    """A campaign: one evaluation that you may see unblinded."""

    slug: str = Field(description="its name in addresses and filters")
    name: str
    description: str
    language: str = Field(description="BCP 47, of topics without one; empty: unknown")
    created_at: datetime
    revision: int = Field(description="goes up whenever labels, nuggets, runs or texts change")
    protocol_version: int | None = Field(description="how often the settings were changed, from 1")
    topics: int = Field(description="how many")
    runs: int = Field(description="how many")


class TopicRow(Out):
    """A topic: one information need."""

    id: str
    campaign: CampaignSlug
    topic_id: str = Field(description="the track's")
    text: str
    tags: list[str]
    position: int = Field(description="the order in which topics were loaded")
    language: str = Field(description="BCP 47; empty: the campaign's")
    problem_statement: str
    background: str
    article: str = Field(description="the text of the article that is asked about")
    extra: dict[str, Any] = Field(description="keys of the file that Assay has no field for")


class GradeRow(Out):
    """A source's grade of a segment for a topic."""

    topic_id: TopicId
    source: str = Field(description="NIST, UMBRELA, ...")
    grade: int


class SegmentRow(Out):
    """A segment: a passage that qrels grade and answers cite."""

    id: str
    campaign: CampaignSlug
    docid: str
    document: str = Field(description="the document that it is a segment of")
    has_text: bool = Field(description="false: named by qrels or runs, and never loaded")
    title: str
    headings: str
    url: str
    text: str
    start_char: int | None
    end_char: int | None
    grades: list[GradeRow]


class RunRow(Out):
    """A run: what one system answered."""

    id: int
    campaign: CampaignSlug
    run_id: str
    group: str = Field(description="the team that submitted it; empty: unknown")
    task: str = Field(description="AG or RAG; empty: unknown")
    priority: int | None = Field(description="1 is judged first")
    control: bool = Field(description="an organizers' control run")
    pool: bool = Field(description="judged whatever its priority")
    has_candidates: bool = Field(
        description="its sentences are judged by what was retrieved, not by what they cite"
    )
    sha256: str = Field(description="of the file")
    answers: int = Field(description="how many topics it answers")


class CitationRow(Out):
    """A citation of a sentence."""

    position: int = Field(description="from 0, in the order of the file")
    docid: str | None = Field(description="null: out of range of the references")
    raw: str = Field(description="as the file has it")


class SentenceRow(Out):
    """A sentence of an answer."""

    index: int = Field(description="from 0")
    text: str
    citations: list[CitationRow]


SAMPLE = "which of the run's answers to the topic, from 1"


class AnswerRow(Out):
    """An answer: what one run says to one topic."""

    id: str
    campaign: CampaignSlug
    run_id: RunId
    topic_id: TopicId
    sample: int = Field(description=SAMPLE)
    words: int = Field(description="whitespace words")
    response_length: int | None = Field(description="as the file declares it")
    references: list[str]
    sentences: list[SentenceRow]
    extra: dict[str, Any] = Field(description="keys of the file that Assay has no field for")


class NuggetSetRow(Out):
    """A nugget set: one maker's lists for a campaign's topics."""

    id: int
    campaign: CampaignSlug
    name: str
    origin: Annotated[str, words(Origin)]
    judge: str = Field(description=f"who made it, {JUDGE}")
    drafts: str | None = Field(description="the set that was post-edited")
    topics: int = Field(description="how many topics have a submitted list")


class LineageRow(Out):
    """An earlier wording that a nugget was made from."""

    relation: Annotated[str, words(NuggetLineage.RELATIONS)]
    nugget: str
    nugget_version: int
    text: str


class EvidenceRow(Out):
    """A passage that a nugget rests on."""

    docid: str
    sentence: int | None = Field(description="of the segment, from 0; null: all of it")


class NuggetRow(Out):
    """A nugget at its place in a submitted list. Labels name it by `nugget` and `nugget_version`."""

    id: int = Field(description="of this place in this list")
    campaign: CampaignSlug
    topic_id: TopicId
    nugget_set: str = Field(description="the set's name")
    list_version: int = Field(description="each submission of a list is a version, from 1")
    newest: bool = Field(description="whether this version of the list is the one that reports read")
    position: int = Field(description="in the list, from 0")
    nugget: str = Field(description="the nugget; it stays while its wording changes")
    nugget_version: int = Field(description="which wording of it, from 1")
    text: str
    importance: Annotated[str, words(importance.name.lower() for importance in Importance)]
    raw_importance: str = Field(description="as the file has it")
    group: str = Field(description="for instance the sub-narrative, or a criterion's type or axis")
    weight: float | None = Field(description="of a rubric; below 0: an answer must not contain it")
    lineage: list[LineageRow]
    evidence: list[EvidenceRow]
