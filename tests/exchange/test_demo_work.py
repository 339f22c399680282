"""The demo's tasks: who tries it finds a desk of every stage, and nothing to wait for."""

from collections import Counter

import pytest
from django.http import QueryDict
from django.test import Client

from accounts.models import User
from assessor.desk.task_progress import pairs_without_llm_label, progress_of
from assessor.practice.items import practice_of
from assessor.progress.today import FEWEST
from evaluation.domain.conditions import resolve
from evaluation.formats.languages import reads
from evaluation.models import Campaign, Membership, Task
from evaluation.terms import Condition, Role, Stage, TaskState
from exchange.demo_campaign import load_demo
from organizer.cost import LABEL, LIST, Prices, cost_page, llm_units, person_units


@pytest.mark.django_db
def test_every_desk_of_the_demo_can_be_tried_at_once() -> None:
    load_demo()
    tasks = list(Task.objects.select_related("protocol", "assessor"))
    assert {task.stage for task in tasks} == set(Stage)
    assert pairs_without_llm_label(tasks) == {}
    asked = [one.labels for one in progress_of([task for task in tasks if Stage(task.stage).judges]).values()]
    assert min(asked) > 0
    practice = [(practice_of(task.assessor, [task.campaign_id]), task) for task in tasks]
    assert all(one.asked(task) and not one.left(task) for one, task in practice)


@pytest.mark.django_db
def test_nobody_of_the_demo_has_a_topic_that_they_do_not_read() -> None:
    load_demo()
    read = dict(Membership.objects.filter(role=Role.ASSESSOR).values_list("user__username", "languages"))
    assert read == {"ann": "en", "ben": "ar en"}
    tasks = Task.objects.select_related("topic", "campaign", "assessor")
    for task in tasks:
        assert reads(read[task.assessor.username], task.topic.language or task.campaign.language), task
    assert {task.topic.language or task.campaign.language for task in tasks} == {"en", "ar"}
    assigned = [
        task.topic.topic_id for task in tasks if task.stage == Stage.ASSIGN and task.assessor.username == "ann"
    ]
    assert sorted(assigned) == ["river-02", "river-04", "river-07"]


@pytest.mark.django_db
def test_the_demo_s_times_forecast_and_costs_are_not_empty(client: Client) -> None:
    load_demo()
    client.force_login(User.objects.get(username="olga"))
    counted = Counter(Task.objects.filter(state=TaskState.SUBMITTED).values_list("stage", flat=True))
    assert min(counted[stage] for stage in Stage) >= FEWEST
    today = client.get("/campaigns/river-study/").content.decode()
    assert "Too little is known for a forecast" not in today
    assert "No forecast" not in today
    activity = client.get("/campaigns/river-study/people/").content.decode()
    assert "min" in activity
    campaign = Campaign.objects.get()
    page = cost_page(campaign, QueryDict())
    costs = person_units(campaign, campaign.hourly_rate)
    assert all(unit.cost and not unit.published for unit in costs.values())
    assert page.content
    paid = llm_units(campaign)
    assert paid.currency == "USD"
    assert all(paid.cost("word-overlap (scripted)", what) for what in (LIST, LABEL))
    prices = Prices(costs, paid, {LIST: None, LABEL: None, "person": None})
    for condition in Condition:
        if condition is not Condition.AM:
            assert None not in prices.of(resolve(campaign, condition)), condition
