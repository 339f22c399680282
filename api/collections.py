"""The collections: what each is called, what its fields are, who reads it, and what it can be narrowed by."""

from dataclasses import dataclass
from typing import Any

from rest_framework.serializers import Serializer

from api import filters as filtersets
from api.filters import ByJudge, ByRun, ByTopic, Filters, OfCampaign
from api.readers import Jobs, Scores, TimeReader
from api.rows import corpus as rows_corpus
from api.rows import labels as rows_labels
from api.rows import work as rows_work
from assessor.progress.matrix import Tasks
from evaluation.rows.base import Reader
from evaluation.rows.corpus import Answers, Campaigns, Events, Findings, Grades, Runs, Segments, Topics
from evaluation.rows.labels import Assignments, Judges, SupportJudgments
from evaluation.rows.nuggets import Nuggets, NuggetSets


@dataclass(frozen=True, slots=True)
class Collection:
    """One collection. `fields` declares the columns of every form it leaves in; `found_by` is the key of one row.

    `by_revision`: its rows change only together with the revision of their campaign, and so does a stream's ETag.
    """

    name: str
    fields: type[Serializer[Any]]
    reader: type[Reader]
    filters: type[Filters]
    found_by: str = ""
    by_revision: bool = False

    @property
    def columns(self) -> list[str]:
        return list(self.fields().fields)

    @property
    def text(self) -> str:
        return (self.fields.__doc__ or "").strip()


COLLECTIONS = (
    Collection("campaigns", rows_corpus.CampaignRow, Campaigns, OfCampaign, "slug"),
    Collection("topics", rows_corpus.TopicRow, Topics, filtersets.TopicFilters, "public_id", by_revision=True),
    Collection("segments", rows_corpus.SegmentRow, Segments, ByTopic, "public_id", by_revision=True),
    Collection("runs", rows_corpus.RunRow, Runs, ByRun, "pk", by_revision=True),
    Collection("answers", rows_corpus.AnswerRow, Answers, filtersets.AnswerFilters, "public_id", by_revision=True),
    Collection("nugget-sets", rows_corpus.NuggetSetRow, NuggetSets, ByJudge, "pk"),
    Collection("nuggets", rows_corpus.NuggetRow, Nuggets, filtersets.NuggetFilters, "pk", by_revision=True),
    Collection(
        "assignments", rows_labels.AssignmentRow, Assignments, filtersets.AssignmentFilters, "pk", by_revision=True
    ),
    Collection(
        "support-judgments",
        rows_labels.SupportRow,
        SupportJudgments,
        filtersets.SupportFilters,
        "pk",
        by_revision=True,
    ),
    Collection("grades", rows_labels.QrelRow, Grades, filtersets.GradeFilters, "pk", by_revision=True),
    Collection("judges", rows_labels.JudgeRow, Judges, filtersets.JudgeFilters),
    Collection("jobs", rows_work.JobRow, Jobs, filtersets.JobFilters, "pk"),
    Collection("tasks", rows_work.TaskRow, Tasks, filtersets.StageFilters, "public_id"),
    Collection("time", rows_work.TimeRow, TimeReader, filtersets.StageFilters),
    Collection("scores", rows_labels.ScoreRow, Scores, filtersets.ScoreFilters, by_revision=True),
    Collection("events", rows_work.EventRow, Events, filtersets.EventFilters, "pk"),
    Collection("findings", rows_work.FindingRow, Findings, filtersets.FindingFilters, "pk", by_revision=True),
)
"""Nugget sets do not go by the campaign's revision: one is made when work is handed out, which changes no label."""
