"""Cost of a list or label: a person's by measured time and a rate, an LLM's by its jobs."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, OuterRef, Subquery, Sum

from evaluation.models import Campaign, Submission, Task
from evaluation.queries.timing import TopicTime
from evaluation.rules.clock import SECOND
from evaluation.terms import Stage
from jobs.models import WorkItem
from llmjobs.models import Call, CallUse, LlmJob
from llmjobs.prices import announced_price
from reports.time_page import PUBLISHED
from reports.timing import times_of

LIST, LABEL, SUPPORT = "nugget list", "assignment label", "support label"
GRADE = "relevance grade"
UNITS = {"nuggetize": LIST, "importance": LIST, "assign": LABEL, "support": SUPPORT, "relevance": GRADE}
"""Unit that the calls of a prompt are for."""
KINDS = {"nuggets": LIST, "drafts": LIST, "assign": LABEL, "support": SUPPORT, "relevance": GRADE}
"""Unit that an item of a kind makes. An item of assigning makes a label for each of its nuggets."""
PERSON = {
    Stage.POST_EDIT: "post-edited nugget list",
    Stage.MANUAL: "manual nugget list",
    Stage.ASSIGN: LABEL,
    Stage.SUPPORT_SCRATCH: "support label from scratch",
    Stage.SUPPORT_POST_EDIT: "support label post-edited",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """Cost of a unit. `seconds`: a person's per unit; `published`: the study's, nothing was measured.

    `cost` is in the page's currency, None where it is not known; `units` is the number of measured ones.
    """

    what: str
    by: str
    units: int
    seconds: float | None
    cost: float | None
    published: bool = False


def person_units(campaign: Campaign, rate: Decimal | None) -> dict[Stage, Unit]:
    """Costs of a person's lists and labels at an hourly rate, from first submissions of whole topics."""
    times: dict[Stage, list[TopicTime]] = defaultdict(list)
    for one in times_of(campaign):
        if one.timed.version == 1 and one.timed.submitted and one.timed.whole:
            times[one.timed.stage].append(one)
    labels = _labels(campaign)
    found = {}
    for stage, what in PERSON.items():
        units = labels.get(stage, 0) if stage.judges else len(times[stage])
        total = sum(one.times.active.point for one in times[stage]) / SECOND
        each = total / units if units and total else PUBLISHED.get(stage)
        cost = each / 3600 * float(rate) if each is not None and rate is not None else None
        found[stage] = Unit(
            what, "person", units, each, cost, published=not (units and total) and each is not None
        )
    return found


def _labels(campaign: Campaign) -> dict[str, int]:
    tasks = Submission.objects.filter(task__campaign=campaign, task__study=None, version=1)
    rows = tasks.filter(Task.objects.not_withdrawn_q("task__")).values_list("task__stage")
    return {stage: labels or 0 for stage, labels in rows.annotate(Sum("labels")).order_by()}


@dataclass(frozen=True, slots=True)
class LlmUnits:
    """Costs of an LLM's lists and labels, by judge and kind of unit; `currency` of the price tables, '' if none."""

    by_judge: Mapping[tuple[str, str], Unit]
    currency: str

    def cost(self, judge: str, what: str) -> float | None:
        """Cost of a unit by a judge; where it made none here, that of the only judge with such units."""
        if (judge, what) in self.by_judge:
            return self.by_judge[judge, what].cost
        others = [unit for (_, kind), unit in self.by_judge.items() if kind == what]
        return others[0].cost if len(others) == 1 else None


def llm_units(campaign: Campaign) -> LlmUnits:
    """Costs of the campaign's jobs per list and label."""
    # Jobs of judges set aside, as for trials of prompts, are left out.
    own = LlmJob.objects.filter(campaign=campaign, judge__aside=False)
    jobs = {llm.pk: llm for llm in own.select_related("judge")}
    paid: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    unpriced = set()
    for pk, template, prompt, completion in _tokens(campaign):
        llm, what = jobs.get(pk), UNITS.get(template)
        if llm is None or what is None:
            continue
        price, key = announced_price(llm), (llm.judge.name, what)
        if price is None:
            unpriced.add(key)
        else:
            paid[key] += price.of(prompt or 0, completion or 0)
    units = _units(campaign, jobs)
    found = {
        key: Unit(key[1], key[0], count, None, None if key in unpriced or not count else float(paid[key]) / count)
        for key, count in units.items()
    }
    currencies = sorted({llm.currency for llm in jobs.values() if llm.currency})
    return LlmUnits(found, currencies[0] if len(currencies) == 1 else "")


def _tokens(campaign: Campaign) -> list[tuple[int, str, int | None, int | None]]:
    """Tokens of prompts and replies by job and prompt, each call once."""
    mine = CallUse.objects.filter(item__job__llm__campaign=campaign)
    # A call that several jobs used counts for the first of them.
    first = mine.filter(call=OuterRef("pk")).order_by("pk").values("item__job")[:1]
    calls = Call.objects.filter(pk__in=mine.order_by().values("call")).annotate(job=Subquery(first))
    sums = calls.values("job", "template").annotate(
        prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens")
    )
    return list(sums.order_by().values_list("job", "template", "prompt", "completion"))


def _units(campaign: Campaign, jobs: Mapping[int, LlmJob]) -> Counter[tuple[str, str]]:
    """Lists and labels of the items that ended well."""
    done = WorkItem.objects.filter(job__llm__campaign=campaign, state=WorkItem.State.DONE)
    found: Counter[tuple[str, str]] = Counter()
    rows = done.exclude(kind="assign").values_list("job", "kind").annotate(n=Count("pk")).order_by()
    for pk, kind, count in rows:
        if kind in KINDS and pk in jobs:
            found[jobs[pk].judge.name, KINDS[kind]] += count
    for pk, nuggets in done.filter(kind="assign").values_list("job", "payload__nuggets").iterator():
        if pk in jobs:
            # An item of assigning has a label for each of its nuggets.
            found[jobs[pk].judge.name, LABEL] += len(nuggets or ())
    return found
