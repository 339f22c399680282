"""Scores published elsewhere: loading them, and reading them as a condition."""

from accounts.models import User
from evaluation.errors import InputProblem, Refused
from evaluation.formats.scores import ScoreRecord, parse_scores
from evaluation.formats.source import Source
from evaluation.imports.base import (
    BATCH,
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    refuse_changes,
    with_every_problem_below_header,
)
from evaluation.models import Campaign, Event
from evaluation.rules.text import check_name
from evaluation.terms import Condition, SupportCondition
from reports.models import ExternalCondition, ExternalScore

TAKEN = {*Condition, *SupportCondition}


@with_every_problem_below_header
def import_scores(
    *, campaign: Campaign, source: Source, name: str, replace: bool = False, actor: User | None = None
) -> LoadReceipt:
    """Load a published run-level table under a name. Raises `BadInput`, and `Refused` for a condition's own name."""
    check_name("condition", name)
    if name in TAKEN:
        raise Refused("name_taken", f"{name} is a condition of Assay; give the published table another name.")
    rows = parse_scores(source)
    return carry_out(
        campaign=campaign,
        kind="scores",
        sources=[source],
        actor=actor,
        make_plan=lambda locked: _plan(locked, source, rows, name, replace),
    )


def external_scores(campaign: Campaign, name: str, score: str) -> dict[str, float] | None:
    """Return a published table's score by run id; None where there is no table of that name."""
    condition = ExternalCondition.objects.filter(campaign=campaign, name=name).first()
    if condition is None:
        return None
    return dict(condition.scores.filter(score=score).values_list("run_id", "value"))


def external_names(campaign: Campaign) -> list[str]:
    return list(ExternalCondition.objects.filter(campaign=campaign).values_list("name", flat=True))


def _plan(
    campaign: Campaign, source: Source, rows: tuple[ScoreRecord, ...], name: str, replace: bool
) -> ImportPlan:
    loaded = _loaded(campaign, name)
    new = [row for row in rows if row.run_id not in loaded]
    changed = [row for row in rows if row.run_id in loaded and loaded[row.run_id] != row.values]
    refuse_changes([_change(source, row, loaded[row.run_id]) for row in changed], replace)

    def write(event: Event) -> None:
        condition, _ = ExternalCondition.objects.get_or_create(campaign=campaign, name=name)
        condition.scores.filter(run_id__in=[row.run_id for row in changed]).delete()
        _write(condition, new + changed, event)

    return ImportPlan("runs' scores", len(new), len(changed), len(rows) - len(new) - len(changed), write=write)


def _change(source: Source, row: ScoreRecord, loaded: dict[str, float]) -> InputProblem:
    old, new = (
        ", ".join(f"{name} {value}" for name, value in sorted(one.items())) for one in (loaded, row.values)
    )
    return changed_problem(source, row.line, "scores", row.run_id, loaded=old, in_file=new)


def _loaded(campaign: Campaign, name: str) -> dict[str, dict[str, float]]:
    scores = ExternalScore.objects.filter(condition__campaign=campaign, condition__name=name)
    loaded: dict[str, dict[str, float]] = {}
    for run_id, score, value in scores.values_list("run_id", "score", "value"):
        loaded.setdefault(run_id, {})[score] = value
    return loaded


def _write(condition: ExternalCondition, rows: list[ScoreRecord], event: Event) -> None:
    ExternalScore.objects.bulk_create(
        [
            ExternalScore(
                condition=condition,
                run_id=row.run_id,
                group=row.group,
                task=row.task or "",
                score=score,
                value=value,
                event=event,
            )
            for row in rows
            for score, value in row.values.items()
        ],
        batch_size=BATCH,
    )
