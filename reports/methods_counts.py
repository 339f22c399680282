"""What the methods report counts, as rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import django
import numpy as np
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Exists, F, Min, OuterRef, Q

from evaluation.domain.labels import CITATION_LABELS
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Finding,
    Judge,
    ListedNugget,
    NuggetList,
    Qrel,
    Run,
    Segment,
    SupportJudgment,
    Task,
)
from evaluation.rules.clock import RULE_VERSION
from evaluation.rules.protocol import SETTINGS
from evaluation.terms import AssignmentLabel, JudgeKind, SupportLabel, TaskState
from reports.rendering import Row

ROOMS = ("evaluation", "reports", "llmjobs")
SUPPORT_WORDS = dict(enumerate(CITATION_LABELS.scale))


@dataclass(frozen=True, slots=True)
class Material:
    """How much there is to judge."""

    topics: int
    runs: int
    answers: int
    segments: int
    with_text: int


def material(campaign: Campaign) -> Material:
    """Count topics, runs, answers and segments."""
    segments = Segment.objects.filter(campaign=campaign)
    counted = segments.aggregate(all=Count("pk"), with_text=Count("pk", filter=Q(has_text=True)))
    return Material(
        topics=campaign.topics.count(),
        runs=campaign.runs.count(),
        answers=AnswerProvenance.objects.filter(run__campaign=campaign).count(),
        segments=counted["all"],
        with_text=counted["with_text"],
    )


def protocol_rows(campaign: Campaign) -> list[Row]:
    """Return the settings in force, the guidelines by their length."""
    protocol = campaign.protocol
    fields = [one for one in protocol._meta.concrete_fields if one.name in SETTINGS and one.name != "guidelines"]
    rows: list[Row] = [_setting(one, getattr(protocol, one.name)) for one in fields]
    return [*rows, {"setting": "guidelines", "value": f"{len(protocol.guidelines.split())} words"}]


def _setting(column: "models.Field[Any, Any]", value: Any) -> Row:
    text = "none" if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)
    return {"setting": column.name.replace("_", " "), "value": text}


def run_rows(campaign: Campaign) -> list[Row]:
    """Count runs by group and task."""
    rows = Run.objects.filter(campaign=campaign).order_by("group", "task").values("group", "task")
    return list(rows.annotate(runs=Count("pk"), controls=Count("pk", filter=Q(control=True))))


def qrel_rows(campaign: Campaign) -> list[Row]:
    """Count grades by source."""
    rows = (
        Qrel.objects.filter(source__campaign=campaign)
        .order_by("source__name")
        .values(source_name=F("source__name"))
    )
    counted = rows.annotate(topics=Count("topic", distinct=True), grades=Count("pk"))
    return [{"source": row["source_name"], "topics": row["topics"], "grades": row["grades"]} for row in counted]


def people_in_order(campaign: Campaign) -> list[str]:
    """Return the judges who are people, in the order in which they came to work here: the same in every copy."""
    assigned = Assignment.objects.filter(nugget_version__nugget__nugget_set__campaign=campaign)
    came = [
        dict(Task.objects.filter(campaign=campaign).order_by().values_list("assessor").annotate(Min("pk"))),
        dict(campaign.nugget_sets.order_by().values_list("judge").annotate(Min("pk"))),
        dict(assigned.order_by().values_list("judge").annotate(Min("pk"))),
        dict(
            SupportJudgment.objects.filter(segment__campaign=campaign)
            .order_by()
            .values_list("judge")
            .annotate(Min("pk"))
        ),
    ]
    people = Judge.objects.filter(kind=JudgeKind.HUMAN, study=None)

    def order(one: Judge) -> list[float]:
        keys = (one.user_id, one.pk, one.pk, one.pk)
        return [first.get(key, inf) for first, key in zip(came, keys, strict=True)]

    return [one.name for one in sorted(people, key=order) if min(order(one)) < inf]


def work_rows(campaign: Campaign) -> list[Row]:
    """Count each assessor's tasks by stage, with the name of the judge that they are."""
    tasks = Task.objects.filter(campaign=campaign).not_withdrawn()
    submitted = Count("pk", filter=Q(state=TaskState.SUBMITTED))
    second = Count("pk", filter=Q(second_opinion=True))
    rows = tasks.order_by("stage", "assessor").values("assessor", "stage")
    counted = list(rows.annotate(tasks=Count("pk"), submitted=submitted, second=second))
    called = dict(Judge.objects.filter(user__in=tasks.values("assessor"), aside=False).values_list("user", "name"))
    fresh = sorted({row["assessor"] for row in counted} - called.keys())
    called |= {user: f"Without labels {place}" for place, user in enumerate(fresh, start=1)}
    return [row | {"assessor": called[row["assessor"]]} for row in counted]


def judge_rows(campaign: Campaign) -> list[Row]:
    """Return who labelled here: people, and LLMs with their models."""
    assigned = Assignment.objects.current().filter(
        judge=OuterRef("pk"), nugget_version__nugget__nugget_set__campaign=campaign
    )
    supported = SupportJudgment.objects.current().filter(judge=OuterRef("pk"), segment__campaign=campaign)
    made = campaign.nugget_sets.filter(judge=OuterRef("pk"))
    judges = Judge.objects.filter(Exists(assigned) | Exists(supported) | Exists(made)).order_by("kind", "name")
    return [
        {
            "judge": one.name,
            "kind": "person" if one.kind == JudgeKind.HUMAN else "LLM",
            "model": one.model,
            "prompts": ", ".join(f"{task}: {text}" for task, text in sorted(one.prompt_versions.items())),
        }
        for one in judges
    ]


def support_rows(campaign: Campaign) -> list[Row]:
    """Count support labels by condition and judge, those of studies left out, with the mix of the three labels."""
    labels = SupportJudgment.objects.current().filter(segment__campaign=campaign, judge__aside=False)
    counted = {f"n{code}": Count("pk", filter=Q(label=code)) for code in SUPPORT_WORDS}
    rows = labels.order_by("condition", "judge__name").values("condition", "judge__name")
    return [_mix(row) for row in rows.annotate(labels=Count("pk"), **counted)]


def _mix(row: Mapping[str, Any]) -> Row:
    given = sum(row[f"n{code}"] for code in SUPPORT_WORDS)
    shares = {name: row[f"n{code}"] / given if given else None for code, name in SUPPORT_WORDS.items()}
    return {"condition": row["condition"], "judge": row["judge__name"], "labels": row["labels"]} | shares


def exclusion_rows(campaign: Campaign) -> list[Row]:
    """Count what enters no score."""
    tasks = Task.objects.filter(campaign=campaign)
    nuggets = Assignment.objects.filter(nugget_version__nugget__nugget_set__campaign=campaign)
    support = SupportJudgment.objects.filter(segment__campaign=campaign)
    answers = AnswerProvenance.objects.filter(run__campaign=campaign)
    found = {
        "control runs, left out of summaries": campaign.runs.filter(control=True).count(),
        "answers missing": campaign.runs.count() * campaign.topics.count() - answers.count(),
        "empty answers, not support by rule": answers.filter(answer__words=0).count(),
        "nuggets that an answer must not contain": _avoid_nuggets(campaign),
        "tasks withdrawn": tasks.filter(state=TaskState.WITHDRAWN).count(),
        "tasks that are second opinions": tasks.filter(second_opinion=True).count(),
        "findings at imports": Finding.objects.filter(campaign=campaign).count(),
    }
    for what, labels, terms in (("nuggets", nuggets, AssignmentLabel), ("citations", support, SupportLabel)):
        found[f"labels of {what} that no longer stand"] = labels.filter(stands=False).count()
        standing = labels.current()
        found[f"labels of {what} of studies"] = standing.filter(judge__aside=True).count()
        found[f"labels of {what}: can't judge"] = standing.filter(label=terms.CANT_JUDGE).count()
        found[f"labels of {what}: failed"] = standing.filter(label=terms.FAILED).count()
    return [{"what": what, "count": count} for what, count in found.items()]


def _avoid_nuggets(campaign: Campaign) -> int:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign)
    return ListedNugget.objects.filter(nugget_list__in=lists, avoid=True).count()


def version_rows(_campaign: Campaign) -> list[Row]:
    """Return what the figures rest on beside the data."""
    applied = MigrationRecorder(connection).applied_migrations()
    rooms = [(f"Assay, tables of {app}", max(name for one, name in applied if one == app)) for app in ROOMS]
    rest = [("rule of active time", str(RULE_VERSION)), ("Django", django.__version__), ("NumPy", np.__version__)]
    return [{"what": what, "version": version} for what, version in [*rooms, *rest]]
