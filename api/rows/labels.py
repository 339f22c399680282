"""Columns of labels, of battles and those who judge, and of what stands behind a label."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from api.rows.corpus import JUDGE, SAMPLE, CampaignSlug, JudgeName, Number, Out, RunId, TopicId, words
from evaluation.labels import BATTLE_LABELS, AssignmentLabel, SupportLabel
from evaluation.terms import (
    BattleMarkdown,
    BattleReason,
    BattleRubric,
    BattleShow,
    Condition,
    DrawKind,
    JudgeKind,
    StudyKind,
    SupportCondition,
)
from llmjobs.models import Call
from reports.metrics.registry import SCORES

AssignmentWord = Annotated[str, words(label.name.lower() for label in AssignmentLabel)]
SupportWord = Annotated[str, words(label.name.lower() for label in SupportLabel)]
CallState = Annotated[str, words(Call.State.values)]
EVENT = "the event that brought it; null: none was kept"


class AssignmentRow(Out):
    """A label: whether an answer contains a nugget. Only labels that stand."""

    id: int
    campaign: CampaignSlug
    topic_id: TopicId
    run_id: RunId
    sample: int = Field(description=SAMPLE)
    answer: str = Field(description="the answer's id")
    nugget: str = Field(description="as in `nuggets`")
    nugget_version: int = Field(description="which wording was looked for")
    nugget_set: str = Field(description="the set's name")
    judge: JudgeName
    label: AssignmentWord
    raw: str = Field(description="the judge's word, where it is none of the labels")
    sentence: int | None = Field(description="of the answer, from 0: where the nugget is")
    first_label: AssignmentWord | None = Field(description="before the sweep changed it")
    submission: int = Field(description="from 1")
    given_at: datetime
    event: int | None = Field(description=EVENT)


class SupportRow(Out):
    """A label: whether a cited segment supports a sentence. Only labels that stand."""

    id: int
    campaign: CampaignSlug
    topic_id: TopicId
    run_id: RunId
    sample: int = Field(description=SAMPLE)
    answer: str = Field(description="the answer's id")
    sentence: int = Field(description="of the answer, from 0")
    docid: str = Field(description="what the sentence cites")
    condition: Annotated[str, words(SupportCondition)]
    judge: JudgeName
    label: SupportWord
    raw: str = Field(description="the judge's word, where it is none of the labels")
    shown_label: SupportWord | None = Field(description="the machine's, where it was shown")
    shown_ms: int | None = Field(description="from when it was shown to the first decision")
    accepted: bool | None = Field(description="whether the machine's label was taken over")
    evidence: int | None = Field(description="sentence of the segment, from 0, that the judge marked")
    submission: int = Field(description="from 1")
    given_at: datetime
    event: int | None = Field(description=EVENT)


class JudgmentRow(Out):
    """A label of an answer, of a pair of answers or of a passage, at a stage without columns of its own.

    Only labels that stand.
    """

    id: int
    campaign: CampaignSlug
    stage: str
    topic_id: TopicId
    run_id: RunId | None = Field(description="whose answer; null of a passage")
    sample: int | None = Field(description=SAMPLE)
    answer: str | None = Field(description="the answer's id")
    other_run_id: RunId | None = Field(description="of a pair, the other run")
    other_sample: int | None = Field(description="of a pair, which of the other run's answers")
    other: str | None = Field(description="of a pair, the other answer's id")
    docid: str | None = Field(description="of a passage")
    judge: JudgeName
    label: str = Field(description="one of the stage's")
    raw: str = Field(description="the judge's word, where it is none of the labels")
    extras: dict[str, Any] = Field(description="what else the stage records")
    submission: int = Field(description="from 1")
    given_at: datetime
    event: int | None = Field(description=EVENT)


class SampleRow(Out):
    """Battles that people judge of those that an LLM judged, so that its win rates are corrected."""

    judge: JudgeName
    battles: int
    drawn: int = Field(description="for people")


class BattleSetRow(Out):
    """Battles that were drawn together. `battle-sets/ID/leaderboard/` has its win rates and ratings."""

    id: int
    campaign: CampaignSlug
    name: str
    seed: str | None = Field(description="null: drawn elsewhere")
    rounds: int
    missing: Literal["zero", "skip"] | None = Field(description="what becomes of a run without an answer")
    show: BattleShow | None = Field(
        description="what people see of an answer; null, here and below: drawn elsewhere"
    )
    markdown: BattleMarkdown | None = Field(description="how its Markdown looks")
    rubric: BattleRubric | None = Field(description="what stands beside the answers")
    runs: list[str] = Field(description="by run id")
    topics: list[str] = Field(description="by the track's id")
    battles: int = Field(description="to judge")
    by_rule: int = Field(description="decided by a missing answer, and shown to nobody")
    samples: list[SampleRow]
    made_at: datetime


class BattleRow(Out):
    """Two answers to a topic, each its run's first sample. Sides are those that the first judge sees."""

    id: str
    campaign: CampaignSlug
    battle_set: str = Field(description="the set's name")
    topic_id: TopicId
    left_run_id: RunId
    left: str = Field(description="the answer's id")
    right_run_id: RunId
    right: str = Field(description="the answer's id")
    round: int = Field(description="from 1")
    event: int | None = Field(description=EVENT)


class VerdictRow(Out):
    """A label: which of two answers is better, each its run's first sample.

    Only verdicts that stand; sides as the judge saw them.
    """

    id: int
    campaign: CampaignSlug
    battle_set: str = Field(description="the set's name")
    battle: str = Field(description="as in `battles`")
    topic_id: TopicId
    left_run_id: RunId
    right_run_id: RunId
    judge: JudgeName
    verdict: Annotated[str, words(label.word for label in BATTLE_LABELS.by_code.values())]
    reasons: list[Annotated[str, words(BattleReason)]]
    raw: str = Field(description="why nobody can say, or the judge's word where it is none of the verdicts")
    second: bool = Field(description="a second opinion: in no score")
    place: int | None = Field(description="in its task, from 1; null: not judged at a desk")
    stayed: str | None = Field(description="the run whose answer was on the screen just before")
    seconds: int | None = Field(description="active ones")
    submission: int = Field(description="from 1")
    given_at: datetime
    event: int | None = Field(description=EVENT)


class QrelRow(Out):
    """A label: how relevant a source says that a segment is for a topic."""

    id: int
    campaign: CampaignSlug
    topic_id: TopicId
    docid: str
    source: str = Field(description="whose grades: NIST, UMBRELA or another name")
    grade: int
    event: int | None = Field(description=EVENT)


class JudgeRow(Out):
    """A judge in a campaign. A person with an account goes by a pseudonym, another one in each campaign."""

    campaign: CampaignSlug
    name: str
    kind: Annotated[str, words(JudgeKind)]
    model: str = Field(description="of an LLM")
    prompt_versions: dict[str, Any] = Field(
        description="prompts by task, and unusual parameters: reply_form, temperature (none: not sent), "
        "reasoning_effort, max_completion_tokens, passage_words"
    )
    study: str | None = Field(description="the study whose pairs this judge labels")
    aside: bool = Field(description="its labels count only where it is named")
    created_at: datetime


class StudyRow(Out):
    """A study: pairs that are judged once more, drawn where two judges differ or by chance from an LLM's labels.

    `reports/corrected/` has the scores that a random check corrects.
    """

    id: int
    campaign: CampaignSlug
    name: str
    kind: Annotated[str, words(StudyKind)]
    draw: Annotated[str, words(DrawKind)] = Field(description="random: a random check")
    person: str | None = Field(description=f"who is compared, {JUDGE}; null in a random check")
    judge: JudgeName
    nugget_set: str | None = Field(description="null of support")
    condition: Annotated[str, words(SupportCondition)] | None = Field(description="how people judge support")
    seed: str
    per_run: dict[str, int] | None = Field(description="pairs to draw by run id; null: not drawn by run")
    per_topic: int | None = Field(description="pairs to draw of each topic; null: not drawn by topic")
    stratified: bool | None = Field(description="drawn from each pair of labels; null in a random check")
    drawn: int = Field(description="pairs, without decoys")
    judged: int = Field(description='drawn pairs with a label of a person, "can\'t judge" included')
    decoys: int = Field(
        description="pairs on which both agree, handed out among the others and counted in no figure"
    )
    made_by: str | None = Field(description="by pseudonym")
    made_at: datetime


class EstimateRow(Out):
    """A score with its 95 % interval; null: there is none, and the run's `reason` says why."""

    value: Number | None
    low: Number | None
    high: Number | None


class CorrectedValueRow(EstimateRow):
    """A corrected score with its 95 % interval."""

    sd: Number | None = Field(description="standard deviation")


class RefusedRow(Out):
    """Bounds of a score: all refused pairs not supported, or all supported."""

    reason: str
    low: Number
    high: Number


class CorrectedRunRow(Out):
    """A run by a random check."""

    run_id: RunId
    llm: Number | None = Field(description="by the LLM's labels of today")
    people: EstimateRow = Field(description="by people's labels of the same pairs alone")
    corrected: CorrectedValueRow
    rank: list[int] | None = Field(description="the best and the worst it may have")
    pairs: int = Field(description="that the LLM labelled")
    drawn: int
    judged: int
    refused: int = Field(description="that nobody could judge")
    stale: int = Field(description="whose label the LLM has changed since the draw")
    outside: int = Field(description="that came after the draw")
    few: bool
    reason: str | None = Field(description="why it has no corrected score")
    warning: RefusedRow | None = Field(description="more were refused than a score can bear")


class CorrectedDifferenceRow(Out):
    """The corrected score of `a` minus that of `b`, with its 95 % interval; null: too few topics in common."""

    a: RunId
    b: RunId
    value: Number
    low: Number | None
    high: Number | None
    more: int | None = Field(
        description="judgments of each run that would tell them apart; 0: they are; null: none"
    )


class CorrectedScoresRow(Out):
    """Scores of all runs, corrected by a random check, as `report corrected` has them.

    Organizers read each run once its pairs are judged; all others once those of all runs are.
    """

    study: str
    score: str
    target: str
    policies: dict[str, str]
    seed: str
    runs: list[CorrectedRunRow]
    differences: list[CorrectedDifferenceRow]
    tau: EstimateRow = Field(description="of the LLM's order of the runs and the corrected one")
    judges: list[str] = Field(description=JUDGE)
    judged_twice: int = Field(description="pairs that several people judged")
    alpha: Number | None = Field(description="of those")


class IntervalRow(Out):
    """A 95 % interval over topics; without ends, `reason` says why."""

    low: Number | None
    high: Number | None
    reason: str = ""


class FigureIntervalRow(IntervalRow):
    """An interval of a figure that compares two conditions; `note` says what weakens it."""

    resamples: int | None = None
    note: str = ""


class TiesRow(Out):
    """Pairs that are tied: in x alone, in y alone, in both."""

    x: int
    y: int
    both: int


class CoefficientRow(Out):
    """Another correlation of run means; null: undefined, for a `reason`. `n`: runs."""

    value: Number | None
    n: int
    reason: str = ""


class CorrelationReportRow(Out):
    """Kendall's tau-b of two conditions on three levels; null: undefined."""

    x: str
    y: str
    score: str
    policies: dict[str, str] = Field(description="`topics`: common, or all where each side has its own")
    runs: int = Field(description="runs with a mean on both sides")
    topics: int = Field(description="topics that both have")
    pairs: int = Field(description="topics of runs, pooled")
    run_level: Number | None
    topic_average: Number | None
    all_topic_run: Number | None
    undefined_topics: int = Field(description="topics that have no tau, which the average leaves out")
    ties: dict[str, TiesRow] = Field(description="by level")
    discordant: dict[str, int] = Field(description="by level")
    intervals: dict[str, FigureIntervalRow] = Field(description="by level")
    methods: dict[str, CoefficientRow] | None = Field(None, description="by name, where some are asked for")


class ConfusionReportRow(Out):
    """Labels of the same pairs under two conditions: counts by label, and how far they agree; null: undefined."""

    rows: str
    columns: str
    labels: list[str]
    counts: list[list[int]]
    pairs: int
    agreement: Number | None
    kappa: Number | None
    kappa_linear: Number | None
    kappa_quadratic: Number | None
    alpha: Number | None
    ordinal_strictness: Number | None
    row_rates: list[Number | None]
    column_rates: list[Number | None]
    harsh_conflicts: int
    intervals: dict[str, FigureIntervalRow] = Field(description="by figure")


class _Scored(Out):
    campaign: CampaignSlug
    condition: Annotated[str, words([*Condition, *SupportCondition])]
    judge: str | None = Field(description="whose labels they rest on")
    nugget_set: str | None = Field(description="whose nuggets; null under a support condition")
    run_id: RunId


class _ScoredRun(_Scored):
    group: str
    task: str
    control: bool | None
    topics: int | None = Field(description="topics behind the primary score")


SCORE_FIELDS = {score.name: (Number | None, Field(description=score.text or None)) for score in SCORES}
# mypy cannot see fields that are named in a registry.
_Scores = create_model("_Scores", __base__=_ScoredRun, **SCORE_FIELDS)  # type: ignore[call-overload]


class _ScoredTopic(_Scored):
    topic_id: TopicId


_TopicScores = create_model("_TopicScores", __base__=_ScoredTopic, **SCORE_FIELDS)  # type: ignore[call-overload]


class TopicScoreRow(_TopicScores):
    """A run's scores of one topic under a condition; null: the topic is not in the run's mean."""


class ScoreRow(_Scores):
    """A run's scores under a condition, computed when they are asked for. Scores are in [0, 1]."""

    sentences_total: int | None
    sentences_uncited: int | None
    judged: int = Field(description="labels")
    failed: int = Field(description="labels")
    unjudged: int = Field(description="labels")
    excluded: int | None = Field(description="answers")
    missing: int | None = Field(description="answers")
    unjudgeable: int | None = Field(description="pairs that nobody can judge")
    intervals: dict[str, IntervalRow] = Field(description="of each score, by its name")


class FileRow(Out):
    """A file that was imported."""

    name: str
    sha256: str


class CauseRow(Out):
    """The event that brought a label."""

    id: int
    kind: str
    at: datetime
    actor: str | None = Field(description="by pseudonym; null: a command or a machine")
    files: list[FileRow]


class MessageRow(Out):
    """A message as it was sent."""

    role: str
    sha256: str
    content: str


class AttemptRow(Out):
    """An attempt to send a call."""

    number: int
    sent_at: datetime
    ended_at: datetime | None = Field(description="null: its worker stopped meanwhile")
    error: str = Field(description="empty: it was answered, or has no end")
    status: int | None = Field(description="of HTTP")
    message: str = Field(description="what went wrong")
    latency_ms: int | None


class UseRow(Out):
    """A job in which a call was used, for which part of an item, and what its reader noticed."""

    job: int
    part: str
    notes: list[str]


class QuestionRow(Out):
    """A call of the same item, named by its hash."""

    part: str
    call: str
    state: CallState
    notes: list[str]


class CostRow(Out):
    """The cost of a call's tokens, by the prices of the first job that used it."""

    amount: str = Field(description="a decimal number")
    currency: str
    price_table: str = Field(description="the version of the prices")
    job: int
    reused: bool = Field(description="whether an earlier job paid it")


class CallRow(Out):
    """A call to an LLM: what was sent, how often, what came back."""

    gave: Annotated[str, words(["label", "wording", "importance"])] = Field(
        description="what of the row comes from it"
    )
    sha256: str = Field(description="of what makes it this call")
    state: CallState
    template_version: int
    template_sha256: str
    base_url: str = Field(description="the endpoint")
    model: str = Field(description="as the request named it")
    model_answered: str = Field(description="as the endpoint named it")
    parameters: dict[str, Any]
    replicate: int = Field(description="from 0; what failed is asked again as the next")
    reply: str = Field(description="as it came")
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: int | None
    made_at: datetime
    ended_at: datetime | None
    template: str
    seed: int | None = Field(description="null: none was sent")
    cost: CostRow | None = Field(description="null: no price, or no number of tokens, is known")
    messages: list[MessageRow]
    attempts: list[AttemptRow]
    uses: list[UseRow]
    questions: list[QuestionRow] = Field(description="all calls of the first item that used it, in order")


class Provenance(Out):
    """Why a label says what it says: the calls, the file or the person behind it."""

    collection: str
    row: dict[str, Any] = Field(description="the label, as its collection has it")
    behind: Annotated[str, words(["call", "file", "person", "unknown"])]
    event: CauseRow | None
    calls: list[CallRow]
