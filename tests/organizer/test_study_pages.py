"""The pages of disagreement studies: drawing, handing out, a second LLM, and who may see them."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.judges import add_judge
from evaluation.models import Judge, NuggetSet, Study, StudyPair, Task
from evaluation.stages import ASSIGN
from evaluation.terms import JudgeKind, Origin
from jobs.models import Job, WorkItem
from tests.worlds.campaign import queries_of
from tests.worlds.judging import JudgingWorld, load_nuggets
from tests.worlds.study import (
    EXPERT,
    GIVEN,
    MACHINE,
    STUDY,
    hand_study,
    judge_drawn,
    load_assignments,
    make_study,
    make_study_world,
    window_of,
)

STUDIES = "/campaigns/river/studies/"


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """An expert and a machine who differ on six pairs."""
    return make_study_world(tmp_path)


def client(world: JudgingWorld, name: str = "olga") -> Client:
    found = Client()
    found.force_login(world.people[name])
    return found


def filled(**changes: str) -> dict[str, str]:
    fields = {"name": STUDY, "kind": "assignment", "condition": "scratch", "per_topic": "4", "decoys": "0"}
    fields["seed"] = "3"
    return fields | changes


def test_a_study_is_drawn_and_handed_out(world: JudgingWorld) -> None:
    olga = client(world)
    page = olga.get(STUDIES).content.decode()
    assert "No second look has been drawn yet" in page
    made = olga.post(f"{STUDIES}new/", filled(stratified="on"), follow=True)
    study = Study.objects.get()
    assert made.redirect_chain[-1][0] == reverse("organizer:study", args=["river", study.pk])
    assert (study.per_topic, study.seed, study.stratified, StudyPair.objects.count()) == (4, 3, True, 4)
    address = f"{STUDIES}{study.pk}/"
    given = olga.post(f"{address}hand-out/", {"assessor": "ann"}, follow=True).content.decode()
    assert "Tasks handed out: 1." in given
    task = Task.objects.get()
    assert reverse("organizer:task", args=["river", task.public_id]) in given
    repeated = olga.post(f"{address}hand-out/", {"assessor": "ann"})
    assert repeated.status_code == 422
    assert "has or had its answers to judge" in repeated.content.decode()
    listed = olga.get(STUDIES).content.decode()
    assert "0 of 1 task submitted" in listed
    unassigned = olga.get("/campaigns/river/work/", {"state": "not handed out"}).content.decode()
    assert "why rivers bend" in unassigned  # a study asks for a part of it
    work = olga.get("/campaigns/river/work/").content.decode()
    assert STUDIES in work
    card = olga.get("/campaigns/river/work/", {"card": task.public_id}).content.decode()
    assert f"second look {STUDY}" in card
    assert STUDY in olga.get(reverse("organizer:task", args=["river", task.public_id])).content.decode()


def test_the_page_shows_who_agrees_with_whom(world: JudgingWorld) -> None:
    study = make_study(world)
    judge_drawn(window_of(world, hand_study(world, study)))
    page = client(world).get(f"{STUDIES}{study.pk}/").content.decode()
    own = Judge.objects.get(study=study).name
    for text in (EXPERT, MACHINE, own, "independent assessor", "50.0", "submitted"):
        assert text in page
    assert page.count(f"<bdi>{own}</bdi>") == 3


def test_the_form_says_what_decoys_are_and_mixes_in_one_in_four(world: JudgingWorld) -> None:
    olga = client(world)
    form = olga.get(f"{STUDIES}new/")
    assert form.context["form"]["decoys"].initial == 25
    assert "Decoys are pairs on which both agree" in " ".join(form.content.decode().split())
    olga.post(f"{STUDIES}new/", filled(per_topic="6", decoys="25"))
    study = Study.objects.get()
    page = " ".join(olga.get(f"{STUDIES}{study.pk}/").content.decode().split())
    assert "2 pairs on which the two agree, 25 % of each topic" in page
    assert "6 of 1 topic, and 2 decoys" in olga.get(STUDIES).content.decode()


def test_a_second_llm_gets_a_job_over_the_pairs(world: JudgingWorld) -> None:
    add_judge(name="second", kind=JudgeKind.LLM, model="m")
    study = make_study(world)
    address = f"{STUDIES}{study.pk}/"
    assert "Second LLM" in client(world).get(address).content.decode()
    started = client(world).post(f"{address}judge/", {"judge": "second"})
    job = Job.objects.get()
    assert started["Location"] == reverse("organizer:job", args=["river", job.pk])
    assert (job.title, WorkItem.objects.count()) == (f"Study {STUDY}", 3)
    refused = client(world).post(f"{address}judge/", {"judge": MACHINE})
    assert (refused.status_code, Job.objects.count()) == (422, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "Name"),
        ({"per_topic": "0"}, "Pairs of each topic"),
        ({"judge": "nobody"}, "LLM"),
        ({"kind": "support", "condition": "post-edit"}, "No person has such labels here"),
    ],
)
def test_a_form_that_makes_no_sense_says_so(world: JudgingWorld, changes: dict[str, str], message: str) -> None:
    answer = client(world).post(f"{STUDIES}new/", filled(**changes))
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("person", "reads", "acts"), [("olga", 200, 422), ("rita", 200, 403), ("ann", 404, 404), ("sam", 404, 404)]
)
def test_who_may_read_and_who_may_act(world: JudgingWorld, person: str, reads: int, acts: int) -> None:
    study = make_study(world)
    someone, address = client(world, person), f"{STUDIES}{study.pk}/"
    assert [someone.get(page).status_code for page in (STUDIES, address)] == [reads, reads]
    for name in ("hand-out/", "judge/", "../new/"):
        assert someone.post(f"{address}{name}" if name[0] != "." else f"{STUDIES}new/", {}).status_code == acts


def test_an_organizer_with_a_task_is_shut_out(world: JudgingWorld) -> None:
    study = make_study(world)
    task = world.hand(ASSIGN, "ben", nuggets="edited")
    Task.objects.filter(pk=task.pk).update(assessor=world.people["olga"])
    assert client(world).get(f"{STUDIES}{study.pk}/").status_code == 404


def test_another_campaign_s_study_is_not_found(world: JudgingWorld) -> None:
    assert client(world).get(f"{STUDIES}999999/").status_code == 404


def test_the_list_takes_as_many_queries_however_many_studies(world: JudgingWorld) -> None:
    make_study(world)
    olga = client(world)
    olga.get(STUDIES)
    few = queries_of(olga, STUDIES)
    for number in range(3):
        make_study(world, name=f"more {number}", seed=number)
    assert queries_of(olga, STUDIES) == few


def test_the_form_s_own_choices_draw_where_several_fit(world: JudgingWorld) -> None:
    load_nuggets(world, "a-list", Origin.MANUAL)  # nobody has labelled it, and it stands first by its name
    load_assignments(world, "another-robot", JudgeKind.LLM, GIVEN[MACHINE])
    form = client(world).get(f"{STUDIES}new/").context["form"]
    choices = {
        name: form[name].initial or form[name].field.choices[0][0] for name in ("nuggets", "person", "judge")
    }
    assert choices == {"nuggets": "edited", "person": EXPERT, "judge": "another-robot"}
    answer = client(world).post(f"{STUDIES}new/", filled(**choices))
    assert answer.status_code == 302
    assert Study.objects.get().nugget_set == NuggetSet.objects.get(name="edited")


def test_whoever_has_no_such_labels_is_named_beside_the_field(world: JudgingWorld) -> None:
    load_assignments(world, "another-robot", JudgeKind.LLM, GIVEN[MACHINE])
    answer = client(world).post(f"{STUDIES}new/", filled(kind="support", judge="another-robot"))
    assert answer.status_code == 422
    error = f"another-robot has no such labels; choose one of {MACHINE}"
    assert f'_error">{error}</span>' in answer.content.decode()
    left_empty = client(world).post(f"{STUDIES}new/", filled()).content.decode()
    assert "--judge" not in left_empty
    assert "LLM: This field is required." in left_empty


def test_whoever_may_have_none_is_listed_with_the_reason(world: JudgingWorld) -> None:
    study = make_study(world)
    hand_study(world, study)
    page = client(world).get(f"{STUDIES}{study.pk}/").content.decode()
    offered = page[page.index('<select name="assessor"') :].partition("</select>")[0]
    free, _, refused = offered.partition('<optgroup label="May have none of its topics">')
    assert ">ben<" in free
    assert "has or had its answers to judge." in refused
