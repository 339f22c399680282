"""The demo's tasks: who tries it finds a desk of every stage, and nothing to wait for."""

import pytest

from evaluation.formats.languages import reads
from evaluation.models import Membership, Task
from evaluation.practising import practice_of
from evaluation.terms import Role, Stage
from evaluation.workload import machine_gaps, progress_of
from exchange.demo_campaign import load_demo


@pytest.mark.django_db
def test_every_desk_of_the_demo_can_be_tried_at_once() -> None:
    load_demo()
    tasks = list(Task.objects.select_related("protocol", "assessor"))
    assert {task.stage for task in tasks} == set(Stage)
    assert machine_gaps(tasks) == {}
    asked = [one.asked for one in progress_of([task for task in tasks if Stage(task.stage).judges]).values()]
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
    assert assigned == ["river-07"]
