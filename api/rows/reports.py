"""Documents of reports, as `report NAME` prints them as JSON; those of two conditions are in `api.rows.labels`."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model

from api.rows.corpus import CampaignSlug, JudgeName, Number, Out, RunId, TopicId, words
from api.rows.labels import FigureIntervalRow, IntervalRow
from assessor.rules.clock import PUBLISHED_LIMITS
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.terms import StudyKind
from reports.metrics.rank_correlations import METHODS
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


_RunOfNuggets = create_model("_RunOfNuggets", __base__=_ReportedRun, **_scores(*OF_NUGGETS))
_RunOfCitations = create_model("_RunOfCitations", __base__=_ReportedRun, **_scores(Profile.CITATIONS))


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


class GroundedRunRow(Out):
    """A run that cites nothing, by the best of what was retrieved for each sentence; null: undefined."""

    run_id: RunId
    group: str
    task: str
    candidates: Literal["retrieved"]
    precision: None = Field(description="what cites nothing has none")
    grounded: Number | None = Field(description="mean support of all sentences")
    grounded_strict: Number | None = Field(description="share of all sentences with full support")
    topics: int
    sentences: int
    judged: int = Field(description="pairs of sentence and context, as the next ones")
    unjudged: int
    failed: int
    unjudgeable: int
    intervals: dict[str, IntervalRow]


class SupportReportRow(Out):
    """How the citations of all runs support, the best first."""

    condition: str
    judge: str | None = Field(description=WHOSE)
    policies: dict[str, str]
    first_citations: int | None = Field(description="how many of a sentence are judged; null: all")
    published_measure: bool
    topics: int
    runs: list[SupportedRunRow]
    grounded: list[GroundedRunRow] = Field(
        description="runs judged by what was retrieved, in no table with the others"
    )


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


class SampledRunRow(Out):
    """A run that answered topics several times; null: undefined."""

    run_id: RunId
    topics: int = Field(description="with several samples: the figures are over these")
    samples: int = Field(description="on these topics")
    mean: Number | None
    sd: Number | None = Field(description="standard deviation of a topic's samples, mean over topics")
    consistency: Number | None = Field(description="share of pairs of samples with the same label of a nugget")
    pass_all: Number | None = Field(description="share of topics whose samples all reach the threshold")


class SamplesReportRow(Out):
    """Runs that answered topics several times: how far their samples agree and are scored alike."""

    condition: str
    judge: str | None = Field(description=WHOSE)
    score: str
    threshold: Number
    policies: dict[str, str]
    topics: int
    runs: list[SampledRunRow]


_DESCRIBED: Fields = {
    name: (Number | None, Field(description="share of the labels" if name in NUGGET_LABELS.scale else None))
    for name in (*STATISTICS, *NUGGET_LABELS.scale)
}
_Described = create_model("_Described", __base__=Out, **_DESCRIBED)


class DescribedRow(_Described):
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
    """Edits of drafted nuggets by assessors."""

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


class StudiedJudgeRow(_Studied):
    """The labels of a judge, of the labels that the study has."""

    judge: JudgeName
    role: str
    judged: int
    failed: int
    unjudged: int


_WITH: Fields = {"with": (JudgeName, ...)}
_With = create_model("_With", __base__=Out, **_WITH)


class StudiedAgreementRow(_With):
    """How far two judges agree on the study's pairs; null: undefined."""

    judge: JudgeName
    pairs: int
    agreement: Number | None
    kappa: Number | None
    kappa_linear: Number | None
    intervals: dict[str, IntervalRow] = Field(description="by figure")


class StudyReportRow(Out):
    """Agreement of second looks with the person and with the LLM, on pairs on which the two differ."""

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


class BattleFigureRow(Out):
    """A figure with its 95 % interval; null: undefined, and `reason` may say why."""

    value: Number | None
    low: Number | None
    high: Number | None
    reason: str | None


class BattledRunRow(Out):
    """A run's battles. `llm`, `people` and `corrected` are win rates where battles were drawn for people to check."""

    run_id: RunId
    win_rate: Number | None = Field(description="mean points")
    low: Number | None
    high: Number | None
    rating: Number | None
    rating_low: Number | None
    rating_high: Number | None
    rank: list[int] | None = Field(description="best and worst")
    battles: int
    won: int
    lost: int
    tied: int
    both_bad: int
    topics: int
    few: bool = Field(description="whether its topics are too few to trust")
    reason: str | None = Field(description="why a figure is undefined")
    llm: BattleFigureRow | None
    people: BattleFigureRow | None
    corrected: BattleFigureRow | None
    drawn: int | None
    judged: int | None
    refused: int | None


class BattlesDifferenceRow(Out):
    """The figure that orders the runs: that of run a minus that of run b."""

    a: RunId
    b: RunId
    value: Number | None
    low: Number | None
    high: Number | None
    p: Number | None
    holm: Number | None = Field(description="p by Holm's correction")


class BattleAgreementRow(Out):
    """How far the verdicts on battles that were judged twice agree."""

    of: str = Field(description="whose")
    judge: JudgeName | None = Field(description="the LLM; null: none")
    pairs: int
    agreement: BattleFigureRow
    kappa: BattleFigureRow
    kappa_linear: BattleFigureRow
    alpha: BattleFigureRow
    opposite: int = Field(description="pairs with opposite winners")


class CountedBattleRow(Out):
    """A battle by name; `points` are those of run a."""

    battle: str
    topic_id: TopicId
    a: RunId
    b: RunId
    points: Number


class ConflictRow(CountedBattleRow):
    """A battle of which two verdicts name opposite winners."""

    of: str = Field(description="whose")
    judge: JudgeName | None = Field(description="the LLM; null: none")
    settled: bool = Field(description="whether a third person's verdict counts")


class InvertedBattleRow(CountedBattleRow):
    """A battle that was won by the answer with the lower score."""

    gap: Number = Field(description="score of a minus that of b")
    reasons: list[str]


class ExplainedBattlesRow(Out):
    """How far a difference in scores explains who wins."""

    battles: int
    decided: int
    agree: BattleFigureRow
    no_difference: Number | None
    slope: Number | None
    half_band: Number | None
    loss: Number | None
    loss_without: Number | None
    gain: BattleFigureRow
    inversions: list[InvertedBattleRow]


class BoardBesideRow(Out):
    """Another order of the same runs."""

    condition: str
    score: str
    tau: Number | None
    runs: int
    same: int = Field(description="pairs that differ on both boards, in the same order")
    opposite: int
    reason: str | None


class BattleCyclesRow(Out):
    """Triads of runs of which each beats the next."""

    triads: int
    cyclic: int
    share: Number | None
    reason: str | None


class BattleSampleRow(Out):
    """The battles that were drawn for people to correct an LLM by."""

    judge: JudgeName
    target: str
    battles: int
    drawn: int
    judged: int
    refused: int
    outside: int
    stale: int


class BattleLeaderboardRow(Out):
    """Runs of a battle set, the best first, with the figures of `reports/battles/`."""

    set: str
    condition: str
    by: str = Field(description="what orders the runs")
    target: str
    policies: dict[str, str]
    sample: BattleSampleRow | None
    runs: list[BattledRunRow]
    bands: list[list[str]] = Field(description="runs that are not told apart, each difference by itself")


class BattlesReportRow(BattleLeaderboardRow):
    """Runs by their battles, the best first, every two of them, what else decides, and how far judges agree."""

    differences: list[BattlesDifferenceRow]
    side: BattleFigureRow = Field(description="mean points of the answer on the left")
    side_term: BattleFigureRow = Field(description="log odds of standing on the left, beside ratings")
    stayed: BattleFigureRow = Field(description="mean points of the answer that had stayed")
    length: BattleFigureRow = Field(description="log odds of the answer with twice as many words")
    agreement: list[BattleAgreementRow]
    conflicts: list[ConflictRow]
    cycles: BattleCyclesRow
    reliability: Number | None
    unbalanced: list[str] = Field(description="runs whose win rate depends on whom they met")
    explained: ExplainedBattlesRow | None
    boards: list[BoardBesideRow]


_CORRELATIONS: Fields = dict.fromkeys(METHODS, (Number | None, None))
_Correlated = create_model("_Correlated", __base__=Out, **_CORRELATIONS)


class ComparedJudgeRow(_Correlated):
    """How well a judge's scores rank the runs. It has the methods that were asked for, those with @K too."""

    model_config = ConfigDict(extra="allow")

    judge: str
    method: str
    model: str
    measure: str
    truth_measure: str
    runs: int
    filled: int = Field(description="runs that it scores 0, as it lacks them")
    topics: int | None
    reason: str
    intervals: dict[str, FigureIntervalRow] = Field(description="by method")


class ComparedJudgesRow(Out):
    """The coefficient of `judge` minus that of `other`; null: undefined."""

    judge: str
    measure: str
    other: str
    other_measure: str
    correlation: str
    difference: Number | None
    p: Number | None
    verdict: str
    intervals: dict[str, FigureIntervalRow]


class JudgesReportRow(Out):
    """Judges against the truth, the best first."""

    truth: str
    truth_measure: str
    methods: list[str]
    on_missing: str
    resamples: int
    seed: int
    judges: list[ComparedJudgeRow]
    differences: list[ComparedJudgesRow]
    pairs_left_out: int
    conditions_left_out: list[str] = Field(
        description="by several LLMs or lists of nuggets without a default, or the truth's own"
    )
    left_out: list[str] = Field(description="runs that one side lacks")


class StageTimeRow(Out):
    """Seconds of active time on a topic, over first submissions."""

    stage: str
    topics: int
    median_s: Number | None
    q1_s: Number | None
    q3_s: Number | None
    low_median_s: Number | None
    high_median_s: Number | None
    wall_median_s: Number | None
    mean_s: Number | None
    total_s: Number
    unfinished: int
    reworked: int
    rework_total_s: Number


_LIMITED: Fields = {f"active_{seconds}_s": (Number, ...) for seconds in PUBLISHED_LIMITS}
_Limited = create_model("_Limited", __base__=Out, **_LIMITED)


class SubmissionTimeRow(_Limited):
    """Seconds that somebody spent on a topic; `active_60_s` and its like count gaps up to so many seconds."""

    campaign: CampaignSlug
    topic_id: TopicId
    stage: str
    assessor: str
    version: int
    wall_s: Number
    presence_s: Number
    active_low_s: Number
    active_point_s: Number
    active_high_s: Number
    hidden_s: Number
    paused_s: Number
    offline_s: Number
    blur_s: Number
    sessions: int
    rework_s: Number
    rule_version: int
    reading_s: Number
    editing_s: Number
    suspended_s: Number
    submitted: bool


class TimeReportRow(Out):
    """How long topics took, by stage, and the submissions that this rests on."""

    idle: int | None = Field(description="gaps up to so many seconds count; null: by the words on screen")
    rule_version: int
    stages: list[StageTimeRow]
    submissions: list[SubmissionTimeRow]
