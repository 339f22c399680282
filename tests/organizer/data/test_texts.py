"""Missing texts on the data page: how many, fetched by a button, paused and resumed, with reasons where they fail."""

from collections.abc import Iterator
from threading import Event as Signal

import pytest
from pytest_django.fixtures import Settings

from evaluation.models import Citation, Event, Segment
from exchange import fetching
from jobs.models import Job
from tests.exchange.text_server import Reply, TextServer, running_text_server
from tests.worlds.campaign import World

DATA = "/campaigns/river/data/"


@pytest.fixture
def server(settings: Settings) -> Iterator[TextServer]:
    with running_text_server() as server:
        settings.TEXT_SOURCES = (server.source(),)
        yield server


@pytest.fixture
def missing(world: World) -> list[str]:
    """Docids without a text: those of the world, and one that nobody cites or grades."""
    event = Event.objects.filter(campaign=world.campaign)[0]
    Segment.objects.create(campaign=world.campaign, docid="x1", document="x1", has_text=False, event=event)
    return list(world.campaign.segments.filter(has_text=False).values_list("docid", flat=True))


def page(world: World, person: str = "olga") -> str:
    return world.client(person).get(DATA).content.decode()


def post(world: World, act: str, **fields: str) -> int:
    return world.client("olga").post(f"{DATA}texts/{act}/", fields).status_code


def test_the_button_says_how_many_and_fetches_them(world: World, server: TextServer, missing: list[str]) -> None:
    assert f"Fetch {len(missing)} missing texts" in page(world)
    assert post(world, "fetch", source="Lab", wanted="all") == 302
    assert "No worker runs, so texts wait for one." in page(world)
    fetching.run("w", Signal())
    assert not world.campaign.segments.filter(has_text=False).exists()
    assert sorted(server.asked) == sorted(missing)
    assert all(
        words in page(world) for words in ("nothing to ask for", f"{len(missing)} of {len(missing)} loaded")
    )
    assert Event.objects.filter(kind="import.segments").latest("pk").actor == world.people["olga"]


def test_only_the_cited_ones(world: World, server: TextServer, missing: list[str]) -> None:
    cited = set(Citation.objects.filter(segment__docid__in=missing).values_list("segment__docid", flat=True))
    assert f"Only the {len(cited)} cited" in page(world)
    post(world, "fetch", source="Lab", wanted="cited")
    fetching.run("w", Signal())
    assert set(server.asked) == cited


def test_a_job_is_paused_resumed_and_cancelled(world: World, server: TextServer, missing: list[str]) -> None:
    post(world, "fetch", source="Lab")
    job = Job.objects.get(kind="texts")
    for act, state, button in (
        ("pause", "paused", "Resume"),
        ("resume", "running", "Pause"),
        ("cancel", "cancelled", ""),
    ):
        assert post(world, f"{job.pk}/{act}") == 302
        job.refresh_from_db()
        assert (job.state, button in page(world)) == (state, True)
        assert ("An organizer paused it." in page(world)) == (act == "pause")
    fetching.run("w", Signal())
    assert server.asked == []


def test_what_failed_is_named_and_tried_again(world: World, server: TextServer, missing: list[str]) -> None:
    server.replies["x1"] = [Reply(status=404)]
    post(world, "fetch", source="Lab")
    fetching.run("w", Signal())
    job = Job.objects.get(kind="texts")
    assert all(words in page(world) for words in ("Not there.", "such as <bdi>x1</bdi>", "it does not have"))
    assert post(world, f"{job.pk}/retry") == 302
    fetching.run("w", Signal())
    assert Segment.objects.get(docid="x1").has_text


@pytest.mark.parametrize(
    "fields", [{"source": "http://127.0.0.1:9/{docid}"}, {"source": "Lab", "wanted": "some"}, {}]
)
def test_another_source_or_choice_is_refused(
    world: World, server: TextServer, missing: list[str], fields: dict[str, str]
) -> None:
    assert post(world, "fetch", **fields) == 422
    assert not Job.objects.filter(kind="texts").exists()


def test_a_job_of_another_kind_or_campaign_is_not_there(world: World, server: TextServer) -> None:
    job = Job.objects.create(kind="texts", title="elsewhere", options={"campaign": 0, "source": "Lab"})
    assert post(world, f"{job.pk}/cancel") == 404


def test_without_a_source_nothing_is_offered(world: World, missing: list[str]) -> None:
    assert "Missing texts" not in page(world)


def test_whoever_organizes_not_fetches_nothing(world: World, server: TextServer, missing: list[str]) -> None:
    assert "Missing texts" not in page(world, "rita")
    assert world.client("rita").post(f"{DATA}texts/fetch/", {"source": "Lab"}).status_code in {403, 404}
