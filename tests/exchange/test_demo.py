"""The demo: who tries it finds a desk of every stage, every report filled, and something of all that may happen."""

import re
from collections import Counter

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import User
from assessor.desk.context import pairs_without_llm_label
from assessor.desk.task_progress import progress_of
from assessor.models import TimeSegment
from assessor.practice.items import practice_of
from assessor.progress.today import FEWEST
from evaluation.campaigns.create import preset_of
from evaluation.domain.conditions import resolve
from evaluation.formats.languages import reads
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Citation,
    ListedNugget,
    Membership,
    Protocol,
    Remark,
    Sentence,
    Study,
    Task,
    Topic,
)
from evaluation.stages import ASSIGN, GRADE, STAGES
from evaluation.terms import Condition, DrawKind, RemarkKind, Role, TaskState
from exchange.demo_campaign import EMPTY_SLUG, HARBOUR_SLUG, SLUG
from exchange.models import Snapshot
from jobs.models import Job, WorkItem
from llmjobs.models import Attempt, LlmJob
from loadtest.demo.campaign import JUDGES, LLMS
from organizer.cost import LABEL, LIST, Prices, cost_page, llm_units, person_units
from reports.metrics.confusion import confusion
from reports.metrics.policies import Policies
from reports.metrics.registry import PRIMARY
from reports.quality.people import shared_by_people
from reports.random_checks.corrected import corrected_report
from reports.random_checks.drawing import PER_RUN
from reports.random_checks.frame import check_counts
from reports.random_checks.state import random_check_state
from reports.registry import pages
from tests.worlds.demo import make_demo

pytestmark = pytest.mark.django_db
ARABIC = "river-06"
APART = 0.15
"""Less agreement than on the whole by so much is a weakness."""


@pytest.fixture(autouse=True)
def _demo() -> None:
    make_demo()


def organizer() -> User:
    return User.objects.get(username="olga")


def demo() -> Campaign:
    return Campaign.objects.get(slug=SLUG)


def harbour() -> Campaign:
    return Campaign.objects.get(slug=HARBOUR_SLUG)


def test_every_desk_of_the_demo_can_be_tried_at_once() -> None:
    tasks = list(Task.objects.select_related("protocol", "assessor"))
    assert {task.stage for task in tasks} == set(STAGES)
    assert pairs_without_llm_label(tasks) == {}
    label_counts = [
        progress.labels for progress in progress_of([task for task in tasks if task.stage.judges]).values()
    ]
    assert min(label_counts) > 0
    river = [task for task in tasks if task.campaign_id == demo().pk]
    practice = [(practice_of(task.assessor, [task.campaign_id]), task) for task in river]
    assert all(items.items_before(task) and not items.left(task) for items, task in practice)


def test_nobody_of_the_demo_has_a_topic_that_they_do_not_read() -> None:
    members = Membership.objects.filter(role=Role.ASSESSOR, campaign=demo())
    read = dict(members.values_list("user__username", "languages"))
    assert read == {"ann": "en", "ben": "ar en", "cleo": "en", "dalal": "ar", "ewan": "en"}
    tasks = Task.objects.filter(campaign=demo()).select_related("topic", "campaign", "assessor")
    for task in tasks:
        assert reads(read[task.assessor.username], task.topic.language or task.campaign.language), task
    assert {task.assessor.username for task in tasks if task.topic.topic_id == ARABIC} == {"dalal"}


def test_ann_s_first_task_is_in_english(client: Client) -> None:
    client.force_login(User.objects.get(username="ann"))
    page = client.get(reverse("assessor:home")).content.decode()
    texts = {topic.text: topic.topic_id for topic in Topic.objects.filter(campaign=demo())}
    first = min((text for text in texts if text in page), key=page.index)
    assert texts[first] != ARABIC


def test_ann_has_read_what_she_submitted_and_half_of_what_she_began(client: Client) -> None:
    client.force_login(User.objects.get(username="ann"))
    page = re.sub(r"<[^>]+>", "", client.get(reverse("assessor:home")).content.decode())
    read = [(int(read), int(passages)) for read, passages in re.findall(r"(\d+) of (\d+) read", page)]
    assert [passages // 2 for _, passages in read[:1]] == [read[0][0]]
    assert read[1][0] == 0
    assert len(read) > 2
    assert all(number == passages for number, passages in read[2:])


def test_the_demo_has_its_topics_runs_and_campaigns() -> None:
    topics = Topic.objects.filter(campaign=demo())
    assert (topics.count(), topics.filter(language="ar").count()) == (8, 1)
    runs = demo().runs
    assert (runs.filter(control=False).count(), runs.filter(control=True).count()) == (6, 1)
    assert list(Protocol.objects.filter(campaign=demo()).values_list("version", flat=True)) == [1, 2]
    # An answer is missing, and one is empty.
    assert AnswerProvenance.objects.filter(topic__campaign=demo()).count() == 8 * 7 - 1
    empty = Campaign.objects.get(slug=EMPTY_SLUG)
    assert not Topic.objects.filter(campaign=empty).exists()
    assert [member.user for member in Membership.objects.filter(campaign=empty)] == [organizer()]


def test_one_task_is_late_one_blocked_by_a_flag_one_reopened() -> None:
    tasks = Task.objects.filter(campaign=demo())
    late = tasks.filter(due__lt=timezone.localdate()).exclude(state=TaskState.SUBMITTED)
    assert late.count() == 1
    (blocked,) = tasks.filter(state=TaskState.BLOCKED)
    (flag,) = Remark.objects.filter(kind=RemarkKind.FLAG, answered_at=None)
    assert flag.task == blocked
    (reopened,) = tasks.filter(state=TaskState.REOPENED)
    assert (reopened.version, bool(reopened.reopened_reason)) == (2, True)


def test_each_stage_has_three_submissions_with_their_times() -> None:
    timed = Task.objects.filter(pk__in=TimeSegment.objects.values("task"), submissions__isnull=False, study=None)
    counted = Counter(timed.values_list("stage", flat=True))
    assert min(counted[stage] for stage in STAGES.values()) >= FEWEST
    assert len({task.assessor_id for task in timed}) == 7
    for special in ({"gap_answer": "away"}, {"offline": True}):
        assert TimeSegment.objects.filter(**special).values("task").distinct().count() == 1


def test_people_judged_120_pairs_twice_in_six_topics() -> None:
    nuggets = next(shared for shared in shared_by_people(organizer(), demo()) if shared.stage is ASSIGN)
    pair = max(nuggets.pairs, key=lambda pair: pair.items)
    assert pair.items >= 120
    assert pair.topics == 6


def test_half_of_a_second_look_is_done() -> None:
    tasks = Task.objects.filter(study__draw=DrawKind.DISAGREEMENTS)
    assert Counter(tasks.values_list("state", flat=True)) == {TaskState.SUBMITTED: 2, TaskState.NOT_STARTED: 2}


def test_one_random_check_is_complete_and_one_half_done() -> None:
    nuggets, citations = Study.objects.filter(draw=DrawKind.RANDOM).order_by("pk")
    report = corrected_report(random_check_state(nuggets, Policies()), PRIMARY)
    assert report.complete
    assert report.neighbours
    assert all(run.corrected[0] is not None and run.judged == PER_RUN for run in report.runs)
    tasks = Counter(Task.objects.filter(study=citations).values_list("state", flat=True))
    assert tasks[TaskState.SUBMITTED] == tasks[TaskState.NOT_STARTED] > 0
    counts = check_counts([citations])[citations.pk]
    assert 0 < counts.answered < counts.drawn


def test_jobs_are_done_retried_and_paused_all_with_a_price() -> None:
    jobs = LlmJob.objects.filter(campaign=demo())
    assert all(job.prompt_tokens and job.completion_tokens and job.prompt_price for job in jobs)
    states = Counter(job.job.state for job in jobs)
    assert states == {Job.State.DONE: 2, Job.State.PAUSED: 1}
    assert WorkItem.objects.filter(job__llm__isnull=False, attempt=2, state=WorkItem.State.DONE).count() == 2
    assert Attempt.objects.filter(error="timeout").count() == 2
    (slow,) = jobs.filter(job__state=Job.State.PAUSED)
    states = Counter(slow.job.items.values_list("state", flat=True))
    assert states == {WorkItem.State.DONE: 4, WorkItem.State.QUEUED: 10}


def test_labels_were_given_after_the_snapshot(client: Client) -> None:
    client.force_login(organizer())
    page = client.get(reverse("organizer:today", args=[SLUG])).content.decode()
    (snapshot,) = Snapshot.objects.filter(campaign=demo())
    assert "out of date" in page
    assert f"last snapshot {date_format(timezone.localtime(snapshot.made_at), 'j M Y, H:i')}" in page


@pytest.mark.parametrize("judge", LLMS)
def test_one_judge_is_weak_at_partial_labels_and_at_arabic(judge: str) -> None:
    given = Assignment.objects.filter(nugget_version__nugget__nugget_set__name="edited", label__lte=2)
    fields = ("answer", "nugget_version", "label", "answer__topic__topic_id")
    mine = {
        (a, n): (label, topic)
        for a, n, label, topic in given.filter(judge__name=JUDGES[judge]).values_list(*fields)
    }
    people = given.filter(judge__kind="human", judge__study=None)
    pairs = np.array(
        [(*mine[a, n], label) for a, n, label, _ in people.values_list(*fields) if (a, n) in mine], dtype=object
    )
    labels, topics, theirs = pairs[:, 0].astype(np.int8), pairs[:, 1], pairs[:, 2].astype(np.int8)
    whole, arabic = confusion(labels, theirs, 3), confusion(labels[topics == ARABIC], theirs[topics == ARABIC], 3)
    partial = [labels == 1, theirs == 1]
    assert min(arabic.pairs, *(int(partial_pairs.sum()) for partial_pairs in partial)) >= 30
    assert whole.agreement
    assert whole.kappa
    assert arabic.kappa
    agreed = [float((labels == theirs)[partial_pairs].mean()) for partial_pairs in partial]
    assert [share < whole.agreement - APART for share in agreed] == [judge == "reed"] * 2
    assert (arabic.kappa < whole.kappa - APART) is (judge == "reed")


@pytest.mark.parametrize(
    ("report", "slug"),
    [
        (report, slug)
        for report in ("methods", *pages())
        for slug in (SLUG, HARBOUR_SLUG)
        if (report, slug) != ("battles", SLUG)  # the other campaign has them
    ],
)
def test_every_report_page_shows_figures(report: str, slug: str, client: Client) -> None:
    client.force_login(organizer())
    response = client.get(reverse(f"reports:{report}", args=[slug]))
    page = response.content.decode()
    assert response.status_code == 200
    assert "Nothing to show" not in page
    assert "note-warn" not in page
    assert page.count("<td") > 3


def test_the_demo_s_times_forecast_and_costs_are_not_empty(client: Client) -> None:
    client.force_login(organizer())
    today = client.get(f"/campaigns/{SLUG}/").content.decode()
    assert "Too little is known for a forecast" not in today
    assert "No forecast" not in today
    activity = client.get(f"/campaigns/{SLUG}/people/").content.decode()
    assert "min" in activity
    campaign = demo()
    page = cost_page(campaign, QueryDict())
    costs = person_units(campaign, campaign.hourly_rate)
    known = {
        stage
        for where in (campaign, harbour())
        for stage, unit in person_units(where, where.hourly_rate).items()
        if unit.cost and not unit.published
    }
    assert known == set(STAGES)
    assert page.content
    paid = llm_units(campaign)
    assert paid.currency == "USD"
    assert all(paid.cost("word-overlap (scripted)", what) for what in (LIST, LABEL))
    prices = Prices(costs, paid, {LIST: None, LABEL: None, "person": None})
    for condition in Condition:
        if condition is not Condition.AM:
            assert None not in prices.of(resolve(campaign, condition)), condition


def test_one_campaign_of_the_demo_has_the_form_of_2026() -> None:
    campaign = harbour()
    preset = preset_of("trec-rag-2026").protocol.model_dump(exclude_none=True)
    protocol = {name: getattr(campaign.protocol, name) or 0 for name in preset}
    assert protocol == preset
    texts = campaign.segments.filter(has_text=True).values_list("text", flat=True)
    assert sorted(len(text.split()) > 3_000 for text in texts)[-5:] == [True] * 5
    cited = Counter(Citation.objects.filter(segment__campaign=campaign).values_list("sentence"))
    assert {1, 2, 3} == set(cited.values())
    weights = ListedNugget.objects.filter(nugget_list__nugget_set__campaign=campaign).values_list(
        "weight", flat=True
    )
    known = [weight for weight in weights if weight is not None]
    assert len(known) == len(weights)
    assert min(known) < 0 < max(known)
    markdown = Sentence.objects.filter(answer__topic__campaign=campaign).values_list("text", flat=True)
    assert {text[:2] for text in markdown} >= {"##", "- ", "| "}


def test_people_of_the_demo_grade_passages_twice_beside_two_graders() -> None:
    grades = next(shared for shared in shared_by_people(organizer(), harbour()) if shared.stage is GRADE)
    assert max(pair.items for pair in grades.pairs) == 10
    assert set(harbour().qrel_sources.values_list("name", flat=True)) == {
        *("UMBRELA", "sub-narratives"),
        *("grade-Finn Ferry", "grade-Greta Gale"),
    }
