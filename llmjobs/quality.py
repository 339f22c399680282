"""What came of an LLM judge's questions: how many were asked again, split, refused or failed, and what they cost."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from accounts.models import User
from evaluation.models import Campaign, Judge
from evaluation.queries.campaigns import within
from llmjobs.models import Attempt, Call, CallUse, LlmJob
from llmjobs.prices import announced_price
from llmjobs.steps.asking import RE_ASK

FIRST_RE_ASK = f"{RE_ASK}1"


@dataclass(slots=True)
class Replies:
    """What came of the questions behind the ended items. Each number is of questions, re-asks not counted as such.

    `failed`: without a usable reply in the end. `refused`: the endpoint would not answer for what was asked.
    """

    questions: int = 0
    reasked: int = 0
    split: int = 0
    failed: int = 0
    refused: int = 0

    @property
    def shares(self) -> list[tuple[str, int, float | None]]:
        counts = {
            "asked again": self.reasked,
            "split in two": self.split,
            "refused": self.refused,
            "failed": self.failed,
        }
        return [
            (outcome, count, count / self.questions if self.questions else None)
            for outcome, count in counts.items()
        ]


@dataclass(slots=True)
class JudgeSpending:
    """What a judge's jobs in one campaign cost: money by currency, and how many jobs no price is known of."""

    jobs: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    costs: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    tables: set[str] = field(default_factory=set)
    unpriced: int = 0

    def add(self, llm: LlmJob) -> None:
        self.jobs += 1
        self.prompt_tokens += llm.prompt_tokens
        self.completion_tokens += llm.completion_tokens
        price = announced_price(llm)
        if price is None:
            self.unpriced += 1
            return
        self.costs[price.currency] += price.of(llm.prompt_tokens, llm.completion_tokens)
        self.tables.add(price.table)

    @property
    def sorted_costs(self) -> list[tuple[str, Decimal]]:
        return sorted(self.costs.items())


def judges_at_work(viewer: User, campaign: Campaign) -> QuerySet[Judge]:
    jobs = LlmJob.objects.filter(campaign__in=within(viewer, campaign))
    return Judge.objects.filter(pk__in=jobs.values("judge"), aside=False)


def replies_by_judge(viewer: User, campaign: Campaign) -> dict[int, Replies]:
    """Counts of replies by judge, in two queries."""
    uses = CallUse.objects.filter(item__job__llm__campaign__in=within(viewer, campaign)).order_by()
    unwanted = Attempt.objects.filter(call=OuterRef("call"), error="bad_request")
    given_up = Q(call__state=Call.State.FAILED) & Q(Exists(unwanted))
    refused = Q(call__finish_reason="content_filter") | given_up
    rows = uses.values_list("item__job__llm__judge").annotate(
        questions=Count("pk", filter=~Q(part__contains=RE_ASK)),
        reasked=Count("pk", filter=Q(part__endswith=FIRST_RE_ASK)),
        refused=Count("pk", filter=refused),
    )
    found = {
        judge: Replies(questions=questions, reasked=reasked, refused=refusals)
        for judge, questions, reasked, refusals in rows
    }
    noted = uses.exclude(notes=[]).values_list("item__job__llm__judge", "notes")
    for judge, kinds in _kinds_of_notes(noted.iterator()).items():
        found[judge].split, found[judge].failed = kinds["split"], kinds["failed"]
    return found


def _kinds_of_notes(noted: Iterable[tuple[int, list[str]]]) -> dict[int, Counter[str]]:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for judge, notes in noted:
        counts[judge].update({note.partition(":")[0] for note in notes})
    return counts


def spending_by_judge(viewer: User, campaign: Campaign) -> dict[int, JudgeSpending]:
    """Cost of each judge's jobs in a campaign, in one query."""
    found: dict[int, JudgeSpending] = defaultdict(JudgeSpending)
    for llm in LlmJob.objects.filter(campaign__in=within(viewer, campaign)):
        found[llm.judge_id].add(llm)
    return found
