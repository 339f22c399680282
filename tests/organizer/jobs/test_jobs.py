"""The list of jobs and the page of one: who sees them, what they say, and that looking costs the same however many."""

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.models import Answer, Campaign, Event, Membership
from evaluation.terms import Role
from jobs.models import Job, Worker, WorkItem
from tests.worlds.campaign import World, queries_of
from tests.worlds.cast import make_user
from tests.worlds.jobs import MODEL, make_call, make_item, make_job, make_judge

JOBS = "/campaigns/river/jobs/"
WHO = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 200), ("audrey", 200)]
WHO_CHANGES = [("sam", 404), ("ann", 404), ("olga", 302), ("rita", 403), ("audrey", 403)]


def page_of(world: World, address: str = JOBS, person: str = "olga") -> str:
    return " ".join(world.client(person).get(address).content.decode().split())


@pytest.mark.parametrize(("person", "status"), WHO)
def test_only_unblinded_members_look(world: World, person: str, status: int) -> None:
    llm = make_job(world)
    client = world.client(person)
    assert client.get(JOBS).status_code == status
    assert client.get(f"{JOBS}{llm.pk}/").status_code == status


@pytest.mark.parametrize(("person", "status"), WHO_CHANGES)
@pytest.mark.parametrize("act", ["cancel", "retry"])
def test_only_organizers_cancel_and_retry(world: World, act: str, person: str, status: int) -> None:
    llm = make_job(world)
    make_item(llm, "1", WorkItem.State.FAILED, reason="no reply")
    make_item(llm, "2")
    assert world.client(person).post(f"{JOBS}{llm.pk}/{act}/").status_code == status
    assert Event.objects.filter(kind__in=["job.cancelled", "job.retried"]).count() == (status == 302)


@pytest.mark.parametrize(("person", "status"), WHO_CHANGES)
def test_only_organizers_pause_and_resume(world: World, person: str, status: int) -> None:
    llm = make_job(world)
    make_item(llm, "1")
    client = world.client(person)
    for act, state in (("pause", "paused"), ("resume", "running")):
        assert client.post(f"{JOBS}{llm.pk}/{act}/").status_code == status
        llm.job.refresh_from_db()
        assert llm.job.state == (state if status == 302 else "running")


def test_a_paused_job_says_why_and_goes_on_with_another_budget(world: World) -> None:
    llm = make_job(world)
    make_item(llm, "1")
    client = world.client("olga")
    client.post(f"{JOBS}{llm.pk}/pause/")
    page = page_of(world, f"{JOBS}{llm.pk}/")
    assert "An organizer paused it." in page
    assert "1 item left." in page
    assert client.post(f"{JOBS}{llm.pk}/resume/", {"most_calls": "0"}).status_code == 422
    assert client.post(f"{JOBS}{llm.pk}/resume/", {"most_calls": "1000"}).status_code == 302
    assert "0 of 1,000 requests sent." in page_of(world, f"{JOBS}{llm.pk}/")
    event = Event.objects.filter(kind="job.resumed").get()
    assert event.payload["budget"] == {"calls": 1000}


def test_a_superuser_may_too(world: World) -> None:
    world.people["root"] = make_user("root", is_superuser=True)
    llm = make_job(world)
    assert world.client("root").post(f"{JOBS}{llm.pk}/cancel/").status_code == 302


def test_a_job_of_another_campaign_is_not_found_in_mine(world: World) -> None:
    other = Campaign.objects.create(slug="other", name="Other")
    Membership.objects.create(campaign=other, user=world.people["olga"], role=Role.ORGANIZER)
    address = f"/campaigns/other/jobs/{make_job(world).pk}/"
    assert world.client("olga").get(address).status_code == 404
    assert world.client("olga").post(f"{address}cancel/").status_code == 404


@pytest.mark.parametrize("act", ["cancel", "retry"])
def test_reading_an_act_does_nothing(world: World, act: str) -> None:
    assert world.client("olga").get(f"{JOBS}{make_job(world).pk}/{act}/").status_code == 405


def test_the_list_says_who_judges_how_far_and_why_it_waits(world: World) -> None:
    llm = make_job(world, waiting_for="The endpoint does not answer.")
    make_item(llm, "1", WorkItem.State.DONE)
    make_item(llm, "2", WorkItem.State.FAILED)
    make_item(llm, "3")
    page = page_of(world)
    for text in ("AutoAssign A/A", "machine", "LLM", "2 of 3", "The endpoint does not answer.", "olga"):
        assert text in page
    assert "is not a model" not in page


def test_the_list_says_that_no_worker_is_there_while_a_job_runs(world: World) -> None:
    llm = make_job(world)
    assert "No worker is running" in page_of(world)
    worker = Worker.objects.create(name="w", started_at=timezone.now(), seen_at=timezone.now())
    assert "No worker is running" not in page_of(world)
    worker.delete()
    Job.objects.filter(pk=llm.pk).update(state=Job.State.DONE)
    assert "No worker is running" not in page_of(world)


def test_the_newest_job_comes_first(world: World) -> None:
    first, second = make_job(world), make_job(world)
    page = page_of(world)
    assert page.index(f"{JOBS}{second.pk}/") < page.index(f"{JOBS}{first.pk}/")


def test_the_simulated_judge_is_said_to_be_no_model(world: World) -> None:
    make_job(world, make_judge(MODEL, MODEL))
    assert "word-overlap-simulator</b> is not a model. It is a heuristic" in page_of(world)


def test_a_judge_answered_by_the_simulator_is_shown_as_no_model(world: World) -> None:
    llm = make_job(world)
    make_call(make_item(llm, "1", WorkItem.State.DONE))
    assert "is not a model" in page_of(world)
    assert "is not a model" in page_of(world, f"{JOBS}{llm.pk}/")


def test_more_jobs_and_items_cost_no_more_queries(world: World) -> None:
    client = world.client("olga")
    answer = Answer.objects.all()[0]
    llm = make_job(world)
    make_call(make_item(llm, "0", WorkItem.State.FAILED, reason="0", payload={"answer": answer.pk}))
    address = f"{JOBS}{llm.pk}/"
    client.get(address)  # what the checklist counts is kept for the campaign's revision
    before = queries_of(client, JOBS), queries_of(client, address)
    for number in range(1, 9):
        failed = make_item(
            llm, str(number), WorkItem.State.FAILED, reason=str(number), payload={"answer": answer.pk}
        )
        make_call(failed, name=str(number) * 64)
        make_item(make_job(world), "1")
    assert (queries_of(client, JOBS), queries_of(client, address)) == before


def test_failures_are_counted_by_reason_with_examples(world: World) -> None:
    llm = make_job(world, state=Job.State.DONE)
    answer = Answer.objects.filter(topic__topic_id="t1").order_by("pk")[0]
    for number in range(5):
        make_item(llm, f"x{number}", WorkItem.State.FAILED, reason="too long", payload={"answer": answer.pk})
    make_item(llm, "y", WorkItem.State.FAILED, reason="refused <b>")
    page = page_of(world, f"{JOBS}{llm.pk}/")
    for text in ("<b>5 items:</b>", "too long", "<b>1 item:</b>", "refused &lt;b&gt;"):
        assert text in page
    assert page.count("<bdi>alpha</bdi> on <bdi>t1</bdi>") == 3


def test_a_job_counts_calls_tokens_and_attempts_and_what_it_reused(world: World) -> None:
    llm = make_job(world)
    type(llm).objects.filter(pk=llm.pk).update(prompt_tokens=1234, completion_tokens=5)
    make_call(make_item(llm, "1", WorkItem.State.DONE))
    old = make_call(make_item(llm, "2", WorkItem.State.DONE), name="b" * 64)
    type(old).objects.filter(pk=old.pk).update(made_at=timezone.now() - timedelta(days=1))
    page = page_of(world, f"{JOBS}{llm.pk}/")
    for text in ("2, of them 1 reused", "1,234 prompt, 5 completion", "1 rate limited", "1 answered", MODEL):
        assert text in page


@pytest.mark.parametrize("unknown", ["prompt_tokens", "completion_tokens"])
def test_a_job_says_which_replies_its_tokens_leave_out(world: World, unknown: str) -> None:
    llm = make_job(world)
    for number in (1, 2):
        call = make_call(make_item(llm, str(number), WorkItem.State.DONE), name=str(number) * 64)
    assert "came without their number" not in page_of(world, f"{JOBS}{llm.pk}/")
    type(call).objects.filter(pk=call.pk).update(**{unknown: None})
    page = " ".join(page_of(world, f"{JOBS}{llm.pk}/").split())
    assert "0 completion, without those of 1 reply that came without their number" in page


def test_no_cost_is_told_of_a_job_with_a_reply_whose_tokens_nobody_knows(world: World) -> None:
    llm = make_job(world)
    call = make_call(make_item(llm, "1", WorkItem.State.DONE))
    prices = {"prompt_price": 1000, "completion_price": 1000, "currency": "EUR", "price_table": "t"}
    budget = {"most_tokens": 100, "most_money": 20}
    type(llm).objects.filter(pk=llm.pk).update(prompt_tokens=50, **prices, **budget)
    page = page_of(world, f"{JOBS}{llm.pk}/")
    for text in ("<dd>0.0500 EUR", "0.0500 of 20 EUR paid", "<dd>50 of 100"):
        assert text in page.replace("<dd> ", "<dd>")
    type(call).objects.filter(pk=call.pk).update(prompt_tokens=None)
    page = " ".join(page_of(world, f"{JOBS}{llm.pk}/").split())
    assert "0.0500" not in page
    assert "not known, because replies came without their number of tokens" in page
    assert "at least 50 of 100 tokens paid" in page
    assert "not known how much of 20 EUR is paid" in page
    # What an earlier job paid is no cost of this one.
    type(call).objects.filter(pk=call.pk).update(made_at=timezone.now() - timedelta(days=1))
    assert "0.0500 EUR" in page_of(world, f"{JOBS}{llm.pk}/")


def test_a_cancelled_job_shows_what_was_paid_after_the_cancel(world: World) -> None:
    llm = make_job(world, state=Job.State.CANCELLED, ended_at=timezone.now())
    make_item(llm, "1", WorkItem.State.CANCELLED)
    type(llm).objects.filter(pk=llm.pk).update(
        prompt_tokens=57_936,
        completion_tokens=40,
        prompt_price=2,
        completion_price=2,
        currency="EUR",
        price_table="t",
    )
    page = page_of(world, f"{JOBS}{llm.pk}/")
    for text in ("57,936 prompt, 40 completion", "0.1160 EUR", 'hx-trigger="every 2s"'):
        assert text in page
    Job.objects.filter(pk=llm.pk).update(ended_at=timezone.now() - timedelta(hours=1))
    assert "hx-trigger" not in page_of(world, f"{JOBS}{llm.pk}/").partition('id="moving"')[2][:300]


def test_a_paused_job_moves_until_nothing_is_under_way(world: World) -> None:
    llm = make_job(world, state=Job.State.PAUSED)
    item = make_item(llm, "1", WorkItem.State.LEASED, lease_until=timezone.now() + timedelta(minutes=1))
    assert 'hx-trigger="every 2s"' in page_of(world, f"{JOBS}{llm.pk}/").partition('id="moving"')[2][:300]
    WorkItem.objects.filter(pk=item.pk).update(state=WorkItem.State.QUEUED, lease_until=None)
    assert "hx-trigger" not in page_of(world, f"{JOBS}{llm.pk}/").partition('id="moving"')[2][:300]


def test_without_a_worker_the_page_says_what_to_start(world: World) -> None:
    address = f"{JOBS}{make_job(world).pk}/"
    assert "No worker is running" in page_of(world, address)
    Worker.objects.create(name="w", started_at=timezone.now(), seen_at=timezone.now())
    page = page_of(world, address)
    assert "<b>Running.</b>" in page
    assert 'hx-trigger="every 2s"' in page


def tick(world: World, llm_pk: int, state: str) -> str:
    response = world.client("olga").get(f"{JOBS}{llm_pk}/?standing={state}", headers={"hx-request": "true"})
    assert "HX-Request" in response.headers["Vary"]
    return response.content.decode()


def test_a_tick_announces_a_change_of_state_and_nothing_else(world: World) -> None:
    llm = make_job(world, waiting_for="The endpoint is down.")
    assert 'role="status"' not in tick(world, llm.pk, "waiting")
    changed = tick(world, llm.pk, "running")
    assert 'role="status"' in changed
    assert "The endpoint is down." in changed
    assert "<html" not in changed


def test_the_last_tick_stops_the_ticking_and_offers_what_can_be_done(world: World) -> None:
    llm = make_job(world, state=Job.State.DONE)
    make_item(llm, "1", WorkItem.State.FAILED, reason="no reply")
    last = tick(world, llm.pk, "running")
    assert "hx-trigger" not in last
    assert "<b>Done.</b> 0 items done, 1 failed." in last
    assert "Retry failed" in last


def test_a_researcher_is_offered_nothing_to_press(world: World) -> None:
    llm = make_job(world)
    page = page_of(world, JOBS, "rita") + page_of(world, f"{JOBS}{llm.pk}/", "rita")
    assert "Cancel" not in page
    assert "Start a job" not in page


def test_cancelling_keeps_what_is_done(world: World) -> None:
    llm = make_job(world)
    make_item(llm, "1", WorkItem.State.DONE)
    make_item(llm, "2")
    page = world.client("olga").post(f"{JOBS}{llm.pk}/cancel/", follow=True).content.decode()
    assert "1 of 2 items ended" in page
    assert "<b>Cancelled.</b> 1 item will not be done" in page
    assert sorted(llm.job.items.values_list("state", flat=True)) == ["cancelled", "done"]
    event = Event.objects.get(kind="job.cancelled")
    assert (event.actor, event.payload["items"]) == (world.people["olga"], 1)


def test_a_job_that_has_ended_is_not_cancelled(world: World) -> None:
    llm = make_job(world, state=Job.State.DONE)
    assert world.client("olga").post(f"{JOBS}{llm.pk}/cancel/").status_code == 422


def test_retrying_queues_the_failed_items_as_new_replicates(world: World) -> None:
    llm = make_job(world, state=Job.State.DONE)
    failed = make_item(llm, "1", WorkItem.State.FAILED, reason="no reply")
    page = world.client("olga").post(f"{JOBS}{llm.pk}/retry/", follow=True).content.decode()
    assert "Queued again: 1 item." in page
    failed.refresh_from_db()
    assert (failed.state, failed.payload["replicate"]) == ("queued", 1)
    assert Job.objects.get(pk=llm.pk).state == Job.State.RUNNING


def test_retrying_without_failures_is_refused(world: World) -> None:
    llm = make_job(world, state=Job.State.DONE)
    assert world.client("olga").post(f"{JOBS}{llm.pk}/retry/").status_code == 422
    assert not Event.objects.filter(kind="job.retried").exists()


def test_the_navigation_leads_to_the_jobs(world: World) -> None:
    assert f'href="{JOBS}"' in page_of(world, world.pages()["today"])


def test_a_campaign_without_jobs_says_how_to_start_one(world: World) -> None:
    assert "No LLM has been asked to judge here yet." in page_of(world)
