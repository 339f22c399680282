"""Columns of battles: their sets, the pairs of answers, and verdicts on them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from api.rows.corpus import CampaignSlug, JudgeName, Out, RunId, TopicId, words
from api.rows.labels import EVENT
from evaluation.labels import BATTLE_LABELS
from evaluation.terms import BattleMarkdown, BattleReason, BattleRubric, BattleShow


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
