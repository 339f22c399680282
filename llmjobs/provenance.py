"""Provenance of a label for organizers: the call or the import behind it."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.corpus.answers import provenance_for
from evaluation.corpus.label_grid import condition_of
from evaluation.labels import BATTLE_LABELS
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    Judge,
    ListedNugget,
    NuggetList,
    Qrel,
    Run,
    Sentence,
    SupportJudgment,
    Verdict,
)
from evaluation.rules.sentences import split
from evaluation.terms import BattleCondition, JudgeKind
from jobs.models import WorkItem
from llmjobs.budget import announced_price
from llmjobs.models import Attempt, Call, CallUse, NuggetCalls, Text
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL


@dataclass(frozen=True, slots=True)
class ShownMessage:
    role: str
    content: str
    sha256: str


@dataclass(frozen=True, slots=True)
class CallCost:
    """Cost of a call's tokens by the prices of the first job that used it. `reused`: an earlier job paid them."""

    job: int
    amount: Decimal
    currency: str
    table: str
    reused: bool


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call with what was sent, how often, and what its reader noticed, by the items that use it.

    `item_calls`: all calls of the first of these items, this call among them: an earlier wrong reply is its reason.
    """

    call: Call
    messages: tuple[ShownMessage, ...]
    attempts: tuple[Attempt, ...]
    uses: tuple[CallUse, ...]
    item_calls: tuple[CallUse, ...] = ()

    @property
    def seed(self) -> int | None:
        seed: int | None = self.call.parameters.get("seed")
        return seed

    @property
    def cost(self) -> CallCost | None:
        """Cost by the job's price; None where no price or no count of tokens is known."""
        call, llm = self.call, self.uses[0].item.job.llm if self.uses else None
        price = announced_price(llm) if llm else None
        prompt, completion = call.prompt_tokens, call.completion_tokens
        if llm is None or price is None or prompt is None or completion is None:
            return None
        amount = price.of(prompt, completion)
        reused = (call.ended_at or call.made_at) < llm.job.made_at
        return CallCost(llm.pk, amount, price.currency, price.table, reused)


@dataclass(frozen=True, slots=True)
class ShownLabel:
    """A label with the answer that it is about. `sentence`: which is judged, or where an assessor found the nugget."""

    label: Assignment | SupportJudgment
    answer: AnswerProvenance
    condition: str
    sentences: tuple[Sentence, ...]
    sentence: Sentence | None

    @property
    def support(self) -> bool:
        return isinstance(self.label, SupportJudgment)

    @property
    def shown_seconds(self) -> float | None:
        """Seconds for which a machine's label was on screen before the assessor's first decision."""
        shown_ms = self.label.shown_ms if isinstance(self.label, SupportJudgment) else None
        return None if shown_ms is None else shown_ms / 1000

    @property
    def evidence_text(self) -> str:
        """The marked sentence; empty where the segment's text changed since and has none of that number."""
        if not isinstance(self.label, SupportJudgment) or self.label.evidence is None:
            return ""
        return dict(enumerate(split(self.label.segment.text.strip()))).get(self.label.evidence, "")


def assignments_for(viewer: User, campaign: Campaign) -> QuerySet[Assignment]:
    seen = within(viewer, campaign)
    labels = Assignment.objects.current().filter(nugget_version__nugget__nugget_set__campaign__in=seen)
    return labels.select_related("judge", "event__actor", "nugget_version__nugget__nugget_set")


def support_for(viewer: User, campaign: Campaign) -> QuerySet[SupportJudgment]:
    labels = SupportJudgment.objects.current().filter(segment__campaign__in=within(viewer, campaign))
    return labels.select_related("judge", "event__actor", "sentence", "segment")


def verdicts_for(viewer: User, campaign: Campaign) -> QuerySet[Verdict]:
    verdicts = Verdict.objects.current().filter(battle__battle_set__campaign__in=within(viewer, campaign))
    return verdicts.select_related("judge", "event__actor", "battle__topic", "battle__battle_set")


def assignment_for(viewer: User, campaign: Campaign, pk: int) -> ShownLabel:
    label = assignments_for(viewer, campaign).get(pk=pk)
    answer = answer_for(viewer, campaign, label.answer_id)
    sentences = tuple(Sentence.objects.filter(answer=answer.answer_id))
    sentence = next((sentence for sentence in sentences if sentence.index == label.sentence), None)
    condition = condition_of(label.nugget_version.nugget.nugget_set, label.judge)
    return ShownLabel(label, answer, condition, sentences, sentence)


def support_judgment_for(viewer: User, campaign: Campaign, pk: int) -> ShownLabel:
    label = support_for(viewer, campaign).get(pk=pk)
    answer = answer_for(viewer, campaign, label.sentence.answer_id)
    sentences = tuple(Sentence.objects.filter(answer=answer.answer_id))
    return ShownLabel(label, answer, label.condition, sentences, label.sentence)


def answer_for(viewer: User, campaign: Campaign, pk: int) -> AnswerProvenance:
    return provenance_for(viewer, campaign).select_related("answer", "run", "topic").get(pk=pk)


def labels_of(
    viewer: User, campaign: Campaign, answer: Answer
) -> tuple[QuerySet[Assignment], QuerySet[SupportJudgment]]:
    nugget_set = "nugget_version__nugget__nugget_set__name"
    assigned = assignments_for(viewer, campaign).filter(answer=answer)
    supported = support_for(viewer, campaign).filter(sentence__answer=answer).defer("segment__text")
    return (
        assigned.order_by(nugget_set, "nugget_version", "judge__name"),
        supported.order_by("sentence__index", "segment__docid", "condition", "judge__name"),
    )


def call_behind(viewer: User, campaign: Campaign, event: Event | None) -> ShownCall | None:
    call = Call.objects.filter(event=event).first() if event else None
    return shown_call(viewer, campaign, call) if call else None


def shown_call(viewer: User, campaign: Campaign, call: Call) -> ShownCall:
    """Return all of a call. Only uses by this campaign's jobs are among it."""
    texts = Text.objects.in_bulk([message["sha256"] for message in call.messages])
    messages = tuple(
        ShownMessage(message["role"], texts[message["sha256"]].content, message["sha256"])
        for message in call.messages
    )
    uses = CallUse.objects.filter(call=call, item__job__llm__campaign__in=within(viewer, campaign))
    used = tuple(uses.select_related("item__job__llm__judge", "item__job__llm__job").order_by("item"))
    uses_of_item = CallUse.objects.filter(item=used[0].item_id if used else None).select_related("call")
    ordered = uses_of_item.defer("call__messages", "call__reply").order_by("number")
    return ShownCall(call, messages, tuple(call.attempts.all()), used, tuple(ordered))


def is_simulated(judge: Judge | None, *calls: ShownCall | None) -> bool:
    # The judge's name proves nothing: the endpoint names the model in its reply.
    answered = [call.call.model_answered for call in calls if call]
    return SIMULATED_MODEL in (judge.model if judge else "", *answered)


LIST_KINDS = ("nuggets", "drafts", "rubric")


@dataclass(frozen=True, slots=True)
class ShownNuggetOrigin:
    listed: ListedNugget
    worded: ShownCall | None
    weighed: ShownCall | None


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """A verdict, the runs as its judge saw them, and the call that gave it."""

    verdict: Verdict
    left: Run
    right: Run
    call: ShownCall | None

    @property
    def words(self) -> str:
        return BATTLE_LABELS.by_code[self.verdict.label].caption

    @property
    def condition(self) -> BattleCondition:
        return BattleCondition.LLM if self.verdict.judge.kind == JudgeKind.LLM else BattleCondition.PEOPLE


def list_for(viewer: User, campaign: Campaign, pk: int) -> NuggetList:
    lists = NuggetList.objects.filter(nugget_set__campaign__in=within(viewer, campaign), submitted=True)
    return lists.select_related("nugget_set__judge", "topic", "event__actor").get(pk=pk)


def nuggets_made(
    nugget_list: NuggetList, uses: Iterable[CallUse]
) -> list[tuple[ListedNugget, CallUse | None, CallUse | None]]:
    """Return the nuggets of a list with the uses of the calls that first had their words and gave their importance."""
    by_call = {use.call_id: use for use in uses}
    calls = {row.listed_id: row for row in NuggetCalls.objects.filter(listed__nugget_list=nugget_list)}
    nuggets = []
    for listed in nugget_list.items.select_related("nugget_version").order_by("position"):
        behind = calls.get(listed.pk)
        worded, weighed = (behind.worded_id, behind.weighed_id or 0) if behind else (0, 0)
        nuggets.append((listed, by_call.get(worded), by_call.get(weighed)))
    return nuggets


def uses_behind(viewer: User, campaign: Campaign, nugget_list: NuggetList) -> list[CallUse]:
    """Return all the calls that made a list, in the order of their asks: none where it was loaded."""
    # Another item with the same list as its outcome used the same calls, so the first is enough.
    if nugget_list.event is None:
        return []
    items = WorkItem.objects.filter(
        job__llm__campaign__in=within(viewer, campaign),
        kind__in=LIST_KINDS,
        payload__topic=nugget_list.topic_id,
        call_uses__call__event=nugget_list.event,
    )
    item = items.order_by("pk").first()
    return list(CallUse.objects.filter(item=item).select_related("call").order_by("number")) if item else []


def nugget_for(viewer: User, campaign: Campaign, pk: int) -> ShownNuggetOrigin:
    lists = NuggetList.objects.filter(nugget_set__campaign__in=within(viewer, campaign), submitted=True)
    rows = ListedNugget.objects.filter(nugget_list__in=lists).select_related(
        "nugget_version", "nugget_list__topic", "nugget_list__nugget_set__judge", "nugget_list__event__actor"
    )
    listed = rows.get(pk=pk)
    rests = NuggetCalls.objects.filter(listed=listed).select_related("worded", "weighed").first()
    if rests is None:
        return ShownNuggetOrigin(listed, call_behind(viewer, campaign, listed.nugget_list.event), None)
    weighed = shown_call(viewer, campaign, rests.weighed) if rests.weighed else None
    return ShownNuggetOrigin(listed, shown_call(viewer, campaign, rests.worded), weighed)


def grades_for(viewer: User, campaign: Campaign) -> QuerySet[Qrel]:
    rows = Qrel.objects.filter(source__campaign__in=within(viewer, campaign))
    return rows.select_related("source", "topic", "segment", "event__actor")


def grade_for(viewer: User, campaign: Campaign, pk: int) -> Qrel:
    return grades_for(viewer, campaign).get(pk=pk)


def verdict_for(viewer: User, campaign: Campaign, pk: int) -> ShownVerdict:
    verdict = verdicts_for(viewer, campaign).get(pk=pk)
    battle = verdict.battle
    right = battle.right_id if verdict.left_id == battle.left_id else battle.left_id
    left_run, right_run = (answer_for(viewer, campaign, answer).run for answer in (verdict.left_id, right))
    return ShownVerdict(verdict, left_run, right_run, call_behind(viewer, campaign, verdict.event))


def call_for(viewer: User, campaign: Campaign, pk: int) -> ShownCall:
    uses = CallUse.objects.filter(call__id=pk, item__job__llm__campaign__in=within(viewer, campaign))
    return shown_call(viewer, campaign, Call.objects.filter(pk__in=uses.values("call")).get())
