"""Documents of reports, as `report NAME` prints them as JSON; those of two conditions are in `api.rows.labels`."""

from typing import Annotated, Any

from pydantic import Field, create_model

from api.rows.corpus import JudgeName, Number, Out, RunId, TopicId, words
from api.rows.labels import IntervalRow
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.terms import StudyKind
from reports.metrics.registry import OF_NUGGETS, Profile, scores_of
from reports.nuggets.descriptives import STATISTICS

Fields = dict[str, Any]
WHOSE = "whose labels; null: there are none"


def _scores(*profiles: Profile) -> Fields:
    """Return a field for each score; an answer has those of one profile."""
    scores = [score for profile in profiles for score in scores_of(profile, sizes=True)]
    return {score.name: (Number | None, Field(None, description=score.text or None)) for score in scores}


class _ReportedRun(Out):
    run_id: RunId
    group: str
    task: str
    judged: int
    unjudged: int
    failed: int
    intervals: dict[str, IntervalRow] = Field(description="of each score, by its name")


# mypy cannot see fields that are named in a registry.
_RunOfNuggets = create_model("_RunOfNuggets", __base__=_ReportedRun, **_scores(*OF_NUGGETS))  # type: ignore[call-overload]
_RunOfCitations = create_model("_RunOfCitations", __base__=_ReportedRun, **_scores(Profile.CITATIONS))  # type: ignore[call-overload]


class ReportedRunRow(_RunOfNuggets):
    """A run's mean scores; null: undefined."""

    topics: int = Field(description="topics behind the primary score")
    excluded: int = Field(description="answers")
    missing: int = Field(description="answers")
    control: bool


class ScoresReportRow(Out):
    """Scores of all runs under a condition, the best first."""

    condition: str
    nuggets: str | None = Field(description="whose nuggets, by set; null: nobody has any")
    judge: str | None = Field(description=WHOSE)
    policies: dict[str, str]
    topics: int = Field(description="topics with a nugget")
    empty_topics: int
    no_vital_topics: int
    no_positive_topics: int | None = Field(None, description="of a rubric: topics without a weight above 0")
    avoid_nuggets: int = Field(description="that an answer must not contain, and that no score counts")
    runs: list[ReportedRunRow]
    summary: dict[str, dict[str, Number | None]] = Field(
        description="min, median and max: means over topics of that of the runs, by score"
    )


class SupportedRunRow(_RunOfCitations):
    """A run's mean scores of its citations; null: undefined."""

    precision_topics: int
    recall_topics: int
    sentences_total: int
    sentences_uncited: int
    unjudgeable: int = Field(description="pairs that nobody can judge")


class SupportReportRow(Out):
    """How the citations of all runs support, the best first."""

    condition: str
    judge: str | None = Field(description=WHOSE)
    policies: dict[str, str]
    first_citations: int | None = Field(description="how many of a sentence are judged; null: all")
    published_measure: bool
    topics: int
    runs: list[SupportedRunRow]


class RunDifferenceRow(Out):
    """The mean of `run_id` minus that of `other`; null: undefined."""

    run_id: RunId
    other: RunId
    difference: Number | None
    p: Number | None
    adjusted: Number | None = Field(description="p by Holm's correction")
    topics: int
    intervals: dict[str, IntervalRow]


class ComparisonsReportRow(Out):
    """Differences of every two runs, with paired intervals and tests over topics."""

    condition: str
    judge: str | None = Field(description=WHOSE)
    score: str
    policies: dict[str, str]
    topics: int
    runs: list[str] = Field(description="that are compared, the best first")
    left_out: int = Field(description="runs beyond the most that are compared")
    groups: list[list[str]] = Field(description="largest groups of runs of which no two differ")
    comparisons: list[RunDifferenceRow]


_DESCRIBED: Fields = {
    name: (Number | None, Field(description="share of the labels" if name in NUGGET_LABELS.scale else None))
    for name in (*STATISTICS, *NUGGET_LABELS.scale)
}
_Described = create_model("_Described", __base__=Out, **_DESCRIBED)


class DescribedRow(_Described):  # type: ignore[misc, valid-type]
    """A nugget set, named by `nuggets`; or labels of one, which have condition, judge and `set`."""

    nuggets: str | None = None
    condition: str | None = None
    judge: str | None = None
    set: str | None = None


class DescriptivesReportRow(Out):
    """Nugget sets and labels in figures."""

    rows: list[DescribedRow]


class EditsRow(Out):
    """A class of edits; `authors_share` is by the flags of the file, null where it has none."""

    edit: str
    topics: int
    share: Number | None
    authors_share: Number | None


class EditsReportRow(Out):
    """What assessors did to the drafts."""

    nuggets: str
    drafts: str
    topics: int
    inferred: bool = Field(description="from the texts, as no lineage is recorded")
    rows: list[EditsRow]


class StudiedTopicRow(Out):
    """Pairs of a topic; `cells` counts them by label of the one and the other."""

    topic_id: TopicId
    pairs: int
    cells: list[list[int]]


_SHARES: Fields = {
    label: (Number | None, Field(None, description="share of the labels"))
    for label in (*NUGGET_LABELS.scale, *CITATION_LABELS.scale)
}
_Studied = create_model("_Studied", __base__=Out, **_SHARES)


class StudiedJudgeRow(_Studied):  # type: ignore[misc, valid-type]
    """The labels of a judge, of the labels that the study has."""

    judge: JudgeName
    role: str
    judged: int
    failed: int
    unjudged: int


_WITH: Fields = {"with": (JudgeName, ...)}
_With = create_model("_With", __base__=Out, **_WITH)


class StudiedAgreementRow(_With):  # type: ignore[misc, valid-type]
    """How far two judges agree on the study's pairs; null: undefined."""

    judge: JudgeName
    pairs: int
    agreement: Number | None
    kappa: Number | None
    kappa_linear: Number | None
    intervals: dict[str, IntervalRow] = Field(description="by figure")


class StudyReportRow(Out):
    """Who agrees with whom on pairs on which a person and an LLM differ."""

    study: str
    kind: Annotated[str, words(StudyKind)]
    person: JudgeName
    judge: JudgeName
    nuggets: str | None = Field(description="null of support")
    condition: str | None = Field(description="how people judge support")
    per_topic: int
    stratified: bool
    seed: int
    pairs: int
    decoys: int
    topics: list[StudiedTopicRow]
    labels: list[str]
    judges: list[StudiedJudgeRow]
    agreement: list[StudiedAgreementRow]


class ReportSectionRow(Out):
    """A table of a report's page; its rows have a value for each column."""

    title: str
    rows: list[dict[str, Any]]


class SectionsReportRow(Out):
    """A report's page: what it says, and its tables by name."""

    title: str
    text: str
    sections: dict[str, ReportSectionRow]
