"""Gates: a verdict for CI, by the rules of the command."""

from typing import Annotated, Any, Literal

from django.http import HttpResponse
from pydantic import BaseModel, Field
from pydantic_core import to_json

from api.rows.corpus import words
from api.schema import JSON
from api.writes.base import Body, Name, OptionalName, Write, WriteView
from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition, SupportMeasure
from exchange.gates.baseline import Baseline
from exchange.gates.gate import FEWEST_TOPICS, MOST_MISSING, GateOrder, run_gate, unfinished_jobs
from exchange.gates.outputs import GATE_FORMS
from reports.metrics.gate import GateRule, GateVerdict, Goal
from reports.metrics.policies import ExcludeOrZero, ZeroOrSkip

VerdictWord = Annotated[str, words(GateVerdict)]
Share = Annotated[float, Field(ge=0, le=1)]
GateForm = Literal["json", "junit", "markdown"]


class NewGate(Body):
    """Two runs, or a run and a baseline, and what counts as no worse or better."""

    campaign: Name
    condition: Annotated[Condition | SupportCondition, words([*Condition, *SupportCondition])]
    candidate: Name = Field(description="the run in question")
    baseline: OptionalName = Field(default="", description="a run, or `accepted`")
    baseline_document: Baseline | None = Field(default=None, description="what `kept` of an earlier gate was")
    scores: list[Name] = Field(default=[], description="the worst counts; the primary one where none is named")
    goal: Goal = "no-worse"
    least: float = Field(default=0.0, ge=0, description="a loss, or a gain, below which nothing matters")
    alpha: Share = 0.05
    level: Share = 0.95
    min_topics: int = Field(default=FEWEST_TOPICS, ge=2)
    max_missing: Share = Field(default=MOST_MISSING, description="share of labels that are unjudged or failed")
    no_new_violations: bool = False
    rebaseline: bool = Field(default=False, description="compare nothing: the candidate is the baseline")
    accept: bool = Field(default=False, description="where it passes, the candidate is the accepted baseline")
    keep: bool = Field(default=False, description="answer the candidate as a baseline too")
    forms: list[GateForm] = Field(default=[], description="answer the files of the command too")
    judge: OptionalName = ""
    nugget_set: OptionalName = ""
    missing: ZeroOrSkip = "zero"
    unjudged: ExcludeOrZero = "exclude"
    no_vital: ZeroOrSkip = "zero"
    no_cited: ZeroOrSkip = "skip"
    measure: Annotated[SupportMeasure, words(SupportMeasure)] | None = None


class GateScore(BaseModel):
    """One score: means over the topics of both runs, candidate less baseline, and the verdict on it."""

    score: str
    baseline: float
    candidate: float
    difference: float
    interval: list[float] = Field(description="paired, by Student's t")
    p: float = Field(description="of a paired randomisation test")
    least: float
    goal: Goal
    topics: int
    verdict: VerdictWord
    more_topics: int | None = Field(description="about so many more would decide; null: it is decided")


class GateChange(BaseModel):
    """A nugget whose label is another in the candidate."""

    topic: str
    nugget: str
    importance: str
    # A keyword in Python, and the word of the file.
    before: str = Field(alias="from")
    to: str
    url: str


class GateOut(BaseModel):
    """A verdict with all that it rests on. `broken`: nothing was compared, for the reason that is given."""

    verdict: VerdictWord
    reason: str
    campaign: str
    condition: str
    baseline: str
    candidate: str
    scores: list[GateScore]
    alpha: float
    level: float
    fingerprint: str | None
    lost: list[GateChange] | None = Field(
        description="null: one side has scores alone, or labels are of citations"
    )
    gained: list[GateChange] | None
    violations_new: list[GateChange] | None = Field(description="what must not be said, and is now")
    policies: dict[str, str]
    seed: int
    versions: dict[str, int]
    kept: Baseline | None = Field(default=None, description="the candidate, where `keep` asked for it")
    files: dict[str, str] | None = Field(default=None, description="by form, where `forms` asked for them")
    jobs: list[int] | None = Field(default=None, description="that still label these runs, where some do")


class GatesView(WriteView):
    """Say whether a run is no worse than a baseline, or better. Nothing is written but what is accepted."""

    operation = "gates_decide"
    body = NewGate
    answer = GateOut
    # Scores are computed before anything is locked, and what is accepted twice is accepted once.
    together = False

    def about(self, write: Write, **place: object) -> Campaign:
        return self.campaign_to_change(write.actor, write.body.campaign)

    def do(self, write: Write, about: Campaign) -> HttpResponse:
        order = self._order(write, about)
        result = run_gate(order)
        more: dict[str, Any] = {"kept": result.kept.model_dump()} if write.body.keep and result.kept else {}
        if write.body.forms:
            more["files"] = {form: GATE_FORMS[form](result) for form in write.body.forms}
        if result.verdict is GateVerdict.BROKEN and (jobs := unfinished_jobs(order)):
            more["jobs"] = jobs
        return HttpResponse(to_json(result.document | more), content_type=JSON)

    def _order(self, write: Write, about: Campaign) -> GateOrder:
        body, names = write.body, self.names
        choices: dict[str, Any] = {
            "judge": names.real_judge(about.pk, body.judge),
            "nuggets": names.real_set(about.pk, body.nugget_set),
            **{name: getattr(body, name) for name in ("missing", "unjudged", "no_vital", "no_cited", "measure")},
        }
        return GateOrder(
            campaign=about,
            condition=body.condition,
            candidate=body.candidate,
            baseline=body.baseline_document or body.baseline,
            rule=GateRule(body.goal, body.least, body.alpha, body.level),
            scores=tuple(body.scores),
            choices=choices,
            fewest_topics=body.min_topics,
            most_missing=body.max_missing,
            no_new_violations=body.no_new_violations,
            rebaseline=body.rebaseline,
            accept=body.accept,
            actor=write.actor,
        )
