"""Pages of random checks: the list, drawing one with a preview, judging, growing, extending, and who may see them."""

import html
import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.models import Assignment, Event, RandomCheckPair, Study, StudyPair, Task
from evaluation.terms import JudgeKind, StudyKind
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from tests.worlds.campaign import queries_of
from tests.worlds.judging import JudgingWorld
from tests.worlds.study import (
    EXPERT,
    MACHINE,
    judge_drawn,
    make_study,
    make_study_world,
    window_of,
)

CHECKS = "/campaigns/river/random-checks/"
NEW = f"{CHECKS}new/"
LABELS = json.dumps(["assignment", "edited", MACHINE])


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """Three runs of three pairs each, all labelled by a machine and by an expert."""
    return make_study_world(tmp_path)


def client(world: JudgingWorld, name: str = "olga") -> Client:
    found = Client()
    found.force_login(world.people[name])
    return found


def make_check(world: JudgingWorld, name: str = "is it right", per_run: int = 2) -> Study:
    order = RandomCheckOrder(name, StudyKind.ASSIGNMENT, per_run=per_run, least=1, seed="s")
    return create_random_check(campaign=world.campaign, order=order)


def judged_check(world: JudgingWorld) -> Study:
    study = make_check(world)
    client(world).post(reverse("organizer:hand_out_study", args=["river", study.pk]), {"assessor": "ann"})
    judge_drawn(window_of(world, Task.objects.get(study=study)))
    return study


def filled(**changes: str | list[str]) -> dict[str, str | list[str]]:
    return {"name": "check", "labels": LABELS, "per_run": "20", "seed": "rivers"} | changes


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page[page.index("<main") :])))


def test_an_empty_list_has_one_button(world: JudgingWorld) -> None:
    page = client(world).get(CHECKS).content.decode()
    main = page[page.index("<main") :]
    assert "No random check has been drawn yet" in main
    assert main.count(f'href="{NEW}"') == 1


def test_the_form_shows_what_it_would_draw(world: JudgingWorld) -> None:
    shown = words_of(client(world).get(NEW).content.decode())
    assert "3 runs, about 50 each: 9 of 9 pairs" in shown
    assert "not known yet" in shown
    assert "95 % interval will be is not known yet" in shown
    assert "Draw 9 pairs" in shown
    fewer = client(world).post(NEW, filled(runs=["alpha"]))
    assert (fewer.status_code, Study.objects.count()) == (200, 0)
    assert "Draw 3 pairs" in words_of(fewer.content.decode())
    known = words_of(client(world).post(NEW, filled(known=[EXPERT])).content.decode())
    assert "0 of 9 pairs, beside 9 known" in known


def test_a_check_of_known_pairs_alone_is_complete(world: JudgingWorld) -> None:
    made = client(world).post(NEW, filled(known=[EXPERT], draw="1"), follow=True).content.decode()
    assert "0 of 9 pairs, beside 9 known" in made
    assert "0 of 0 complete" in words_of(client(world).get(CHECKS).content.decode())


def test_a_preview_says_what_a_draw_then_does(world: JudgingWorld) -> None:
    olga, order = client(world), filled(runs=["alpha", "beta"])
    shown = words_of(olga.post(NEW, order).content.decode())
    assert "2 runs, about 20 each: 6 of 6 pairs" in shown
    made = olga.post(NEW, order | {"draw": "1"}, follow=True)
    study = Study.objects.get()
    assert made.redirect_chain[-1][0] == reverse("organizer:random_check", args=["river", study.pk])
    assert "Drawn: 2 runs, about 20 each: 6 of 6 pairs." in words_of(made.content.decode())
    assert (StudyPair.objects.count(), RandomCheckPair.objects.count()) == (6, 6)
    assert (study.design["seed"], study.judge.name) == ("rivers", MACHINE)
    assert study.event.actor == world.people["olga"]


def test_hours_come_from_the_campaign_s_times(world: JudgingWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assessor.timing.times.seconds_a_label", lambda *_: 1200.0)
    assert "Hours of judging 3 h 00 min" in words_of(client(world).get(NEW).content.decode())
    study = make_check(world)
    assert "6 pairs, about 2 h 00 min" in words_of(client(world).get(f"{CHECKS}{study.pk}/").content.decode())
    assert "0 of 6 2 h 00 min not handed out" in words_of(client(world).get(CHECKS).content.decode())


@pytest.mark.parametrize(
    ("changes", "field", "error"),
    [
        ({"per_run": "19"}, "Pairs a run", "Expected at least 20, found"),
        ({"seed": ""}, "Seed", "required"),
        ({"seed": "x" * 61}, "Seed", "at most 60 characters"),
        ({"name": ""}, "Name", "required"),
        ({"labels": "nobody's"}, "Labels to check", "Select a valid choice"),
        ({"known": "nobody"}, "Labels that people gave before", "Select a valid choice"),
        ({"name": "is it right"}, "Name", "There is a check or second look is it right already"),
    ],
)
def test_bad_input_has_its_error_and_stays(
    world: JudgingWorld, changes: dict[str, str | list[str]], field: str, error: str
) -> None:
    make_check(world)
    answer = client(world).post(NEW, filled(topics=["t1"]) | changes | {"draw": "1"})
    page = answer.content.decode()
    assert (answer.status_code, Study.objects.count()) == (422, 1)
    assert error in html.unescape(page)
    assert f"{field}: " in html.unescape(page)
    assert all(
        f'value="{html.escape(str(value))}"' in page
        for value in changes.values()
        if value not in {"", "nobody", "nobody's"}
    )
    assert re.search(r'value="t1"[^>]* checked', page)


def test_without_labels_of_an_llm_there_is_no_form(world: JudgingWorld) -> None:
    Assignment.objects.filter(judge__kind=JudgeKind.LLM).delete()
    world.campaign.refresh_from_db()
    shown = client(world).get(NEW).content.decode()
    assert LABELS not in html.unescape(shown)


def test_a_check_is_handed_out_judged_and_shown(world: JudgingWorld) -> None:
    study = make_check(world)
    olga, address = client(world), f"{CHECKS}{study.pk}/"
    page = words_of(olga.get(address).content.decode())
    assert "0 of 2 judged" in page
    assert "neither what the LLM said" in page
    given = olga.post(
        reverse("organizer:hand_out_study", args=["river", study.pk]), {"assessor": "ann"}, follow=True
    )
    assert "Tasks handed out: 1." in given.content.decode()
    assert "0 of 1 task submitted" in words_of(olga.get(CHECKS).content.decode())
    judge_drawn(window_of(world, Task.objects.get(study=study)))
    page = words_of(olga.get(address).content.decode())
    assert "too few judgments" in page
    # The machine says of alpha: not, partial, not; of beta partial, support, partial.
    assert re.search(r"beta ● support 1 1 0 1 0 in 1 of 1", page)
    assert re.search(r"alpha ◐ partial support 1 1 0 1 0 in 0 of 1", page)
    assert "6 of 6 complete" in words_of(olga.get(CHECKS).content.decode())
    rows = olga.get(reverse("reports:study_table", args=["river", study.pk, "json"])).json()["runs"]
    assert {row["judged"] for row in rows if row["drawn"]} == {2}


def test_a_check_grows_and_says_by_how_many(world: JudgingWorld) -> None:
    study = judged_check(world)
    address = f"{CHECKS}{study.pk}/"
    grown = client(world).post(f"{address}grow/", {"per_run": "3"}, follow=True)
    assert "Drawn: 3 pairs more to judge." in grown.content.decode()
    assert StudyPair.objects.filter(study=study).count() == 9
    assert Event.objects.filter(kind="study.grown", actor=world.people["olga"]).count() == 1
    repeated = client(world).post(f"{address}grow/", {"per_run": "3"})
    assert repeated.status_code == 422
    assert "have 3 pairs or more drawn already" in repeated.content.decode()
    assert 'name="per_run" value="3"' in repeated.content.decode()


def test_extend_is_offered_where_pairs_are_outside(world: JudgingWorld) -> None:
    order = RandomCheckOrder("one run", StudyKind.ASSIGNMENT, per_run=3, least=1)
    study = create_random_check(campaign=world.campaign, order=order)
    address = f"{CHECKS}{study.pk}/"
    assert "extend/" not in client(world).get(address).content.decode()
    assert client(world).post(f"{address}extend/").status_code == 422
    StudyPair.objects.filter(study=study).delete()
    RandomCheckPair.objects.filter(study=study, judge_label=0).delete()
    page = client(world).get(address).content.decode()
    assert "2 pairs came after the draw" in page
    extended = client(world).post(f"{address}extend/", follow=True).content.decode()
    assert "Drawn: 2 pairs more to judge." in extended
    assert "came after the draw" not in extended


@pytest.mark.parametrize(
    ("person", "reads", "acts"), [("olga", 200, 422), ("rita", 404, 403), ("ann", 404, 404), ("sam", 404, 404)]
)
def test_only_organizers_see_what_is_under_way(world: JudgingWorld, person: str, reads: int, acts: int) -> None:
    study = make_check(world)
    someone, address = client(world, person), f"{CHECKS}{study.pk}/"
    assert someone.get(address).status_code == reads
    for target in (f"{address}grow/", f"{address}extend/", NEW):
        assert someone.post(target, {"draw": "1"}).status_code == acts


def test_researchers_see_complete_checks(world: JudgingWorld) -> None:
    rita = client(world, "rita")
    make_check(world, "under way")
    assert "No random check is complete yet" in rita.get(CHECKS).content.decode()
    study = judged_check(world)
    listed = rita.get(CHECKS).content.decode()
    assert "is it right" in listed
    assert "under way" not in listed
    page = rita.get(f"{CHECKS}{study.pk}/").content.decode()
    assert "LLM right" in page
    assert "<summary>Grow" not in page


def test_the_address_of_a_second_look_leads_to_the_check(world: JudgingWorld) -> None:
    study, look = make_check(world), make_study(world)
    olga = client(world)
    assert olga.get(reverse("organizer:study", args=["river", study.pk]))["Location"] == f"{CHECKS}{study.pk}/"
    assert olga.get(f"{CHECKS}{look.pk}/").status_code == 404
    listed = olga.get("/campaigns/river/studies/").content.decode()
    assert study.name not in listed
    assert look.name in listed


def test_the_palette_finds_random_checks(world: JudgingWorld) -> None:
    groups = client(world).get("/campaigns/river/find/", {"words": "random"}).json()["groups"]
    assert CHECKS in json.dumps(groups)


def test_the_list_takes_as_many_queries_however_many(world: JudgingWorld) -> None:
    make_check(world)
    olga = client(world)
    olga.get(CHECKS)
    few = queries_of(olga, CHECKS)
    for number in range(3):
        make_check(world, f"more {number}")
    assert queries_of(olga, CHECKS) == few
