"""What the server answers, made from docs/openapi.yaml by `make client`. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOut:
    """An account and its token; null: the request came with a session."""

    user: str
    name: str
    token: str | None
    """what it is for"""
    scopes: list[str] | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """An answer: what one run says to one topic."""

    id: str
    campaign: str
    """the campaign's slug"""
    run_id: str
    """the run, by its run id"""
    topic_id: str
    """the topic, by the track's id"""
    sample: int
    """which of the run's answers to the topic, from 1"""
    words: int
    """whitespace words"""
    response_length: int | None
    """as the file declares it"""
    references: list[str]
    sentences: list[SentenceRow]
    extra: dict[str, Any]
    """keys of the file that Assay has no field for"""

    @property
    def topic(self) -> str:
        return self.topic_id

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentRow:
    """A label: whether an answer contains a nugget. Only labels that stand."""

    id: int
    campaign: str
    """the campaign's slug"""
    topic_id: str
    """the topic, by the track's id"""
    run_id: str
    """the run, by its run id"""
    sample: int
    """which of the run's answers to the topic, from 1"""
    answer: str
    """the answer's id"""
    nugget: str
    """as in `nuggets`"""
    nugget_version: int
    """which wording was looked for"""
    nugget_set: str
    """the set's name"""
    judge: str
    """as `judges` names them"""
    label: Literal["not_support", "partial_support", "support", "cant_judge", "failed"]
    raw: str
    """the judge's word, where it is none of the labels"""
    sentence: int | None
    """of the answer, from 0: where the nugget is"""
    first_label: Literal["not_support", "partial_support", "support", "cant_judge", "failed"] | None
    """before the sweep changed it"""
    submission: int
    """from 1"""
    given_at: datetime
    event: int | None
    """the event that brought it; null: none was kept"""

    @property
    def topic(self) -> str:
        return self.topic_id

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """An attempt to send a call."""

    number: int
    sent_at: datetime
    ended_at: datetime | None
    """null: its worker stopped meanwhile"""
    error: str
    """empty: it was answered, or has no end"""
    status: int | None
    """of HTTP"""
    message: str
    """what went wrong"""
    latency_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """`scores` by name and topic; `labels` counts those that a run should have, `missing` the unjudged and
    failed.
    """

    campaign: str
    run: str
    scores: dict[str, dict[str, float]]
    labels: int
    missing: int
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleAgreementRow:
    """How far the verdicts on battles that were judged twice agree."""

    of: str
    """whose"""
    judge: str | None
    """the LLM; null: none"""
    pairs: int
    agreement: BattleFigureRow
    kappa: BattleFigureRow
    kappa_linear: BattleFigureRow
    alpha: BattleFigureRow
    opposite: int
    """pairs with opposite winners"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleCyclesRow:
    """Triads of runs of which each beats the next."""

    triads: int
    cyclic: int
    share: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleFigureRow:
    """A figure with its 95 % interval; null: undefined, and `reason` may say why."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleLeaderboardRow:
    """Runs of a battle set, the best first, with the figures of `reports/battles/`."""

    set: str
    condition: str
    by: str
    """what orders the runs"""
    target: str
    policies: dict[str, str]
    sample: BattleSampleRow | None
    runs: list[BattledRunRow]
    bands: list[list[str]]
    """runs that are not told apart, each difference by itself"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleRow:
    """Two answers to a topic, each its run's first sample. Sides are those that the first judge sees."""

    id: str
    campaign: str
    """the campaign's slug"""
    battle_set: str
    """the set's name"""
    topic_id: str
    """the topic, by the track's id"""
    left_run_id: str
    """the run, by its run id"""
    left: str
    """the answer's id"""
    right_run_id: str
    """the run, by its run id"""
    right: str
    """the answer's id"""
    round: int
    """from 1"""
    event: int | None
    """the event that brought it; null: none was kept"""

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleSampleRow:
    """The battles that were drawn for people to correct an LLM by."""

    judge: str
    """as `judges` names them"""
    target: str
    battles: int
    drawn: int
    judged: int
    refused: int
    outside: int
    stale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleSetRow:
    """Battles that were drawn together. `battle-sets/ID/leaderboard/` has its win rates and ratings."""

    id: int
    campaign: str
    """the campaign's slug"""
    name: str
    seed: str | None
    """null: drawn elsewhere"""
    rounds: int
    missing: Literal["zero", "skip"] | None
    """what becomes of a run without an answer"""
    show: Literal["answer", "citations", "passages"] | None
    """what people see of an answer; null, here and below: drawn elsewhere"""
    markdown: Literal["alike", "plain"] | None
    """how its Markdown looks"""
    rubric: Literal["none", "nuggets"] | None
    """what stands beside the answers"""
    runs: list[str]
    """by run id"""
    topics: list[str]
    """by the track's id"""
    battles: int
    """to judge"""
    by_rule: int
    """decided by a missing answer, and shown to nobody"""
    samples: list[SampleRow]
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BattledRunRow:
    """A run's battles. `llm`, `people` and `corrected` are win rates where battles were drawn for people to
    check.
    """

    run_id: str
    """the run, by its run id"""
    win_rate: float | None
    """mean points"""
    low: float | None
    high: float | None
    rating: float | None
    rating_low: float | None
    rating_high: float | None
    rank: list[int] | None
    """best and worst"""
    battles: int
    won: int
    lost: int
    tied: int
    both_bad: int
    topics: int
    few: bool
    """whether its topics are too few to trust"""
    reason: str | None
    """why a figure is undefined"""
    llm: BattleFigureRow | None
    people: BattleFigureRow | None
    corrected: BattleFigureRow | None
    drawn: int | None
    judged: int | None
    refused: int | None

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class BattlesDifferenceRow:
    """The figure that orders the runs: that of run a minus that of run b."""

    a: str
    """the run, by its run id"""
    b: str
    """the run, by its run id"""
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    holm: float | None
    """p by Holm's correction"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BattlesReportRow:
    """Runs by their battles, the best first, every two of them, what else decides, and how far judges agree."""

    set: str
    condition: str
    by: str
    """what orders the runs"""
    target: str
    policies: dict[str, str]
    sample: BattleSampleRow | None
    runs: list[BattledRunRow]
    bands: list[list[str]]
    """runs that are not told apart, each difference by itself"""
    differences: list[BattlesDifferenceRow]
    side: BattleFigureRow
    """mean points of the answer on the left"""
    side_term: BattleFigureRow
    """log odds of standing on the left, beside ratings"""
    stayed: BattleFigureRow
    """mean points of the answer that had stayed"""
    length: BattleFigureRow
    """log odds of the answer with twice as many words"""
    agreement: list[BattleAgreementRow]
    conflicts: list[ConflictRow]
    cycles: BattleCyclesRow
    reliability: float | None
    unbalanced: list[str]
    """runs whose win rate depends on whom they met"""
    explained: ExplainedBattlesRow | None
    boards: list[BoardBesideRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardBesideRow:
    """Another order of the same runs."""

    condition: str
    score: str
    tau: float | None
    runs: int
    same: int
    """pairs that differ on both boards, in the same order"""
    opposite: int
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """A call to an LLM: what was sent, how often, what came back."""

    gave: Literal["label", "wording", "importance"]
    """what of the row comes from it"""
    sha256: str
    """of what makes it this call"""
    state: Literal["sent", "answered", "failed"]
    template_version: int
    template_sha256: str
    base_url: str
    """the endpoint"""
    model: str
    """as the request named it"""
    model_answered: str
    """as the endpoint named it"""
    parameters: dict[str, Any]
    replicate: int
    """from 0; what failed is asked again as the next"""
    reply: str
    """as it came"""
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: int | None
    made_at: datetime
    ended_at: datetime | None
    template: str
    seed: int | None
    """null: none was sent"""
    cost: CostRow | None
    """null: no price, or no number of tokens, is known"""
    messages: list[MessageRow]
    attempts: list[AttemptRow]
    uses: list[UseRow]
    questions: list[QuestionRow]
    """all calls of the first item that used it, in order"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRow:
    """A campaign: one evaluation that you may see unblinded."""

    slug: str
    """its name in addresses and filters"""
    name: str
    description: str
    language: str
    """BCP 47, of topics without one; empty: unknown"""
    created_at: datetime
    revision: int
    """goes up whenever labels, nuggets, runs or texts change"""
    protocol_version: int | None
    """how often the settings were changed, from 1"""
    topics: int
    """how many"""
    runs: int
    """how many"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRow:
    """The event that brought a label."""

    id: int
    kind: str
    at: datetime
    actor: str | None
    """by pseudonym; null: a command or a machine"""
    files: list[FileRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationRow:
    """A citation of a sentence."""

    position: int
    """from 0, in the order of the file"""
    docid: str | None
    """null: out of range of the references"""
    raw: str
    """as the file has it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoefficientRow:
    """Another correlation of run means; null: undefined, for a `reason`. `n`: runs."""

    value: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJudgeRow:
    """How well a judge's scores rank the runs. It has the methods that were asked for, those with @K too."""

    kendall: float | None = None
    spearman: float | None = None
    pearson: float | None = None
    tauap: float | None = None
    tauap_a: float | None = None
    tauap_b: float | None = None
    tau_gap: float | None = None
    rbo: float | None = None
    judge: str
    method: str
    model: str
    measure: str
    truth_measure: str
    runs: int
    filled: int
    """runs that it scores 0, as it lacks them"""
    topics: int | None
    reason: str
    intervals: dict[str, FigureIntervalRow]
    """by method"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJudgesRow:
    """The coefficient of `judge` minus that of `other`; null: undefined."""

    judge: str
    measure: str
    other: str
    other_measure: str
    correlation: str
    difference: float | None
    p: float | None
    verdict: str
    intervals: dict[str, FigureIntervalRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonsReportRow:
    """Differences of every two runs, with paired intervals and tests over topics."""

    condition: str
    judge: str | None
    """whose labels; null: there are none"""
    score: str
    policies: dict[str, str]
    topics: int
    runs: list[str]
    """that are compared, the best first"""
    left_out: int
    """runs beyond the most that are compared"""
    groups: list[list[str]]
    """largest groups of runs of which no two differ"""
    comparisons: list[RunDifferenceRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRow:
    """A battle of which two verdicts name opposite winners."""

    battle: str
    topic_id: str
    """the topic, by the track's id"""
    a: str
    """the run, by its run id"""
    b: str
    """the run, by its run id"""
    points: float
    of: str
    """whose"""
    judge: str | None
    """the LLM; null: none"""
    settled: bool
    """whether a third person's verdict counts"""

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionReportRow:
    """Labels of the same pairs under two conditions: counts by label, and how far they agree; null: undefined."""

    rows: str
    columns: str
    labels: list[str]
    counts: list[list[int]]
    pairs: int
    agreement: float | None
    kappa: float | None
    kappa_linear: float | None
    kappa_quadratic: float | None
    alpha: float | None
    ordinal_strictness: float | None
    row_rates: list[float | None]
    column_rates: list[float | None]
    harsh_conflicts: int
    intervals: dict[str, FigureIntervalRow]
    """by figure"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedDifferenceRow:
    """The corrected score of `a` minus that of `b`, with its 95 % interval; null: too few topics in common."""

    a: str
    """the run, by its run id"""
    b: str
    """the run, by its run id"""
    value: float
    low: float | None
    high: float | None
    more: int | None
    """judgments of each run that would tell them apart; 0: they are; null: none"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRunRow:
    """A run by a random check."""

    run_id: str
    """the run, by its run id"""
    llm: float | None
    """by the LLM's labels of today"""
    people: EstimateRow
    """by people's labels of the same pairs alone"""
    corrected: CorrectedValueRow
    rank: list[int] | None
    """the best and the worst it may have"""
    pairs: int
    """that the LLM labelled"""
    drawn: int
    judged: int
    refused: int
    """that nobody could judge"""
    stale: int
    """whose label the LLM has changed since the draw"""
    outside: int
    """that came after the draw"""
    few: bool
    reason: str | None
    """why it has no corrected score"""
    warning: RefusedRow | None
    """more were refused than a score can bear"""

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedScoresRow:
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
    tau: EstimateRow
    """of the LLM's order of the runs and the corrected one"""
    judges: list[str]
    """as `judges` names them"""
    judged_twice: int
    """pairs that several people judged"""
    alpha: float | None
    """of those"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedValueRow:
    """A corrected score with its 95 % interval."""

    value: float | None
    low: float | None
    high: float | None
    sd: float | None
    """standard deviation"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationReportRow:
    """Kendall's tau-b of two conditions on three levels; null: undefined."""

    x: str
    y: str
    score: str
    policies: dict[str, str]
    """`topics`: common, or all where each side has its own"""
    runs: int
    """runs with a mean on both sides"""
    topics: int
    """topics that both have"""
    pairs: int
    """topics of runs, pooled"""
    run_level: float | None
    topic_average: float | None
    all_topic_run: float | None
    undefined_topics: int
    """topics that have no tau, which the average leaves out"""
    ties: dict[str, TiesRow]
    """by level"""
    discordant: dict[str, int]
    """by level"""
    intervals: dict[str, FigureIntervalRow]
    """by level"""
    methods: dict[str, CoefficientRow] | None = None
    """by name, where some are asked for"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """The cost of a call's tokens, by the prices of the first job that used it."""

    amount: str
    """a decimal number"""
    currency: str
    price_table: str
    """the version of the prices"""
    job: int
    reused: bool
    """whether an earlier job paid it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """Result in words."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedRow:
    """A nugget set, named by `nuggets`; or labels of one, which have condition, judge and `set`."""

    topics: float | None
    nuggets_per_topic: float | None
    words_per_nugget: float | None
    vital: float | None
    okay: float | None
    unknown: float | None
    not_support: float | None
    """share of the labels"""
    partial_support: float | None
    """share of the labels"""
    support: float | None
    """share of the labels"""
    nuggets: str | None = None
    condition: str | None = None
    judge: str | None = None
    set: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptivesReportRow:
    """Nugget sets and labels in figures."""

    rows: list[DescribedRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditsReportRow:
    """Edits of drafted nuggets by assessors."""

    nuggets: str
    drafts: str
    topics: int
    inferred: bool
    """from the texts, as no lineage is recorded"""
    rows: list[EditsRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditsRow:
    """A class of edits; `authors_share` is by the flags of the file, null where it has none."""

    edit: str
    topics: int
    share: float | None
    authors_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRow:
    """A score with its 95 % interval; null: there is none, and the run's `reason` says why."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """An event of the log. Names of people in it are pseudonyms."""

    id: int
    campaign: str
    """the campaign's slug"""
    at: datetime
    kind: str
    actor: str | None
    """by pseudonym; null: a command or a machine"""
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """A passage that a nugget rests on."""

    docid: str
    sentence: int | None
    """of the segment, from 0; null: all of it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedBattlesRow:
    """How far a difference in scores explains who wins."""

    battles: int
    decided: int
    agree: BattleFigureRow
    no_difference: float | None
    slope: float | None
    half_band: float | None
    loss: float | None
    loss_without: float | None
    gain: BattleFigureRow
    inversions: list[InvertedBattleRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureIntervalRow:
    """An interval of a figure that compares two conditions; `note` says what weakens it."""

    low: float | None
    high: float | None
    reason: str | None = None
    resamples: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file that was imported."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding: what an import noticed and loaded all the same."""

    id: int
    campaign: str
    """the campaign's slug"""
    event: int
    """the import"""
    at: datetime
    code: Literal[
        "response_length",
        "answer_too_long",
        "too_many_references",
        "too_many_citations",
        "duplicate_citation",
        "citation_out_of_range",
        "duplicate_reference",
        "docid_form",
        "topic_text_differs",
        "missing_topics",
        "empty_answer",
        "segment_without_text",
        "segment_text_differs",
        "context_text_differs",
        "unknown_importance",
        "unknown_label",
        "repeated_nugget",
        "repeated_criterion",
        "unjudged_nuggets",
        "grade_off_scale",
        "answer_text_differs",
        "weight_differs",
        "addresses_judge",
        "labels_of_another",
        "closing_row",
        "aggregate_differs",
        "unknown_citation",
        "labelled_by_others",
        "listed_by_others",
        "names_its_run",
    ]
    file: str
    line: int | None
    run_id: str
    """empty: about no run"""
    topic_id: str
    """empty: about no topic"""
    message: str

    @property
    def topic(self) -> str:
        return self.topic_id

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Parts of what labels rest on. Of two that differ, a sentence says in what."""

    condition: str
    policies: dict[str, str]
    labels: list[str]
    judges: list[FingerprintJudge]
    nuggets: dict[str, str]
    topics: dict[str, str]
    protocol: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintJudge:
    """A judge; `prompts` have the hash of each text that was sent, by name and version."""

    name: str
    kind: str
    model: str
    host: str
    parameters: dict[str, str]
    prompts: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerprintOut:
    """What the labels of a run rest on. Hashes of texts stand for the texts."""

    sha256: str
    """of all parts"""
    parts: Fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChange:
    """A nugget whose label is another in the candidate."""

    topic: str
    nugget: str
    importance: str
    from_: str
    to: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOut:
    """A verdict with all that it rests on. `broken`: nothing was compared, for the reason that is given."""

    verdict: Literal["pass", "undecided", "fail", "broken"]
    reason: str
    campaign: str
    condition: str
    baseline: str
    candidate: str
    scores: list[GateScore]
    alpha: float
    level: float
    fingerprint: str | None
    lost: list[GateChange] | None
    """null: one side has scores alone, or labels are of citations"""
    gained: list[GateChange] | None
    violations_new: list[GateChange] | None
    """what must not be said, and is now"""
    policies: dict[str, str]
    seed: int
    versions: dict[str, int]
    kept: Baseline | None = None
    """the candidate, where `keep` asked for it"""
    files: dict[str, str] | None = None
    """by form, where `forms` asked for them"""
    jobs: list[int] | None = None
    """that still label these runs, where some do"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateScore:
    """One score: means over the topics of both runs, candidate less baseline, and the verdict on it."""

    score: str
    baseline: float
    candidate: float
    difference: float
    interval: list[float]
    """paired, by Student's t"""
    p: float
    """of a paired randomisation test"""
    least: float
    goal: Literal["no-worse", "better"]
    topics: int
    verdict: Literal["pass", "undecided", "fail", "broken"]
    more_topics: int | None
    """about so many more would decide; null: it is decided"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A task that would be made."""

    topic_id: str
    assessor: str | None
    nugget_set: str | None
    minutes: int
    answers: int
    labels: int
    second_opinion: bool

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRow:
    """A source's grade of a segment for a topic."""

    topic_id: str
    """the topic, by the track's id"""
    source: str
    """NIST, UMBRELA, ..."""
    grade: int

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedRunRow:
    """A run that cites nothing, by the best of what was retrieved for each sentence; null: undefined."""

    run_id: str
    """the run, by its run id"""
    group: str
    task: str
    candidates: str
    precision: None
    """what cites nothing has none"""
    grounded: float | None
    """mean support of all sentences"""
    grounded_strict: float | None
    """share of all sentences with full support"""
    topics: int
    sentences: int
    judged: int
    """pairs of sentence and context, as the next ones"""
    unjudged: int
    failed: int
    unjudgeable: int
    intervals: dict[str, IntervalRow]

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOutPlan:
    """Tasks that would be made. `key` tells two plans apart."""

    key: str
    given: list[Given]
    left_out: list[LeftOut]
    loads: list[Load]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOut:
    """The tasks that were made, and the topics that were left out."""

    tasks: list[str]
    left_out: list[LeftOut]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReceipt:
    """Counts of an import. `of`: the noun that is counted; `counts`: everything else that was counted, by its
    noun.
    """

    id: str | None
    """by which the import can be taken back; null where nothing changed"""
    of: str
    added: int
    changed: int
    unchanged: int
    findings: int
    counts: dict[str, int]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow:
    """A 95 % interval over topics; without ends, `reason` says why."""

    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvertedBattleRow:
    """A battle that was won by the answer with the lower score."""

    battle: str
    topic_id: str
    """the topic, by the track's id"""
    a: str
    """the run, by its run id"""
    b: str
    """the run, by its run id"""
    points: float
    gap: float
    """score of a minus that of b"""
    reasons: list[str]

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEstimate:
    """The work and cost of a job. Re-asks are not known before; `calls` counts what is sure.

    Costs are a forecast: `cost` is null where no price is known, `seconds` where the model was never called.
    """

    items: int
    calls: int
    reused: int
    tokens: int
    judged: int
    again: int
    without_text: int
    blocked: dict[str, str]
    calls_to_pay: int
    prompt_tokens: int
    completion_tokens: int
    cost: str | None
    currency: str
    price_table: str
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A job: work for an LLM judge."""

    id: int
    campaign: str
    """the campaign's slug"""
    title: str
    judge: str
    """as `judges` names them"""
    state: Literal["running", "paused", "cancelled", "done"]
    waiting_for: str
    """why nothing moves just now"""
    made_by: str | None
    """by pseudonym"""
    made_at: datetime
    ended_at: datetime | None
    items: dict[str, int]
    """how many are in each state"""
    priority: int
    """higher is done first"""
    requests: int
    """sent so far, tries that were refused among them"""
    prompt_tokens: int
    """paid so far, of replies that say it"""
    completion_tokens: int
    """paid so far, of replies that say it"""
    max_requests: int | None
    """the job pauses there; null: no limit"""
    max_tokens: int | None
    """the job pauses there; null: no limit"""
    max_money: str | None
    """a decimal number; the job pauses there; null: no limit"""
    currency: str
    """of the prices with which the job was started; empty: none is known"""
    price_table: str
    """the version of those prices"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow:
    """A judge in a campaign. A person with an account goes by a pseudonym, another one in each campaign."""

    campaign: str
    """the campaign's slug"""
    name: str
    kind: Literal["human", "llm"]
    model: str
    """of an LLM"""
    prompt_versions: dict[str, Any]
    """prompts by task, and unusual parameters: reply_form, temperature (none: not sent), reasoning_effort,
    max_completion_tokens, passage_words
    """
    study: str | None
    """the study whose pairs this judge labels"""
    aside: bool
    """its labels count only where it is named"""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesReportRow:
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
    conditions_left_out: list[str]
    """by several LLMs or lists of nuggets without a default, or the truth's own"""
    left_out: list[str]
    """runs that one side lacks"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentRow:
    """A label of an answer, of a pair of answers or of a passage, at a stage without columns of its own.

    Only labels that stand.
    """

    id: int
    campaign: str
    """the campaign's slug"""
    stage: str
    topic_id: str
    """the topic, by the track's id"""
    run_id: str | None
    """whose answer; null of a passage"""
    sample: int | None
    """which of the run's answers to the topic, from 1"""
    answer: str | None
    """the answer's id"""
    other_run_id: str | None
    """of a pair, the other run"""
    other_sample: int | None
    """of a pair, which of the other run's answers"""
    other: str | None
    """of a pair, the other answer's id"""
    docid: str | None
    """of a passage"""
    judge: str
    """as `judges` names them"""
    label: str
    """one of the stage's"""
    raw: str
    """the judge's word, where it is none of the labels"""
    extras: dict[str, Any]
    """what else the stage records"""
    submission: int
    """from 1"""
    given_at: datetime
    event: int | None
    """the event that brought it; null: none was kept"""

    @property
    def topic(self) -> str:
        return self.topic_id

    @property
    def run(self) -> str | None:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A topic that nobody gets, and why."""

    topic_id: str
    reason: str

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageRow:
    """An earlier wording that a nugget was made from."""

    relation: Literal["kept", "edited", "merged", "split"]
    nugget: str
    nugget_version: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Open work of an assessor, in expected minutes, before and after."""

    assessor: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeJudge:
    """A judge that can be named when a job is started."""

    name: str
    model: str
    prompt_versions: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """A message as it was sent."""

    role: str
    sha256: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetRow:
    """A nugget at its place in a submitted list. Labels name it by `nugget` and `nugget_version`."""

    id: int
    """of this place in this list"""
    campaign: str
    """the campaign's slug"""
    topic_id: str
    """the topic, by the track's id"""
    nugget_set: str
    """the set's name"""
    list_version: int
    """each submission of a list is a version, from 1"""
    newest: bool
    """whether this version of the list is the one that reports read"""
    position: int
    """in the list, from 0"""
    nugget: str
    """the nugget; it stays while its wording changes"""
    nugget_version: int
    """which wording of it, from 1"""
    text: str
    importance: Literal["unknown", "okay", "vital"]
    raw_importance: str
    """as the file has it"""
    group: str
    """for instance the sub-narrative, or a criterion's type or axis"""
    weight: float | None
    """of a rubric; below 0: an answer must not contain it"""
    lineage: list[LineageRow]
    evidence: list[EvidenceRow]

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class NuggetSetRow:
    """A nugget set: one maker's lists for a campaign's topics."""

    id: int
    campaign: str
    """the campaign's slug"""
    name: str
    origin: Literal["auto", "draft", "edited", "manual"]
    judge: str
    """who made it, as `judges` names them"""
    drafts: str | None
    """the set that was post-edited"""
    topics: int
    """how many topics have a submitted list"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Why a label says what it says: the calls, the file or the person behind it."""

    collection: str
    row: dict[str, Any]
    """the label, as its collection has it"""
    behind: Literal["call", "file", "person", "unknown"]
    event: CauseRow | None
    calls: list[CallRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class QrelRow:
    """A label: how relevant a source says that a segment is for a topic."""

    id: int
    campaign: str
    """the campaign's slug"""
    topic_id: str
    """the topic, by the track's id"""
    docid: str
    source: str
    """whose grades: NIST, UMBRELA or another name"""
    grade: int
    event: int | None
    """the event that brought it; null: none was kept"""

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """A call of the same item, named by its hash."""

    part: str
    call: str
    state: Literal["sent", "answered", "failed"]
    notes: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRow:
    """Bounds of a score: all refused pairs not supported, or all supported."""

    reason: str
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSectionRow:
    """A table of a report's page; its rows have a value for each column."""

    title: str
    rows: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRunRow:
    """A run's mean scores; null: undefined."""

    run_id: str
    """the run, by its run id"""
    group: str
    task: str
    judged: int
    unjudged: int
    failed: int
    intervals: dict[str, IntervalRow]
    """of each score, by its name"""
    vital_strict: float | None = None
    """the primary score"""
    vital: float | None = None
    weighted_strict: float | None = None
    weighted: float | None = None
    all_strict: float | None = None
    all: float | None = None
    length: float | None = None
    """words of an answer, the mean"""
    rubric: float | None = None
    """of a rubric: the primary score where a campaign is scored by weights"""
    rubric_strict: float | None = None
    """of a rubric"""
    violations: float | None = None
    """of a rubric: criteria below 0 that an answer meets, the mean"""
    mandatory_missed: float | None = None
    """of a rubric: vital criteria above 0 that an answer does not meet, the mean"""
    topics: int
    """topics behind the primary score"""
    excluded: int
    """answers"""
    missing: int
    """answers"""
    control: bool

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifferenceRow:
    """The mean of `run_id` minus that of `other`; null: undefined."""

    run_id: str
    """the run, by its run id"""
    other: str
    """the run, by its run id"""
    difference: float | None
    p: float | None
    adjusted: float | None
    """p by Holm's correction"""
    topics: int
    intervals: dict[str, IntervalRow]

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run: what one system answered."""

    id: int
    campaign: str
    """the campaign's slug"""
    run_id: str
    group: str
    """the team that submitted it; empty: unknown"""
    task: str
    """AG or RAG; empty: unknown"""
    priority: int | None
    """1 is judged first"""
    control: bool
    """an organizers' control run"""
    pool: bool
    """judged whatever its priority"""
    has_candidates: bool
    """its sentences are judged by what was retrieved, not by what they cite"""
    sha256: str
    """of the file"""
    answers: int
    """how many topics it answers"""

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """Battles that people judge of those that an LLM judged, so that its win rates are corrected."""

    judge: str
    """as `judges` names them"""
    battles: int
    drawn: int
    """for people"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRunRow:
    """A run that answered topics several times; null: undefined."""

    run_id: str
    """the run, by its run id"""
    topics: int
    """with several samples: the figures are over these"""
    samples: int
    """on these topics"""
    mean: float | None
    sd: float | None
    """standard deviation of a topic's samples, mean over topics"""
    consistency: float | None
    """share of pairs of samples with the same label of a nugget"""
    pass_all: float | None
    """share of topics whose samples all reach the threshold"""

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesReportRow:
    """Runs that answered topics several times: how far their samples agree and are scored alike."""

    condition: str
    judge: str | None
    """whose labels; null: there are none"""
    score: str
    threshold: float
    policies: dict[str, str]
    topics: int
    runs: list[SampledRunRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """A run's scores under a condition, computed when they are asked for. Scores are in [0, 1]."""

    campaign: str
    """the campaign's slug"""
    condition: Literal["A/A", "E/M", "M/M", "E/A", "M/A", "A/M", "scratch", "post-edit", "llm"]
    judge: str | None
    """whose labels they rest on"""
    nugget_set: str | None
    """whose nuggets; null under a support condition"""
    run_id: str
    """the run, by its run id"""
    group: str
    task: str
    control: bool | None
    topics: int | None
    """topics behind the primary score"""
    vital_strict: float | None
    """the primary score"""
    vital: float | None
    weighted_strict: float | None
    weighted: float | None
    all_strict: float | None
    all: float | None
    rubric: float | None
    """of a rubric: the primary score where a campaign is scored by weights"""
    rubric_strict: float | None
    """of a rubric"""
    violations: float | None
    """of a rubric: criteria below 0 that an answer meets, the mean"""
    mandatory_missed: float | None
    """of a rubric: vital criteria above 0 that an answer does not meet, the mean"""
    length: float | None
    """words of an answer, the mean"""
    weighted_precision: float | None
    """of support"""
    weighted_recall: float | None
    """of support"""
    precision_strict: float | None
    """of support"""
    recall_strict: float | None
    """of support"""
    sentences: float | None
    """of an answer, the mean"""
    sentences_total: int | None
    sentences_uncited: int | None
    judged: int
    """labels"""
    failed: int
    """labels"""
    unjudged: int
    """labels"""
    excluded: int | None
    """answers"""
    missing: int | None
    """answers"""
    unjudgeable: int | None
    """pairs that nobody can judge"""
    intervals: dict[str, IntervalRow]
    """of each score, by its name"""

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresReportRow:
    """Scores of all runs under a condition, the best first."""

    condition: str
    nuggets: str | None
    """whose nuggets, by set; null: nobody has any"""
    judge: str | None
    """whose labels; null: there are none"""
    policies: dict[str, str]
    topics: int
    """topics with a nugget"""
    empty_topics: int
    no_vital_topics: int
    no_positive_topics: int | None = None
    """of a rubric: topics without a weight above 0"""
    avoid_nuggets: int
    """that an answer must not contain, and that no score counts"""
    runs: list[ReportedRunRow]
    summary: dict[str, dict[str, float | None]]
    """min, median and max: means over topics of that of the runs, by score"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsReportRow:
    """A report's page: what it says, and its tables by name."""

    title: str
    text: str
    sections: dict[str, ReportSectionRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRow:
    """A segment: a passage that qrels grade and answers cite."""

    id: str
    campaign: str
    """the campaign's slug"""
    docid: str
    document: str
    """the document that it is a segment of"""
    has_text: bool
    """false: named by qrels or runs, and never loaded"""
    title: str
    headings: str
    url: str
    text: str
    start_char: int | None
    end_char: int | None
    grades: list[GradeRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceRow:
    """A sentence of an answer."""

    index: int
    """from 0"""
    text: str
    citations: list[CitationRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTimeRow:
    """Seconds of active time on a topic, over first submissions."""

    stage: str
    topics: int
    median_s: float | None
    q1_s: float | None
    q3_s: float | None
    low_median_s: float | None
    high_median_s: float | None
    wall_median_s: float | None
    mean_s: float | None
    total_s: float
    unfinished: int
    reworked: int
    rework_total_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stays:
    """A task that stays as it is, and why."""

    task: str
    topic_id: str
    reason: str

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class StudiedAgreementRow:
    """How far two judges agree on the study's pairs; null: undefined."""

    with_: str
    """as `judges` names them"""
    judge: str
    """as `judges` names them"""
    pairs: int
    agreement: float | None
    kappa: float | None
    kappa_linear: float | None
    intervals: dict[str, IntervalRow]
    """by figure"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudiedJudgeRow:
    """The labels of a judge, of the labels that the study has."""

    not_support: float | None = None
    """share of the labels"""
    partial_support: float | None = None
    """share of the labels"""
    support: float | None = None
    """share of the labels"""
    no_support: float | None = None
    """share of the labels"""
    full_support: float | None = None
    """share of the labels"""
    judge: str
    """as `judges` names them"""
    role: str
    judged: int
    failed: int
    unjudged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudiedTopicRow:
    """Pairs of a topic; `cells` counts them by label of the one and the other."""

    topic_id: str
    """the topic, by the track's id"""
    pairs: int
    cells: list[list[int]]

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReportRow:
    """Agreement of second looks with the person and with the LLM, on pairs on which the two differ."""

    study: str
    kind: Literal["assignment", "support"]
    person: str
    """as `judges` names them"""
    judge: str
    """as `judges` names them"""
    nuggets: str | None
    """null of support"""
    condition: str | None
    """how people judge support"""
    per_topic: int
    stratified: bool
    seed: int
    pairs: int
    decoys: int
    topics: list[StudiedTopicRow]
    labels: list[str]
    judges: list[StudiedJudgeRow]
    agreement: list[StudiedAgreementRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRow:
    """A study: pairs that are judged once more, drawn where two judges differ or by chance from an LLM's
    labels.

    `reports/corrected/` has the scores that a random check corrects.
    """

    id: int
    campaign: str
    """the campaign's slug"""
    name: str
    kind: Literal["assignment", "support"]
    draw: Literal["disagreements", "random"]
    """random: a random check"""
    person: str | None
    """who is compared, as `judges` names them; null in a random check"""
    judge: str
    """as `judges` names them"""
    nugget_set: str | None
    """null of support"""
    condition: Literal["scratch", "post-edit", "llm"] | None
    """how people judge support"""
    seed: str
    per_run: dict[str, int] | None
    """pairs to draw by run id; null: not drawn by run"""
    per_topic: int | None
    """pairs to draw of each topic; null: not drawn by topic"""
    stratified: bool | None
    """drawn from each pair of labels; null in a random check"""
    drawn: int
    """pairs, without decoys"""
    judged: int
    """drawn pairs with a label of a person, "can't judge" included"""
    decoys: int
    """pairs on which both agree, handed out among the others and counted in no figure"""
    made_by: str | None
    """by pseudonym"""
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionTimeRow:
    """Seconds that somebody spent on a topic; `active_60_s` and its like count gaps up to so many seconds."""

    active_60_s: float
    active_120_s: float
    active_180_s: float
    active_300_s: float
    campaign: str
    """the campaign's slug"""
    topic_id: str
    """the topic, by the track's id"""
    stage: str
    assessor: str
    version: int
    wall_s: float
    presence_s: float
    active_low_s: float
    active_point_s: float
    active_high_s: float
    hidden_s: float
    paused_s: float
    offline_s: float
    blur_s: float
    sessions: int
    rework_s: float
    rule_version: int
    reading_s: float
    editing_s: float
    suspended_s: float
    submitted: bool

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportReportRow:
    """How the citations of all runs support, the best first."""

    condition: str
    judge: str | None
    """whose labels; null: there are none"""
    policies: dict[str, str]
    first_citations: int | None
    """how many of a sentence are judged; null: all"""
    published_measure: bool
    topics: int
    runs: list[SupportedRunRow]
    grounded: list[GroundedRunRow]
    """runs judged by what was retrieved, in no table with the others"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportRow:
    """A label: whether a cited segment supports a sentence. Only labels that stand."""

    id: int
    campaign: str
    """the campaign's slug"""
    topic_id: str
    """the topic, by the track's id"""
    run_id: str
    """the run, by its run id"""
    sample: int
    """which of the run's answers to the topic, from 1"""
    answer: str
    """the answer's id"""
    sentence: int
    """of the answer, from 0"""
    docid: str
    """what the sentence cites"""
    condition: Literal["scratch", "post-edit", "llm"]
    judge: str
    """as `judges` names them"""
    label: Literal["no_support", "partial_support", "full_support", "cant_judge", "failed"]
    raw: str
    """the judge's word, where it is none of the labels"""
    shown_label: Literal["no_support", "partial_support", "full_support", "cant_judge", "failed"] | None
    """the machine's, where it was shown"""
    shown_ms: int | None
    """from when it was shown to the first decision"""
    accepted: bool | None
    """whether the machine's label was taken over"""
    evidence: int | None
    """sentence of the segment, from 0, that the judge marked"""
    submission: int
    """from 1"""
    given_at: datetime
    event: int | None
    """the event that brought it; null: none was kept"""

    @property
    def topic(self) -> str:
        return self.topic_id

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedRunRow:
    """A run's mean scores of its citations; null: undefined."""

    run_id: str
    """the run, by its run id"""
    group: str
    task: str
    judged: int
    unjudged: int
    failed: int
    intervals: dict[str, IntervalRow]
    """of each score, by its name"""
    weighted_precision: float | None = None
    """of support"""
    weighted_recall: float | None = None
    """of support"""
    precision_strict: float | None = None
    """of support"""
    recall_strict: float | None = None
    """of support"""
    sentences: float | None = None
    """of an answer, the mean"""
    precision_topics: int
    recall_topics: int
    sentences_total: int
    sentences_uncited: int
    unjudgeable: int
    """pairs that nobody can judge"""

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """Rows that are gone, in words."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task: one stage of one topic, handed to somebody. Assessors get their own, and no word more than their
    desk.
    """

    id: str
    campaign: str
    """the campaign's slug"""
    topic: str
    """the question"""
    stage: Literal["post-edit", "manual", "assign", "support-scratch", "support-post-edit", "grade", "battle"]
    state: Literal["not started", "in progress", "submitted", "reopened", "blocked", "withdrawn"]
    version: int
    """the submission being made, or made last"""
    due: date | None
    blocked_reason: str
    reopened_reason: str
    topic_id: str | None
    """the track's; null in an assessor's own tasks, as all that follows"""
    assessor: str | None
    """by pseudonym"""
    nugget_set: str | None
    """what is made, or assigned"""
    drafts: str | None
    """the set that is post-edited"""
    qrels: str | None
    """whose grades choose the passages"""
    judge: str | None
    """whose support labels are shown"""
    study: str | None
    """the study whose pairs are judged"""
    second_opinion: bool | None
    priority: int | None
    expected_minutes: int | None
    created_at: datetime | None
    opened_at: datetime | None
    submitted_at: datetime | None
    """the last time"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksChanged:
    """The tasks that were changed, or would be, those that were not, and what is lost by it, in words."""

    changed: list[str]
    left: list[Stays]
    takes_away: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TiesRow:
    """Pairs that are tied: in x alone, in y alone, in both."""

    x: int
    y: int
    both: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeReportRow:
    """How long topics took, by stage, and the submissions that this rests on."""

    idle: int | None
    """gaps up to so many seconds count; null: by the words on screen"""
    rule_version: int
    stages: list[StageTimeRow]
    submissions: list[SubmissionTimeRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow:
    """The time of one submission, in seconds, as `export time` has it; docs/time.md says what each column is."""

    task: str
    """the task's id"""
    campaign: str
    """the campaign's slug"""
    topic_id: str
    """the topic, by the track's id"""
    stage: Literal["post-edit", "manual", "assign", "support-scratch", "support-post-edit", "grade", "battle"]
    assessor: str
    """by pseudonym"""
    version: int
    """the submission"""
    wall_s: float
    presence_s: float
    active_low_s: float
    active_point_s: float
    active_high_s: float
    active_60_s: float
    active_120_s: float
    active_180_s: float
    active_300_s: float
    hidden_s: float
    paused_s: float
    offline_s: float
    blur_s: float
    sessions: int
    rework_s: float
    rule_version: int
    reading_s: float
    editing_s: float
    suspended_s: float
    submitted: bool
    """false: it is still being made, and the time goes on"""
    last_at: datetime
    """the end of the last stretch"""

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRow:
    """A topic: one information need."""

    id: str
    campaign: str
    """the campaign's slug"""
    topic_id: str
    """the track's"""
    text: str
    tags: list[str]
    position: int
    """the order in which topics were loaded"""
    language: str
    """BCP 47; empty: the campaign's"""
    problem_statement: str
    background: str
    article: str
    """the text of the article that is asked about"""
    extra: dict[str, Any]
    """keys of the file that Assay has no field for"""

    @property
    def topic(self) -> str:
        return self.topic_id


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicScoreRow:
    """A run's scores of one topic under a condition; null: the topic is not in the run's mean."""

    campaign: str
    """the campaign's slug"""
    condition: Literal["A/A", "E/M", "M/M", "E/A", "M/A", "A/M", "scratch", "post-edit", "llm"]
    judge: str | None
    """whose labels they rest on"""
    nugget_set: str | None
    """whose nuggets; null under a support condition"""
    run_id: str
    """the run, by its run id"""
    topic_id: str
    """the topic, by the track's id"""
    vital_strict: float | None
    """the primary score"""
    vital: float | None
    weighted_strict: float | None
    weighted: float | None
    all_strict: float | None
    all: float | None
    rubric: float | None
    """of a rubric: the primary score where a campaign is scored by weights"""
    rubric_strict: float | None
    """of a rubric"""
    violations: float | None
    """of a rubric: criteria below 0 that an answer meets, the mean"""
    mandatory_missed: float | None
    """of a rubric: vital criteria above 0 that an answer does not meet, the mean"""
    length: float | None
    """words of an answer, the mean"""
    weighted_precision: float | None
    """of support"""
    weighted_recall: float | None
    """of support"""
    precision_strict: float | None
    """of support"""
    recall_strict: float | None
    """of support"""
    sentences: float | None
    """of an answer, the mean"""

    @property
    def topic(self) -> str:
        return self.topic_id

    @property
    def run(self) -> str:
        return self.run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class UseRow:
    """A job in which a call was used, for which part of an item, and what its reader noticed."""

    job: int
    part: str
    notes: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRow:
    """A label: which of two answers is better, each its run's first sample.

    Only verdicts that stand; sides as the judge saw them.
    """

    id: int
    campaign: str
    """the campaign's slug"""
    battle_set: str
    """the set's name"""
    battle: str
    """as in `battles`"""
    topic_id: str
    """the topic, by the track's id"""
    left_run_id: str
    """the run, by its run id"""
    right_run_id: str
    """the run, by its run id"""
    judge: str
    """as `judges` names them"""
    verdict: Literal["left", "tie", "right", "bad", "cant_judge", "failed"]
    reasons: list[Literal["accuracy", "complete", "point", "evidence", "order"]]
    raw: str
    """why nobody can say, or the judge's word where it is none of the verdicts"""
    second: bool
    """a second opinion: in no score"""
    place: int | None
    """in its task, from 1; null: not judged at a desk"""
    stayed: str | None
    """the run whose answer was on the screen just before"""
    seconds: int | None
    """active ones"""
    submission: int
    """from 1"""
    given_at: datetime
    event: int | None
    """the event that brought it; null: none was kept"""

    @property
    def topic(self) -> str:
        return self.topic_id
