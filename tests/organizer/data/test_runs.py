"""The list of runs, the page of one, its findings, and a segment it cites."""

from evaluation.models import Event, Finding, Run, Topic
from evaluation.terms import RagTask
from tests.worlds.campaign import World, queries_of


def page_of(world: World, page: str, query: str = "") -> str:
    return world.client("olga").get(world.pages()[page] + query).content.decode()


def test_the_list_finds_runs_by_group_and_task(world: World) -> None:
    page = page_of(world, "runs", "?words=team+b")
    assert "beta" in page
    assert "alpha" not in page
    assert "alpha" in page_of(world, "runs", "?task=RAG")
    assert "No run fits the search." in page_of(world, "runs", "?words=gamma")


def test_more_runs_cost_no_more_queries(world: World) -> None:
    client, address = world.client("olga"), world.pages()["runs"]
    before = queries_of(client, address)
    Run.objects.bulk_create(Run(campaign=world.campaign, run_id=f"r{n}", task=RagTask.RAG) for n in range(30))
    assert queries_of(client, address) == before


def test_a_run_shows_its_answer_with_citations_and_labels(world: World) -> None:
    page = page_of(world, "run")
    for text in ("team a", "Sand moves.", "d9", "text not loaded", "no citation", "full support", "sand moves"):
        assert text in page


def test_a_run_shows_its_scores_under_each_labelled_condition(world: World) -> None:
    page = page_of(world, "run")
    for words, code in (("automatic labels", "A/A"), ("manual labels", "A/M")):
        assert f'Automatic nuggets, {words} <span class="code-word">{code}</span>' in page
        assert f'<th scope="col" class="n">{code}</th>' in page


def test_the_address_chooses_the_answer(world: World) -> None:
    second = Topic.objects.get(topic_id="t2")
    assert "They crack." in page_of(world, "run", f"?topic={second.public_id}")
    assert "This run has no answer to that topic." in page_of(world, "run", "?topic=nothing")


def test_a_run_without_answers_says_so(world: World) -> None:
    run = Run.objects.create(campaign=world.campaign, run_id="bare")
    assert (
        "This run has no answers." in world.client("olga").get(f"/campaigns/river/runs/{run.pk}/").content.decode()
    )


def test_findings_are_listed_by_code_and_run(world: World) -> None:
    assert "unknown label" in page_of(world, "findings", "?code=unknown_label")
    assert "No warning fits." in page_of(world, "findings", "?run=nobody")
    assert "response length" in page_of(world, "findings", "?run=beta")


def test_findings_of_a_kind_are_one_line_that_opens_to_them(world: World) -> None:
    before = Finding.objects.filter(code="unknown_label").count()
    event = Event.objects.filter(campaign=world.campaign).latest("pk")
    Finding.objects.bulk_create(
        Finding(
            campaign=world.campaign, event=event, code="unknown_label", file="f", run_id="beta", message=f"odd {i}"
        )
        for i in range(7)
    )
    page = page_of(world, "findings")
    assert page.count(f"<summary>Unknown label: {before + 7}</summary>") == 1
    assert page.count('<details class="fold"') == len(set(Finding.objects.values_list("code", flat=True))) > 1
    of_run = page_of(world, "findings", "?run=beta")
    assert "<summary>Unknown label: 7</summary>" in of_run
    assert [f"odd {i}" in of_run for i in range(7)] == [True] * 5 + [False] * 2
    assert 'findings/?code=unknown_label&amp;run=beta">All 7</a>' in of_run
    opened = page_of(world, "findings", "?code=unknown_label&run=beta")
    assert all(f"odd {i}" in opened for i in range(7))


def test_a_segment_is_read_as_text(world: World) -> None:
    assert "Sand moves. &lt;b&gt;raw&lt;/b&gt;" in page_of(world, "segment")
