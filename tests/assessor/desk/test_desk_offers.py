"""What a protocol forbids at the nugget desks is in no response: the search for a nugget's own words, taking words."""

import pytest

from assessor.models import Operation
from evaluation.models import Protocol, Task
from evaluation.rules.protocol import searches_nuggets
from evaluation.stages import stage_of
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld

SEARCH = ("nugget-search", "read-nugget", "data-nugget-search")
WORDS = ('data-do="words"', '"id": "words"')


def page(world: DeskWorld, task: Task, **settings: object) -> str:
    Protocol.objects.filter(campaign=world.campaign).update(**settings)
    window = Window(world.client(), task).open()
    content: str = window.client.get(window.url()).content.decode()
    return content


@pytest.mark.parametrize(
    ("allowed", "stage", "offered"),
    [
        ("none", "post-edit", False),
        ("none", "manual", False),
        ("edited", "post-edit", True),
        ("edited", "manual", False),
        ("all", "post-edit", True),
        ("all", "manual", True),
    ],
)
def test_the_nugget_search_is_in_the_page_only_where_allowed(
    world: DeskWorld, allowed: str, stage: str, offered: bool
) -> None:
    task = world.post_edit if stage == "post-edit" else world.manual
    content = page(world, task, nugget_search=allowed)
    assert [word in content for word in SEARCH] == [offered] * len(SEARCH)
    assert searches_nuggets(allowed, stage_of(stage)) is offered


@pytest.mark.parametrize("allowed", [True, False])
def test_taking_words_is_in_the_page_only_where_allowed(world: DeskWorld, allowed: bool) -> None:
    content = page(world, world.post_edit, copy_words=allowed)
    assert [word in content for word in WORDS] == [allowed] * len(WORDS)


def test_a_nugget_search_is_logged_as_one_and_refused_where_forbidden(world: DeskWorld) -> None:
    window = Window(world.client(), world.post_edit).open()
    op = window.op("search", words="rivers bend") | {"source": "nugget"}
    assert window.send(op)[0]["status"] == "applied"
    assert Operation.objects.get(kind="search").source == "nugget"
    by_hand = Window(world.client(), world.manual).open()
    receipt = by_hand.send(by_hand.op("search", words="dams fail") | {"source": "nugget"})[0]
    assert (receipt["status"], receipt["code"]) == ("refused", "no_nugget_search")


def test_a_protocol_has_the_settings_by_default(world: DeskWorld) -> None:
    assert (world.campaign.protocol.nugget_search, world.campaign.protocol.copy_words) == ("edited", True)
