"""The collections: what each is called, what its fields are, who reads it, and what it can be narrowed by."""

from dataclasses import dataclass
from typing import Any

from rest_framework.serializers import Serializer

from api import filtersets
from api.filters import ByJudge, ByRun, ByTopic, Filters, OfCampaign
from api.readers.jobs import Jobs
from api.readers.scores import Scores
from api.readers.times import Times
from api.serializers import corpus, labels, nuggets, runs, work
from evaluation.queries.data.corpus import Campaigns, Segments, Topics
from evaluation.queries.data.grades import Grades
from evaluation.queries.data.judges import Judges
from evaluation.queries.data.labels import Assignments, SupportJudgments
from evaluation.queries.data.log import Events, Findings
from evaluation.queries.data.nuggets import Nuggets, NuggetSets
from evaluation.queries.data.reading import Reader
from evaluation.queries.data.runs import Answers, Runs
from evaluation.queries.data.work import Tasks


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
        """The names of the fields, in their order."""
        return list(self.fields().fields)

    @property
    def text(self) -> str:
        """What a row is."""
        return (self.fields.__doc__ or "").strip()


COLLECTIONS = (
    Collection("campaigns", corpus.CampaignRow, Campaigns, OfCampaign, "slug"),
    Collection("topics", corpus.TopicRow, Topics, filtersets.TopicFilters, "public_id", by_revision=True),
    Collection("segments", corpus.SegmentRow, Segments, ByTopic, "public_id", by_revision=True),
    Collection("runs", runs.RunRow, Runs, ByRun, "pk", by_revision=True),
    Collection("answers", runs.AnswerRow, Answers, filtersets.AnswerFilters, "public_id", by_revision=True),
    Collection("nugget-sets", nuggets.NuggetSetRow, NuggetSets, ByJudge, "pk"),
    Collection("nuggets", nuggets.NuggetRow, Nuggets, filtersets.NuggetFilters, "pk", by_revision=True),
    Collection(
        "assignments", labels.AssignmentRow, Assignments, filtersets.AssignmentFilters, "pk", by_revision=True
    ),
    Collection(
        "support-judgments", labels.SupportRow, SupportJudgments, filtersets.SupportFilters, "pk", by_revision=True
    ),
    Collection("grades", labels.QrelRow, Grades, filtersets.GradeFilters, "pk", by_revision=True),
    Collection("judges", labels.JudgeRow, Judges, filtersets.JudgeFilters),
    Collection("jobs", work.JobRow, Jobs, filtersets.JobFilters, "pk"),
    Collection("tasks", work.TaskRow, Tasks, filtersets.StageFilters, "public_id"),
    Collection("time", work.TimeRow, Times, filtersets.StageFilters),
    Collection("scores", labels.ScoreRow, Scores, filtersets.ScoreFilters, by_revision=True),
    Collection("events", work.EventRow, Events, filtersets.EventFilters, "pk"),
    Collection("findings", work.FindingRow, Findings, filtersets.FindingFilters, "pk", by_revision=True),
)
"""Nugget sets do not go by the campaign's revision: one is made when work is handed out, which changes no label."""
