"""How people agree where several labelled the same."""

from pathlib import Path

import krippendorff
import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from evaluation.labels import AssignmentLabel
from evaluation.models import Assignment, Judge, Task
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH
from evaluation.terms import JudgeKind
from reports.quality.people import Shared, shared_by_people
from tests.worlds.campaign import World, queries_of
from tests.worlds.judging import JudgingWorld, finish, give, load_machine, make_judging_world

QUALITY = reverse("organizer:quality", args=["river"])


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


def client_of(world: JudgingWorld, name: str = "olga") -> Client:
    return World(world.campaign, world.people).client(name)


def page_of(world: JudgingWorld) -> str:
    return " ".join(client_of(world).get(QUALITY).content.decode().split())


def shared(world: JudgingWorld) -> Shared:
    [found] = shared_by_people(world.people["olga"], type(world.campaign).objects.get())
    return found


def both_assign(world: JudgingWorld, *labels: int) -> None:
    finish(world.hand(ASSIGN, "ann"), label=2)
    finish(world.hand(ASSIGN, "ben", again=True), label=2)
    mine = Assignment.objects.filter(judge__user=world.people["ben"]).order_by("pk")
    for number, assignment in enumerate(mine):
        assignment.label = labels[number % len(labels)]
        assignment.save()
    type(world.campaign).objects.update(revision=99)


def test_34_alpha_on_the_overlap_set_is_that_of_the_reference_package(world: JudgingWorld) -> None:
    both_assign(world, 2, 1, 2, 0, 8)
    rows = Assignment.objects.filter(judge__kind=JudgeKind.HUMAN).values_list(
        "judge__user__username", "answer", "nugget_version", "label"
    )
    found = {(name, answer, wording): label for name, answer, wording, label in rows}
    items = sorted({key[1:] for key in found})
    data = np.array([[found[name, *item] for item in items] for name in ("ann", "ben")], dtype=float)
    data[data > 2] = np.nan
    expected = krippendorff.alpha(data, level_of_measurement="ordinal", value_domain=[0, 1, 2])
    figures = shared(world).overlap
    usable = ~np.isnan(data).any(axis=0)
    assert figures.alpha == pytest.approx(expected)
    assert figures.units == usable.sum()
    assert figures.agreement == pytest.approx((data[0] == data[1])[usable].mean())
    assert f"n = {figures.units}" in page_of(world)


def test_34_of_equal_labels_alpha_is_undefined_and_n_is_given(world: JudgingWorld) -> None:
    both_assign(world, 2)
    page, figures = page_of(world), shared(world).overlap
    assert figures.units > 0
    assert "<b>undefined: all labels equal</b>" in page
    assert f"(ordinal, three labels, n = {figures.units})" in page
    assert "100 %" in page
    assert "Nowhere." in page


def test_items_of_one_person_alone_are_not_in_it(world: JudgingWorld) -> None:
    finish(world.hand(ASSIGN, "ann"))
    assert "Nothing has been labelled by two people yet." in page_of(world)
    give(world.hand(ASSIGN, "ben", again=True))
    assert "Nothing has been labelled by two people yet." in page_of(world)


def test_differences_list_both_labels_and_lead_to_the_pair(world: JudgingWorld) -> None:
    both_assign(world, 2, 0, 1)
    page, found = page_of(world), shared(world)
    places = found.differing().tolist()
    first = found.keys[places[0]]
    assert abs(int(found.labels[0, places[0]]) - int(found.labels[1, places[0]])) == 2
    assert reverse("reports:nuggets_pair", args=["river", *first]) in page
    assert "not support" in page
    assert f"{len(places)} items, labels furthest apart first" in page
    assert client_of(world).get(reverse("reports:nuggets_pair", args=["river", *first])).status_code == 200


def test_two_by_two_has_counts_and_a_matrix(world: JudgingWorld) -> None:
    both_assign(world, 2, 0, 1)
    [pair] = shared(world).pairs
    assert (pair.first.name, pair.second.name, pair.items) == ("ann", "ben", len(shared(world).keys))
    counts = shared(world).confusion(pair).confusion.counts
    assert counts[2].sum() == counts.sum() == pair.items
    page = page_of(world)
    assert "<bdi>ann</bdi> and <bdi>ben</bdi>" in page
    assert "Rows the nugget labels of ann, columns those of ben" in page


def test_llms_studies_and_withdrawn_labels_are_not_in_it(world: JudgingWorld) -> None:
    both_assign(world, 2, 0)
    Judge.objects.filter(user=world.people["ben"]).update(aside=True)
    type(world.campaign).objects.update(revision=100)
    assert "Nothing has been labelled by two people yet." in page_of(world)
    Judge.objects.filter(user=world.people["ben"]).update(aside=False)
    Assignment.objects.filter(judge__user=world.people["ben"]).update(stands=False)
    type(world.campaign).objects.update(revision=101)
    assert "Nothing has been labelled by two people yet." in page_of(world)


def test_the_two_conditions_of_support_are_not_mixed(world: JudgingWorld) -> None:
    pairs = (("alpha", 0, "d1"), ("alpha", 1, "d2"), ("gamma", 1, "d2"))
    load_machine(world, *((*pair, "full_support") for pair in pairs))
    finish(world.hand(SUPPORT_POST_EDIT, "ann"), label=1)
    finish(world.hand(SUPPORT_SCRATCH, "ben"), label=2)
    assert "Nothing has been labelled by two people yet." in page_of(world)


def test_what_cannot_be_judged_is_no_disagreement(world: JudgingWorld) -> None:
    both_assign(world, AssignmentLabel.CANT_JUDGE)
    page = page_of(world)
    assert "<b>undefined: no item has two labels</b>" in page
    assert "Nowhere." in page


def test_an_assessor_and_an_organizer_who_judges_get_none_of_it(world: JudgingWorld) -> None:
    task = world.hand(ASSIGN, "ann")
    assert client_of(world, "ann").get(QUALITY).status_code == 404
    Task.objects.filter(pk=task.pk).update(assessor=world.people["olga"])
    assert client_of(world).get(QUALITY).status_code == 404


def test_more_labels_cost_no_more_queries(world: JudgingWorld) -> None:
    client = client_of(world)
    both_assign(world, 2, 2, 2, 0)
    client.get(QUALITY)
    before = queries_of(client, QUALITY)
    Assignment.objects.filter(judge__user=world.people["ben"]).update(label=1)
    type(world.campaign).objects.update(revision=100)
    client.get(QUALITY)
    assert queries_of(client, QUALITY) == before
