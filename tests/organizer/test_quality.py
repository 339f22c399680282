"""The page on the quality of LLM judges: what it says of labels, replies and money, and who may see it."""

import json
from decimal import Decimal

import pytest
from django.db.models import F
from django.utils import timezone

from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import Assignment, Campaign, Event, Finding, Judge, Membership, Protocol, SupportJudgment
from evaluation.terms import FindingCode, JudgeKind, Role, SupportCondition
from jobs.models import WorkItem
from llmjobs.job_status import replies_by_judge
from llmjobs.models import Attempt, Call, CallUse, LlmJob
from reports.quality.judges import JudgeAgreement, compared_with_people
from tests.worlds.campaign import World, queries_of
from tests.worlds.imported import run
from tests.worlds.jobs import make_call, make_item, make_job, make_judge, support_by

pytestmark = pytest.mark.postgresql

QUALITY = "/campaigns/river/quality/"
WHO = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 200), ("audrey", 200)]


def page_of(world: World, person: str = "olga") -> str:
    Campaign.objects.update(revision=F("revision") + 1)
    return " ".join(world.client(person).get(QUALITY).content.decode().split())


def compared(world: World, judge: str = "robot") -> list[JudgeAgreement]:
    Campaign.objects.update(revision=F("revision") + 1)  # as whatever writes labels does
    world.campaign.refresh_from_db()
    return compared_with_people(world.people["olga"], world.campaign)[Judge.objects.get(name=judge).pk]


def say(judge: str, label: AssignmentLabel, kind: JudgeKind = JudgeKind.HUMAN, *, of: str = "alpha") -> None:
    there = Assignment.objects.filter(judge__name="robot").exclude(label=AssignmentLabel.FAILED).order_by("pk")
    pair = there[0 if of == "alpha" else 1]
    who, _ = Judge.objects.get_or_create(name=judge, defaults={"kind": kind})
    Assignment.objects.update_or_create(
        judge=who,
        answer=pair.answer,
        nugget_version=pair.nugget_version,
        submission=1,
        defaults={"label": label, "given_at": timezone.now()},
    )


@pytest.mark.parametrize(("person", "status"), WHO)
def test_only_unblinded_members_look(world: World, person: str, status: int) -> None:
    assert world.client(person).get(QUALITY).status_code == status


def test_an_organizer_who_assesses_sees_none_of_it(world: World) -> None:
    Membership.objects.create(campaign=world.campaign, user=world.people["olga"], role=Role.ASSESSOR)
    assert world.client("olga").get(QUALITY).status_code == 404


def test_labels_of_equal_pairs_are_compared_without_failed_ones(world: World) -> None:
    page = page_of(world)
    for text in (
        "robot",
        "auto-robot",
        "3 <span",
        "and 1 left out",
        "100 %",
        ">1.00 <",
    ):
        assert text in page


def test_it_is_what_the_report_says(world: World) -> None:
    say("person", AssignmentLabel.PARTIAL_SUPPORT)
    (comparison,) = compared(world)
    out = run(
        *("report", "confusion", "--campaign", "river", "--rows", "A/A", "--columns", "A/M", "--format", "json")
    ).out
    document, found = json.loads(out), comparison.report.confusion
    assert found.counts.tolist() == document["counts"]
    assert (found.pairs, found.kappa, found.kappa_linear, found.alpha, found.strictness) == (
        *(
            document["pairs"],
            document["kappa"],
            document["kappa_linear"],
            document["alpha"],
            document["ordinal_strictness"],
        ),
    )


def test_a_person_s_label_counts_from_its_writing_while_current(world: World) -> None:
    say("second", AssignmentLabel.NOT_SUPPORT)
    (comparison,) = compared(world)
    assert (comparison.report.confusion.pairs, comparison.people, comparison.report.harsh) == (4, 2, 1)
    assert "people are stricter" in page_of(world)
    Assignment.objects.filter(judge__name="second").update(stands=False)
    assert compared(world)[0].report.confusion.pairs == 3


def test_labels_of_studies_and_trials_are_not_counted(world: World) -> None:
    say("aside", AssignmentLabel.NOT_SUPPORT)
    say("trial", AssignmentLabel.NOT_SUPPORT, JudgeKind.LLM)
    Judge.objects.filter(name__in=["aside", "trial"]).update(aside=True)
    assert compared(world)[0].report.confusion.pairs == 3
    assert "trial" not in page_of(world)


def test_where_all_labels_are_equal_it_says_that_kappa_is_undefined(world: World) -> None:
    Assignment.objects.update(label=AssignmentLabel.SUPPORT)
    assert "undefined: all labels equal" in page_of(world)


def test_support_is_compared_by_condition(world: World) -> None:
    support_by(make_call(make_item(make_job(world), "1", WorkItem.State.DONE)), make_judge())
    person = SupportJudgment.objects.get(judge__name="person")
    SupportJudgment.objects.create(
        judge=person.judge,
        condition=SupportCondition.POST_EDIT,
        sentence=person.sentence,
        segment=person.segment,
        label=SupportLabel.NO_SUPPORT,
        given_at=timezone.now(),
    )
    scratch, aided = sorted(compared(world, "machine"), key=lambda comparison: comparison.in_sight)
    assert (scratch.of, scratch.report.harsh, aided.of, aided.report.harsh) == ("scratch", 1, "post-edit", 0)
    assert "after seeing a machine's label" in page_of(world)


def test_no_pair_in_common_is_said(world: World) -> None:
    Assignment.objects.filter(judge__name="person").delete()
    assert "No pair has a label of this judge and one that a person submitted." in page_of(world)


def test_replies_are_counted_by_what_came_of_them(world: World) -> None:
    llm = make_job(world)
    item = make_item(llm, "1", WorkItem.State.DONE)
    parts = {
        "batch 1 of 2": ["wrong: three labels for two"],
        "batch 1 of 2, re-ask 1": ["wrong: three labels for two", "split: split in two: three labels for two"],
        "batch 1 of 2, nuggets 1-1": [],
        "batch 2 of 2": ["failed: refused"],
        "pair": ["shortened: the best paragraphs", "dropped: the quote does not stand in the passage"],
    }
    for number, (part, notes) in enumerate(parts.items()):
        call = make_call(item, name=str(number) * 64, number=number)
        CallUse.objects.filter(call=call).update(part=part, notes=notes)
    Call.objects.filter(sha256="3" * 64).update(state=Call.State.FAILED)
    Attempt.objects.filter(call__sha256="3" * 64, number=2).update(error="bad_request")
    found = replies_by_judge(world.people["olga"], world.campaign)[llm.judge_id]
    assert (found.questions, found.reasked, found.split, found.refused, found.failed) == (4, 1, 1, 1, 1)
    assert (found.shortened, found.dropped) == (1, 1)
    assert "4 behind the ended items; 1 asked again" in page_of(world)


def test_money_is_summed_by_the_prices_that_jobs_were_announced_with(world: World) -> None:
    for price in (2, 4):
        llm = make_job(world)
        LlmJob.objects.filter(pk=llm.pk).update(
            price_table=f"table-{price}",
            currency="EUR",
            prompt_price=Decimal(price),
            completion_price=Decimal(10),
            prompt_tokens=1_000_000,
            completion_tokens=100_000,
        )
    make_job(world)
    page = page_of(world)
    assert "8.0000 EUR" in page
    assert "table-2" in page
    assert "no price is known for 1 job" in page


def test_no_cost_is_told_of_jobs_with_a_reply_whose_tokens_nobody_knows(world: World) -> None:
    for number in range(2):
        call = make_call(make_item(make_job(world), str(number), WorkItem.State.DONE), name=str(number) * 64)
    LlmJob.objects.update(
        price_table="t", currency="EUR", prompt_price=2, completion_price=2, prompt_tokens=1_000_000
    )
    assert "4.0000 EUR" in page_of(world)
    Call.objects.filter(pk=call.pk).update(completion_tokens=None)
    page = " ".join(page_of(world).split())
    assert "2.0000 EUR" in page
    assert "not known for 1 job with replies without their number of tokens" in page


def test_findings_of_texts_that_address_their_judge_are_linked(world: World) -> None:
    start = "/campaigns/river/jobs/new/"
    assert "address its judge" not in page_of(world)
    code, event = FindingCode.ADDRESSES_JUDGE, Event.objects.filter(campaign=world.campaign)[0]
    Finding.objects.create(campaign=world.campaign, event=event, code=code, message="x")
    assert f"findings/?code={code}" in page_of(world)
    assert f"findings/?code={code}" in world.client("olga").get(start).content.decode()


def test_another_campaigns_labels_are_not_counted(world: World) -> None:
    other = Campaign.objects.create(slug="other", name="Other")
    Protocol.objects.create(campaign=other)
    Membership.objects.create(campaign=other, user=world.people["olga"], role=Role.ORGANIZER)
    page = world.client("olga").get("/campaigns/other/quality/").content.decode()
    assert "No LLM has labelled anything here yet." in page


def test_more_labels_and_calls_cost_no_more_queries(world: World) -> None:
    item = make_item(make_job(world, Judge.objects.get(name="robot")), "1", WorkItem.State.DONE)
    make_call(item)
    say("person 0", AssignmentLabel.SUPPORT)
    Campaign.objects.update(revision=F("revision") + 1)
    client = world.client("olga")
    before = queries_of(client, QUALITY)
    for number in range(1, 5):
        say(f"person {number}", AssignmentLabel.SUPPORT)
        make_call(item, name=str(number) * 64, number=number)
    Campaign.objects.update(revision=F("revision") + 1)
    assert queries_of(client, QUALITY) == before
