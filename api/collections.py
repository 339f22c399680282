"""Collections: the name of each, its columns, its reader, and the filters that narrow it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import getdoc

from django.http import QueryDict

from api import filters
from api.filters import CAMPAIGN, JUDGE, PER_TOPIC, RUN, SINCE, TOPIC, Filter, Narrowing, narrowing_of, stored
from api.pagination import Selection
from api.readers import Jobs, Scores, TimeReader
from api.rows import corpus, labels, work
from assessor.progress.matrix import Tasks
from evaluation.rows.base import Reader
from evaluation.rows.battles import Battles, BattleSets, Verdicts
from evaluation.rows.corpus import (
    Answers,
    Campaigns,
    Events,
    Findings,
    Grades,
    Nuggets,
    NuggetSets,
    Runs,
    Segments,
    Topics,
)
from evaluation.rows.labels import Assignments, Judges, Judgments, Studies, SupportJudgments


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection. `row` declares the columns of every form it leaves in; `found_by` is the key of one row.

    `topic_row` has the columns where `per_topic` asks for a row for each topic. `by_revision`: its rows change only
    together with the revision of their campaign, and so does a stream's ETag.
    """

    name: str
    row: type[corpus.Out]
    reader: type[Reader]
    filters: tuple[Filter, ...]
    found_by: str = ""
    by_revision: bool = False
    select: Callable[[Narrowing, Sequence[Filter]], Selection] = stored
    topic_row: type[corpus.Out] | None = None

    def columns_of(self, query: QueryDict) -> list[str]:
        return list((self.topic_row if self.topic_row and PER_TOPIC.name in query else self.row).model_fields)

    @property
    def text(self) -> str:
        return getdoc(self.row) or ""

    def narrowed(self, query: QueryDict, reader: Reader) -> tuple[Selection, object]:
        """Return the rows of a query, and what they rest on besides revisions. Raises `WrongQuery` or `Refused`."""
        narrowing = narrowing_of(self.filters, query, reader)
        return self.select(narrowing, self.filters), narrowing.rests_on


COLLECTIONS = (
    Collection("campaigns", corpus.CampaignRow, Campaigns, (CAMPAIGN,), "slug"),
    Collection("topics", corpus.TopicRow, Topics, (CAMPAIGN, TOPIC, filters.TAG), "public_id", by_revision=True),
    Collection("segments", corpus.SegmentRow, Segments, (CAMPAIGN, TOPIC), "public_id", by_revision=True),
    Collection("runs", corpus.RunRow, Runs, (CAMPAIGN, RUN), "pk", by_revision=True),
    Collection("answers", corpus.AnswerRow, Answers, (CAMPAIGN, TOPIC, RUN), "public_id", by_revision=True),
    # A set is made when work is handed out. That changes no label, so that no revision goes up.
    Collection("nugget-sets", corpus.NuggetSetRow, NuggetSets, (CAMPAIGN, JUDGE), "pk"),
    Collection(
        "nuggets",
        corpus.NuggetRow,
        Nuggets,
        (CAMPAIGN, TOPIC, JUDGE, filters.NUGGET_SET, filters.LISTED_UNDER, filters.NEWEST),
        "pk",
        by_revision=True,
    ),
    Collection(
        "assignments",
        labels.AssignmentRow,
        Assignments,
        (CAMPAIGN, TOPIC, RUN, JUDGE, SINCE, filters.NUGGET_SET, filters.ASSIGNED_UNDER),
        "pk",
        by_revision=True,
    ),
    Collection(
        "support-judgments",
        labels.SupportRow,
        SupportJudgments,
        (CAMPAIGN, TOPIC, RUN, JUDGE, SINCE, filters.SUPPORTED_UNDER),
        "pk",
        by_revision=True,
    ),
    Collection(
        "judgments",
        labels.JudgmentRow,
        Judgments,
        (CAMPAIGN, TOPIC, RUN, JUDGE, SINCE, filters.STAGE),
        "pk",
        by_revision=True,
    ),
    Collection("battle-sets", labels.BattleSetRow, BattleSets, (CAMPAIGN,), "pk", by_revision=True),
    Collection(
        "battles",
        labels.BattleRow,
        Battles,
        (CAMPAIGN, TOPIC, RUN, filters.BATTLE_SET),
        "public_id",
        by_revision=True,
    ),
    Collection(
        "verdicts",
        labels.VerdictRow,
        Verdicts,
        (CAMPAIGN, TOPIC, RUN, JUDGE, SINCE, filters.BATTLE_SET),
        "pk",
        by_revision=True,
    ),
    Collection("grades", labels.QrelRow, Grades, (CAMPAIGN, TOPIC, filters.SOURCE), "pk", by_revision=True),
    Collection("judges", labels.JudgeRow, Judges, (CAMPAIGN,), select=filters.judges),
    # To draw or grow a study changes no label, so that no revision goes up.
    Collection("studies", labels.StudyRow, Studies, (CAMPAIGN,), "pk"),
    Collection("jobs", work.JobRow, Jobs, (CAMPAIGN, JUDGE, SINCE, filters.STATE), "pk"),
    Collection("tasks", work.TaskRow, Tasks, filters.OF_STAGES, "public_id"),
    Collection("time", work.TimeRow, TimeReader, filters.OF_STAGES),
    Collection(
        *("scores", labels.ScoreRow, Scores, (*filters.OF_SCORES, PER_TOPIC)),
        by_revision=True,
        select=filters.scores,
        topic_row=labels.TopicScoreRow,
    ),
    Collection("events", work.EventRow, Events, (SINCE, CAMPAIGN, filters.KIND), "pk"),
    Collection(
        "findings", work.FindingRow, Findings, (CAMPAIGN, TOPIC, RUN, SINCE, filters.CODE), "pk", by_revision=True
    ),
)
