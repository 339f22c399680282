"""Readers of what lies above the domain: jobs, measured times, and scores."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, cast

from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, Max, Q, QuerySet

from api.rows.labels import ScoreRow, TopicScoreRow
from assessor.models import TimeSegment
from assessor.rules.clock import limit_of, measure
from assessor.timing.times import Timed, TopicTime, stretches_of
from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign, Run, Submission, Task
from evaluation.rows.base import Reader, Row, Values
from evaluation.terms import SupportMeasure
from jobs.models import WorkItem
from llmjobs.models import LlmJob
from reports.leaderboard.scores import leaderboard, topic_scores
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.registry import Profile
from reports.profiles import profile_of
from reports.support import support_rows
from reports.timing.figures import TIME_COLUMNS, time_row

SPENDING = (
    "priority",
    "requests",
    "prompt_tokens",
    "completion_tokens",
    "max_requests",
    "max_tokens",
    "max_money",
    "currency",
    "price_table",
)


class Jobs(Reader):
    """Jobs of LLM judges, and how far each is."""

    model = LlmJob
    paths = {"campaign": "campaign", "judges": "judge", "kind": "job__state"}
    values = (
        "campaign",
        "judge",
        "job__title",
        "job__state",
        "job__waiting_for",
        "job__made_by",
        "job__made_at",
        "job__ended_at",
        "job__priority",
        "sent_calls",
        "prompt_tokens",
        "completion_tokens",
        "most_calls",
        "most_tokens",
        "most_money",
        "currency",
        "price_table",
    )
    row_path = "job__id"

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        """Keep jobs that started or ended from a moment on, and those under way, whose counts go on."""
        return rows.filter(Q(job__made_at__gte=start) | Q(job__ended_at__gte=start) | Q(job__ended_at=None))

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        items: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(WorkItem.State.values, 0))
        work_items = WorkItem.objects.using(self.alias).filter(job__in=[values[0] for values in chunk]).order_by()
        for job, state, count in work_items.values_list("job", "state").annotate(Count("pk")):
            items[job][state] = count
        names = self.names
        for pk, campaign, judge, title, state, waiting_for, made_by, made_at, ended_at, *spending in chunk:
            yield {
                "id": pk,
                "campaign": names.slug(campaign),
                "title": names.clean(campaign, title),
                "judge": names.judge(campaign, judge),
                "state": state,
                "waiting_for": names.clean(campaign, waiting_for),
                "made_by": names.person(campaign, made_by),
                "made_at": made_at,
                "ended_at": ended_at,
                "items": items[pk],
                **_spending(spending),
            }


def _spending(values: Sequence[Any]) -> Row:
    spending = dict(zip(SPENDING, values, strict=True))
    money = spending["max_money"]
    return spending | {"max_money": None if money is None else f"{money:f}"}


class Scores(Reader):
    """The runs of a campaign under one condition: no rows, `keyed` computes them."""

    def rows(self) -> QuerySet[Run]:
        return Run.objects.using(self.alias).none()

    def keyed(self, choice: NuggetCondition | CitationCondition, params: dict[str, Any]) -> list[tuple[int, Row]]:
        """Return the runs with their keys. `params`: policies that are named, and `run` where only that is meant."""
        campaign = choice.campaign
        runs = dict(campaign.runs.using(self.alias).values_list("run_id", "pk"))
        rows = [
            (runs[row["run_id"]], self._row(choice, row))
            for row in _figures(choice, policies_of_choice(choice, params))
            if params.get("run") in (None, row["run_id"])
        ]
        return sorted(rows, key=itemgetter(0))

    def keyed_by_topic(
        self, choice: NuggetCondition | CitationCondition, params: dict[str, Any]
    ) -> list[tuple[int, Row]]:
        campaign, scores = choice.campaign, topic_scores(choice, policies_of_choice(choice, params))
        topics = dict(campaign.topics.using(self.alias).values_list("topic_id", "pk"))
        runs = dict(campaign.runs.using(self.alias).values_list("run_id", "pk"))
        labels = self._labels(choice)
        rows = [
            (
                runs[row["run_id"]] * TOPICS + topics[row["topic_id"]],
                {name: (labels | row).get(name) for name in TopicScoreRow.model_fields},
            )
            for row in scores
            if params.get("run") in (None, row["run_id"])
        ]
        return sorted(rows, key=itemgetter(0))

    def _row(self, choice: NuggetCondition | CitationCondition, row: dict[str, Any]) -> Row:
        # Nugget scores are null under a support condition, and support scores under all others.
        return {name: row.get(name) for name in ScoreRow.model_fields} | self._labels(choice)

    def _labels(self, choice: NuggetCondition | CitationCondition) -> Row:
        campaign, sets = choice.campaign, choice.nugget_sets if isinstance(choice, NuggetCondition) else ()
        return {
            "campaign": campaign.slug,
            "condition": str(choice),
            "judge": ", ".join(self.names.judge(campaign.pk, judge.pk) or "" for judge in choice.judges) or None,
            "nugget_set": ", ".join(self.names.nugget_set(nuggets.pk) or "" for nuggets in sets) or None,
        }


def _figures(
    choice: NuggetCondition | CitationCondition, policies: Policies | SupportPolicies
) -> list[dict[str, Any]]:
    if isinstance(choice, NuggetCondition):
        return list(leaderboard(choice, cast(Policies, policies)).rows)
    return support_rows(choice, cast(SupportPolicies, policies))


def policies_of_choice(
    choice: NuggetCondition | CitationCondition, params: dict[str, Any]
) -> Policies | SupportPolicies:
    if isinstance(choice, NuggetCondition):
        return nugget_policies(choice.campaign, params)
    return support_policies(params, choice.campaign.protocol.measure)


def nugget_policies(campaign: Campaign, params: dict[str, Any]) -> Policies:
    profile = Profile(params.get("profile") or profile_of(campaign))
    return Policies(**_policies_in(params, "missing", "unjudged", "no_vital"), profile=profile)


def support_policies(params: dict[str, Any], usual: SupportMeasure) -> SupportPolicies:
    return SupportPolicies(**{"measure": usual} | _policies_in(params, "measure", "missing", "no_cited"))


def _policies_in(params: dict[str, Any], *policies: str) -> dict[str, Any]:
    """Return the policies that are named; the others keep the defaults of reports."""
    return {name: params[name] for name in policies if name in params}


# Above every topic's key: a run's key times this, and the topic's, is the key of both.
TOPICS = 2**32
# A list needs a key that never changes. The task's and the submission's number make one; nobody submits so often.
SUBMISSIONS = 2**16
PLACE = ExpressionWrapper(F("task") * SUBMISSIONS + F("submission"), output_field=BigIntegerField())


class TimeReader(Reader):
    """The times of submissions, the one that is being made too. Withdrawn work does not count."""

    key = "place"
    paths = {"topics": "task__topic", "people": "task__assessor", "stage": "task__stage", "moment": "last_at"}
    values = ("task", "submission", "last_at")
    # Each row is computed from all stretches of its task, and a chunk holds them in memory.
    chunk = 20

    def rows(self) -> QuerySet[Any]:
        seen = TimeSegment.objects.using(self.alias).filter(task__campaign__in=self.seen)
        counting = seen.filter(Task.objects.not_withdrawn_q("task__")).annotate(place=PLACE)
        return counting.values("place", "task", "submission").annotate(last_at=Max("ended_at"))

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        pks = {values[1] for values in chunk}
        tasks = Task.objects.using(self.alias).select_related("topic").in_bulk(pks)
        submitted = set(Submission.objects.using(self.alias).filter(task__in=pks).values_list("task", "version"))
        stretches = stretches_of(TimeSegment.objects.using(self.alias).filter(task__in=pks))
        for _, pk, version, last_at in chunk:
            task, stage = tasks[pk], tasks[pk].stage
            timed = Timed(
                campaign=self.names.slug(task.campaign_id),
                topic_id=task.topic.topic_id,
                stage=stage,
                assessor=self.names.person(task.campaign_id, task.assessor_id) or "",
                version=version,
                submitted=(pk, version) in submitted,
            )
            figures = time_row(TopicTime(timed, measure(stretches[pk, version], limit_of(stage))))
            yield {"task": task.public_id, **{name: figures[name] for name in TIME_COLUMNS}, "last_at": last_at}
