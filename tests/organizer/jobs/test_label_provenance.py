"""Why does it say partial? The call or the import behind a label."""

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.models import AnswerProvenance, Assignment, Campaign, Membership, SupportJudgment
from evaluation.terms import Role
from jobs.models import WorkItem
from llmjobs.models import Attempt, Call, CallUse, LlmJob
from tests.worlds.campaign import World, queries_of
from tests.worlds.jobs import MODEL, label_by, make_call, make_item, make_job, make_judge, support_by

LABELS = "/campaigns/river/labels/"
WHO = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 200), ("audrey", 200)]


@pytest.fixture
def assignment(world: World) -> Assignment:
    """A label that an LLM gave through a job of ours."""
    return label_by(make_call(make_item(make_job(world), "1", WorkItem.State.DONE)), make_judge())


def page_of(world: World, address: str) -> str:
    return " ".join(world.client("olga").get(f"{LABELS}{address}").content.decode().split())


@pytest.mark.parametrize(("person", "status"), WHO)
def test_only_unblinded_members_look(world: World, assignment: Assignment, person: str, status: int) -> None:
    client, support = world.client(person), SupportJudgment.objects.get()
    for address in (f"assignment/{assignment.pk}/", f"support/{support.pk}/", f"answer/{assignment.answer_id}/"):
        assert client.get(f"{LABELS}{address}").status_code == status


def test_a_label_of_another_campaign_is_not_found_in_mine(world: World, assignment: Assignment) -> None:
    other = Campaign.objects.create(slug="other", name="Other")
    Membership.objects.create(campaign=other, user=world.people["olga"], role=Role.ORGANIZER)
    client, support = world.client("olga"), SupportJudgment.objects.get()
    for address in (f"assignment/{assignment.pk}/", f"support/{support.pk}/", f"answer/{assignment.answer_id}/"):
        assert client.get(f"/campaigns/other/labels/{address}").status_code == 404


def test_a_label_says_of_which_sample_it_is(world: World, assignment: Assignment) -> None:
    AnswerProvenance.objects.update(sample=2)
    for address in (f"assignment/{assignment.pk}/", f"support/{SupportJudgment.objects.get().pk}/"):
        assert ", sample 2</a>" in page_of(world, address)


def test_an_llm_label_shows_the_whole_call(
    world: World, assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    page = page_of(world, f"assignment/{assignment.pk}/")
    for text in (
        "partial support",
        "sand moves",
        "Sand moves.",
        "A/A",
        "assign, version 7",
        "f" * 64,
        "http://llm.example/v1",
        "<bdi>some-model</bdi>",
        MODEL,
        "temperature 0.0",
        "1,234 prompt, 5 completion",
        "200 ms",
        "Label &lt;b&gt;each&lt;/b&gt; nugget. שלום",
        "[&quot;partial_support&quot;]",
        "tolerated: a code fence",
        "rate limited",
        "Slow down.",
    ):
        assert text in page
    assert "canary" not in page


def test_a_label_shows_its_cost_and_all_that_was_asked_for_it(world: World, assignment: Assignment) -> None:
    use = CallUse.objects.get()
    page = page_of(world, f"assignment/{assignment.pk}/")
    assert "no price is known" in page
    assert "none was sent" in page
    assert "All that was asked" not in page
    prices = {"price_table": "2026-11", "currency": "EUR", "prompt_price": 2, "completion_price": 10}
    LlmJob.objects.filter(pk=use.item.job_id).update(**prices)
    repeated = make_call(use.item, name="b" * 64, number=1)
    CallUse.objects.filter(call=repeated).update(
        part="batch 1 of 1, re-ask 1", notes=["wrong: three labels for two"]
    )
    Call.objects.filter(pk=use.call_id).update(parameters={"seed": 17, "temperature": 0.0})
    page = page_of(world, f"assignment/{assignment.pk}/")
    for text in ("0.002518 EUR", "by the prices of 2026-11", "<dt>Seed</dt><dd>17</dd>", "All that was asked"):
        assert text in page
    assert (
        f'calls/{repeated.pk}/">batch 1 of 1, re-ask 1</a>: answered; <span dir="auto">wrong: three labels' in page
    )


def test_a_call_without_its_number_of_tokens_does_not_blame_the_price(
    world: World, assignment: Assignment
) -> None:
    prices = {"price_table": "2026-11", "currency": "EUR", "prompt_price": 2, "completion_price": 10}
    LlmJob.objects.update(**prices)
    Call.objects.update(completion_tokens=None)
    page = page_of(world, f"assignment/{assignment.pk}/")
    assert "no price is known" not in page
    assert "not known without its number of tokens" in page


def test_a_call_that_an_earlier_job_began_is_paid_by_the_job_in_which_it_was_answered(
    world: World, assignment: Assignment
) -> None:
    prices = {"price_table": "2026-11", "currency": "EUR", "prompt_price": 2, "completion_price": 10}
    LlmJob.objects.update(**prices)
    long_ago = timezone.now() - timedelta(days=2)
    Call.objects.update(made_at=long_ago, ended_at=timezone.now())
    assert "an earlier job paid it" not in page_of(world, f"assignment/{assignment.pk}/")
    Call.objects.update(ended_at=long_ago)
    assert "an earlier job paid it" in page_of(world, f"assignment/{assignment.pk}/")


def test_a_label_of_the_simulated_llm_says_that_it_is_no_model(world: World, assignment: Assignment) -> None:
    assert "is not a model" in page_of(world, f"assignment/{assignment.pk}/")


def test_an_llm_support_label_shows_sentence_segment_and_call(world: World) -> None:
    label = support_by(make_call(make_item(make_job(world), "1")), make_judge())
    page = page_of(world, f"support/{label.pk}/")
    for text in ("no support", "Sentence 1", "Sand moves. &lt;b&gt;raw&lt;/b&gt;", "llm", "assign, version 7"):
        assert text in page


def test_an_imported_label_shows_its_file(world: World) -> None:
    label = Assignment.objects.filter(judge__name="robot")[0]
    assert label.event is not None
    page = page_of(world, f"assignment/{label.pk}/")
    for text in ("import.", "robot.jsonl", label.event.payload["files"][0]["sha256"], "The label was imported."):
        assert text in page
    assert "Raw reply" not in page


def test_a_persons_support_label_shows_its_condition(world: World) -> None:
    page = page_of(world, f"support/{SupportJudgment.objects.get().pk}/")
    for text in ("full support", "scratch", "person", "p.jsonl", "The label was imported."):
        assert text in page
    assert "The question behind it" not in page


def test_uses_by_another_campaigns_jobs_are_not_told(world: World, assignment: Assignment) -> None:
    mine = make_job(world)
    other = Campaign.objects.create(slug="other", name="Other")
    theirs = make_job(World(other, world.people))
    theirs.job.title = "Theirs"
    theirs.job.save()
    call = CallUse.objects.get().call
    CallUse.objects.create(item=make_item(theirs, "1"), call=call, number=0, part="canary")
    CallUse.objects.create(item=make_item(mine, "1"), call=call, number=0, part="mine")
    page = page_of(world, f"assignment/{assignment.pk}/")
    assert "mine" in page
    assert "canary" not in page
    assert "Theirs" not in page


def test_more_attempts_and_uses_cost_no_more_queries(world: World, assignment: Assignment) -> None:
    client, address = world.client("olga"), f"{LABELS}assignment/{assignment.pk}/"
    before = queries_of(client, address)
    use = CallUse.objects.get()
    for number in range(3, 9):
        sent = {"sent_at": use.call.made_at, "error": "timeout"}
        Attempt.objects.create(call=use.call, number=number, **sent)
        CallUse.objects.create(item=make_item(make_job(world), "1"), call=use.call, number=0, part="again")
    assert queries_of(client, address) == before


def test_an_answers_labels_lead_each_to_its_page(world: World, assignment: Assignment) -> None:
    support = SupportJudgment.objects.get()
    page = page_of(world, f"answer/{assignment.answer_id}/")
    assert f"{LABELS}assignment/{assignment.pk}/" in page
    assert f"{LABELS}support/{support.pk}/" in page
    for address in (world.pages()["run"], world.pages()["topic"]):
        assert f"{LABELS}answer/{assignment.answer_id}/" in world.client("olga").get(address).content.decode()


def test_more_labels_cost_no_more_queries(world: World, assignment: Assignment) -> None:
    client, address = world.client("olga"), f"{LABELS}answer/{assignment.answer_id}/"
    before = queries_of(client, address)
    for number in range(5):
        label_by(make_call(make_item(make_job(world), "1"), name=str(number) * 64), make_judge(f"m{number}"))
    assert queries_of(client, address) == before
