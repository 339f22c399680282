"""What an organizer reads of a label that was given at a desk: where it was found, and what came before it."""

from pathlib import Path

import pytest
from django.test import Client

from evaluation.models import Assignment, SupportJudgment
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT
from tests.worlds.judging import JudgingWorld, finish, load_machine, make_judging_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


def page_of(world: JudgingWorld, address: str) -> str:
    client = Client()
    client.force_login(world.people["olga"])
    reply = client.get(f"/campaigns/river/labels/{address}/")
    assert reply.status_code == 200
    return " ".join(reply.content.decode().split())


def test_the_place_of_a_nugget_and_the_label_before_the_sweep(world: JudgingWorld) -> None:
    finish(world.hand(ASSIGN, "ann"), 2, sentence=1, first_label=0)
    page = page_of(world, f"assignment/{Assignment.objects.earliest('pk').pk}")
    assert "<dt>Found in sentence 2</dt>" in page
    assert page.count('class="read prewrap here"') == 1
    assert 'Before the consistency check</dt><dd><span class="label tone-3">' in page


def test_a_label_without_a_place_says_nothing_of_one(world: JudgingWorld) -> None:
    finish(world.hand(ASSIGN, "ann"), 2)
    page = page_of(world, f"assignment/{Assignment.objects.earliest('pk').pk}")
    assert "Found in" not in page
    assert "consistency check" not in page


def test_the_machine_s_label_that_was_shown_and_how_long(world: JudgingWorld) -> None:
    load_machine(world, *((run, n, docid, "partial_support") for run, n, docid in
                          (("alpha", 0, "d1"), ("alpha", 1, "d2"), ("gamma", 1, "d2"))))  # fmt: skip
    finish(world.hand(SUPPORT_POST_EDIT, "ann"), 2, shown_label=1, shown_ms=2340, accepted=False, evidence=0)
    page = page_of(world, f"support/{SupportJudgment.objects.exclude(shown_label=None).earliest('pk').pk}")
    assert "Machine label shown" in page
    assert "not taken over; first decision after 2.3 s" in page
    assert "Sentence 1 of the passage:" in page
