"""Scores of two conditions and their three taus, from rows to numbers, by Assay; and the bare reading of the rows."""

from django.db import connection

from evaluation.domain.conditions import resolve
from evaluation.models import Campaign, Judge
from evaluation.terms import Condition, JudgeKind, Origin
from loadtest.bench import synthetic
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import Size
from reports.agreement.figures import AgreementRequest, correlate, table_of
from reports.frames import assignment_sheet
from reports.metrics.agreement import LEVELS, Agreement, agreement
from reports.metrics.bootstrap import intervals
from reports.metrics.policies import Policies
from reports.metrics.registry import PRIMARY
from reports.metrics.scores import RunScores, run_scores

SLUG = "track"
LLM, PERSON = "bench-llm", "bench-person"
SEEDS = (1, 2)


def prepare(size: Size, _turn: int) -> Measured:
    """Make a campaign with labels under A/A and E/M."""
    campaign = synthetic.make_campaign(SLUG, size.topics)
    synthetic.make_answers(campaign, size)
    auto = synthetic.make_nuggets(campaign, size, Origin.AUTO, "bench-nuggetizer")
    edited = synthetic.make_nuggets(campaign, size, Origin.EDITED, "bench-nuggetizer")
    synthetic.store_labels(auto, size, LLM, JudgeKind.LLM, SEEDS[0])
    synthetic.store_labels(edited, size, PERSON, JudgeKind.HUMAN, SEEDS[1])
    return Measured()


def assay(size: Size, _turn: int) -> Measured:
    """What a report does: resolve two conditions, read their labels, score every run, three taus. Then again."""
    measured = Measured(rows=2 * size.labels)
    campaign = _campaign()
    with measured.timing("cold"):
        _, found = _report(campaign)
    with measured.timing("warm"):
        _report(campaign)
    measured.values = {level: getattr(found, level) for level in LEVELS}
    return measured


def with_intervals(size: Size, _turn: int) -> Measured:
    """Intervals of the three taus, 4000 resamples, from sheets already in memory; and the whole page."""
    measured = Measured(rows=2 * size.labels)
    campaign = _campaign()
    x, y = (resolve(campaign, condition) for condition in (Condition.AA, Condition.EM))
    left, right = (table_of(choice, PRIMARY, Policies()) for choice in (x, y))
    with measured.timing("intervals"):
        intervals(left, right)
    with measured.timing("page"):
        correlate(AgreementRequest(campaign, x, y, PRIMARY, Policies()))
    return measured


def bare(size: Size, _turn: int) -> Measured:
    measured = Measured(rows=2 * size.labels)
    judges = [Judge.objects.get(name=name).pk for name in (LLM, PERSON)]
    with measured.timing("all"):
        rows = [fetch_labels(judge) for judge in judges]
    if sum(map(len, rows)) != measured.rows:
        raise SystemExit("the labels are not all there")
    return measured


def _campaign() -> Campaign:
    return Campaign.objects.get(slug=SLUG)


def _report(campaign: Campaign) -> tuple[list[RunScores], Agreement]:
    x, y = (resolve(campaign, condition) for condition in (Condition.AA, Condition.EM))
    scores = [run_scores(assignment_sheet(choice), Policies()) for choice in (x, y)]
    return scores, agreement(table_of(x, PRIMARY, Policies()), table_of(y, PRIMARY, Policies()))


def fetch_labels(judge: int) -> list[tuple[int, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT answer_id, nugget_version_id, label FROM evaluation_assignment WHERE judge_id = %s", [judge]
        )
        rows: list[tuple[int, int, int]] = cursor.fetchall()
    return rows
