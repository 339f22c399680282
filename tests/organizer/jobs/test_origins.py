"""Why is it vital, where does this list come from, why does the source say 2? The calls or the import behind them."""

from pathlib import Path

import pytest
from django.urls import reverse

from evaluation.battles import BattleOrder, draw_battles
from evaluation.judges import judge_of
from evaluation.labelling import GivenNugget, ensure_nugget_set, give_grades, give_nugget_list
from evaluation.models import (
    AnswerProvenance,
    Battle,
    Campaign,
    Event,
    ListedNugget,
    Membership,
    NuggetList,
    Qrel,
    Segment,
    Topic,
    Verdict,
)
from evaluation.models.judges import source_of
from evaluation.terms import Importance, Origin, Role
from jobs.models import WorkItem
from llmjobs.models import Attempt, Call, CallUse, NuggetCalls
from tests.worlds.campaign import World, queries_of
from tests.worlds.imported import load, write
from tests.worlds.jobs import MODEL, label_by, make_call, make_item, make_job, make_judge, support_by, verdict_by

CAMPAIGN = "/campaigns/river/"
WHO = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 200), ("audrey", 200)]


def page_of(world: World, address: str, person: str = "olga") -> str:
    return world.client(person).get(f"{CAMPAIGN}{address}").content.decode()


def make_list(world: World, number: int = 2, judge: str = "machine") -> NuggetList:
    topic = Topic.objects.get(topic_id="t1")
    payload = {"topic": topic.pk}
    item = make_item(make_job(world, make_judge(judge)), "topic t1", WorkItem.State.DONE, payload=payload)
    WorkItem.objects.filter(pk=item.pk).update(kind="nuggets")
    worded, weighed = make_call(item, "b" * 64, '["water cuts"]'), make_call(item, "c" * 64, '["vital"]', 1)
    CallUse.objects.filter(call=worded).update(part="window 1")
    CallUse.objects.filter(call=weighed).update(part="importance batch 1 of 1", notes=[])
    texts = [GivenNugget(f"water cuts stone {n}", Importance.VITAL) for n in range(number)]
    nugget_set = ensure_nugget_set(world.campaign, make_judge(judge), Origin.AUTO)
    assert worded.event
    made = give_nugget_list(nugget_set, topic, texts, worded.event)
    assert made
    for listed in made.items.all():
        NuggetCalls.objects.create(listed=listed, worded=worded, weighed=weighed)
    return made


def make_grade(world: World) -> Qrel:
    topic, segment = Topic.objects.get(topic_id="t1"), Segment.objects.get(docid="d1")
    item = make_item(make_job(world), "grade", WorkItem.State.DONE)
    call = make_call(item, "d" * 64, "2")
    assert call.event
    give_grades(world.campaign, "UMBRELA", [Qrel(topic=topic, segment=segment, grade=2, event=call.event)])
    return Qrel.objects.get(source__name="UMBRELA")


def addresses(world: World) -> list[str]:
    made, grade = make_list(world), make_grade(world)
    listed = made.items.all()[0]
    call = NuggetCalls.objects.get(listed=listed).worded_id
    verdict = verdict_by(Call.objects.get(pk=call), make_judge())
    return [
        f"labels/nuggets/{made.pk}/",
        f"labels/nugget/{listed.pk}/",
        f"labels/grade/{grade.pk}/",
        f"labels/verdict/{verdict.pk}/",
        f"calls/{call}/",
    ]


@pytest.mark.parametrize(("person", "status"), WHO)
def test_only_unblinded_members_look(world: World, person: str, status: int) -> None:
    client = world.client(person)
    assert {client.get(f"{CAMPAIGN}{address}").status_code for address in addresses(world)} == {status}


def test_what_another_campaign_has_is_not_found_in_mine(world: World) -> None:
    other = Campaign.objects.create(slug="other", name="Other")
    Membership.objects.create(campaign=other, user=world.people["olga"], role=Role.ORGANIZER)
    client = world.client("olga")
    assert {client.get(f"/campaigns/other/{address}").status_code for address in addresses(world)} == {404}


def test_an_organizer_who_also_judges_finds_nothing(world: World) -> None:
    Membership.objects.create(campaign=world.campaign, user=world.people["olga"], role=Role.ASSESSOR)
    client = world.client("olga")
    assert {client.get(f"{CAMPAIGN}{address}").status_code for address in addresses(world)} == {404}


def test_a_list_names_its_calls_and_what_each_nugget_rests_on(world: World) -> None:
    made = make_list(world)
    page = page_of(world, f"labels/nuggets/{made.pk}/")
    for text in ("water cuts stone 1", "auto-machine", "tolerated: a code fence", "1,234", "is not a model"):
        assert text in page
    for call, part in Call.objects.values_list("pk", "uses__part"):
        assert f'<a href="{CAMPAIGN}calls/{call}/">{part}</a>' in page
    for listed in made.items.all():
        assert f"{CAMPAIGN}labels/nugget/{listed.pk}/" in page


def test_a_nugget_shows_the_calls_of_its_words_and_importance(world: World) -> None:
    listed = make_list(world).items.all()[0]
    page = page_of(world, f"labels/nugget/{listed.pk}/")
    for text in ("Why does it say", "vital", "water cuts stone 0", "importance batch 1 of 1", "window 1"):
        assert text in page
    for text in (
        "[&quot;water cuts&quot;]",
        "[&quot;vital&quot;]",
        "Label &lt;b&gt;each&lt;/b&gt; nugget.",
        "f" * 64,
    ):
        assert text in page


def test_a_list_from_before_such_records_names_its_calls_all_the_same(world: World) -> None:
    made = make_list(world)
    NuggetCalls.objects.all().delete()
    page = page_of(world, f"labels/nuggets/{made.pk}/")
    assert "importance batch 1 of 1" in page
    assert "not on record" in page
    assert "[&quot;water cuts&quot;]" in page_of(world, f"labels/nugget/{made.items.all()[0].pk}/")


def test_an_imported_list_shows_its_file(world: World) -> None:
    listed = ListedNugget.objects.earliest("pk")
    for address in (f"labels/nuggets/{listed.nugget_list_id}/", f"labels/nugget/{listed.pk}/"):
        page = page_of(world, address)
        assert "n.jsonl" in page
        assert "imported. The question behind it" in page


def work_of_ann(world: World, event: Event) -> list[str]:
    """Return the addresses of a list, of its nugget and of a grade, all Ann's."""
    judge, topic = judge_of(world.people["ann"]), Topic.objects.get(topic_id="t1")
    texts = [GivenNugget("water cuts stone", Importance.VITAL)]
    made = give_nugget_list(ensure_nugget_set(world.campaign, judge, Origin.MANUAL), topic, texts, event)
    assert made
    segment = Segment.objects.get(docid="d1")
    give_grades(world.campaign, source_of(judge), [Qrel(topic=topic, segment=segment, grade=2, event=event)])
    grade = Qrel.objects.get(source__name=source_of(judge))
    return [f"labels/nuggets/{made.pk}/", f"labels/nugget/{made.items.get().pk}/", f"labels/grade/{grade.pk}/"]


def test_what_a_person_made_here_asked_no_llm(world: World) -> None:
    event = Event.objects.create(campaign=world.campaign, kind="task.submitted", actor=world.people["ann"])
    for address in work_of_ann(world, event):
        page = page_of(world, address)
        assert "<dd><bdi>ann</bdi>" in " ".join(page.split()), address
        assert "on record" not in page, address


def test_what_a_person_made_elsewhere_was_imported_and_asked_no_llm(world: World) -> None:
    imported = Event.objects.filter(kind="import.nuggets").latest("pk")
    for address in work_of_ann(world, imported):
        page = page_of(world, address)
        assert "was imported." in page, address
        assert "on record" not in page, address


def test_a_list_that_nobody_has_submitted_is_not_found(world: World) -> None:
    made = make_list(world)
    NuggetList.objects.filter(pk=made.pk).update(submitted=False)
    client = world.client("olga")
    assert client.get(f"{CAMPAIGN}labels/nuggets/{made.pk}/").status_code == 404
    assert client.get(f"{CAMPAIGN}labels/nugget/{made.items.all()[0].pk}/").status_code == 404


def test_a_grade_shows_its_call_and_an_imported_one_its_file(world: World) -> None:
    page = page_of(world, f"labels/grade/{make_grade(world).pk}/")
    for text in (
        "<bdi>UMBRELA</bdi> say 2?",
        "machine",
        "Sand moves. &lt;b&gt;raw&lt;/b&gt;",
        MODEL,
        "is not a model",
    ):
        assert text in page
    page = page_of(world, f"labels/grade/{Qrel.objects.filter(source__name='NIST')[0].pk}/")
    assert "q.txt" in page
    assert "The grade was imported." in page


def test_a_call_shows_all_that_went_to_and_fro(world: World) -> None:
    make_list(world)
    call = Call.objects.get(sha256="c" * 64)
    page = page_of(world, f"calls/{call.pk}/")
    for text in ("[&quot;vital&quot;]", "Slow down.", "importance batch 1 of 1", "http://llm.example/v1"):
        assert text in page


def test_a_call_that_no_item_of_mine_used_is_not_found(world: World) -> None:
    make_list(world)
    call = Call.objects.get(sha256="c" * 64)
    CallUse.objects.filter(call=call).delete()
    assert world.client("olga").get(f"{CAMPAIGN}calls/{call.pk}/").status_code == 404


def test_more_nuggets_and_calls_cost_no_more_queries(world: World) -> None:
    made, client = make_list(world), world.client("olga")
    listed = made.items.all()[0]
    pages = [
        f"{CAMPAIGN}labels/nuggets/{made.pk}/",
        f"{CAMPAIGN}labels/nugget/{listed.pk}/",
        world.pages()["topic"],
    ]
    client.get(pages[2])  # the conditions are resolved once for each state of the campaign
    before = [queries_of(client, page) for page in pages]
    more = make_list_longer(made, 8)
    assert made.items.count() == 2 + more
    assert [queries_of(client, page) for page in pages] == before


def make_list_longer(made: NuggetList, number: int) -> int:
    old = NuggetCalls.objects.filter(listed__nugget_list=made)[0]
    item = CallUse.objects.filter(call=old.worded)[0].item
    for n in range(number):
        version = old.listed.nugget_version.nugget.versions.create(number=2 + n, text=f"more {n}")
        listed = made.items.create(nugget_version=version, position=10 + n, importance=Importance.OKAY)
        call = make_call(item, str(n) * 64, number=10 + n)
        Attempt.objects.create(call=old.worded, number=10 + n, sent_at=call.made_at, error="timeout")
        NuggetCalls.objects.create(listed=listed, worded=call, weighed=old.weighed)
    return number


def test_the_topic_page_leads_to_all_of_it(world: World) -> None:
    made, grade = make_list(world), make_grade(world)
    label = label_by(make_call(make_item(make_job(world), "1", WorkItem.State.DONE)), make_judge())
    support = support_by(make_call(make_item(make_job(world), "2"), "e" * 64), make_judge())
    client, topic = world.client("olga"), world.pages()["topic"]
    page = client.get(topic).content.decode()
    for address in (f"nuggets/{made.pk}", f"nugget/{made.items.all()[0].pk}", f"grade/{grade.pk}"):
        assert f'"{CAMPAIGN}labels/{address}/"' in page
    assert f'"{CAMPAIGN}labels/support/{support.pk}/"' in page
    key = f"{label.nugget_version.nugget.nugget_set_id}-{label.judge_id}"
    for address in (f"{topic}?labels={key}", world.pages()["run"]):
        assert f'"{CAMPAIGN}labels/assignment/{label.pk}/"' in client.get(address).content.decode()


def test_a_verdict_shows_its_call_and_leads_back_to_its_battle(world: World) -> None:
    call = make_call(make_item(make_job(world), "1", WorkItem.State.DONE), reply="[[A]]")
    verdict = verdict_by(call, make_judge())
    battle = reverse("reports:battle", args=["river", verdict.battle.public_id])
    address = f"labels/verdict/{verdict.pk}/"
    assert f'href="{CAMPAIGN}{address}"' in world.client("olga").get(battle).content.decode()
    page = page_of(world, address)
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    left, right = runs[verdict.battle.right_id], runs[verdict.battle.left_id]
    for text in ("Left better", battle, f"<dd><bdi>{left}</bdi></dd>", f"<dd><bdi>{right}</bdi></dd>"):
        assert text in page
    for text in ("B/A", "machine", "1,234", "[[A]]", "f" * 64, "temperature 0.0", "is not a model"):
        assert text in page


def test_an_imported_verdict_shows_its_file(world: World, tmp_path: Path) -> None:
    draw_battles(campaign=world.campaign, order=BattleOrder(rounds=1))
    battle = Battle.objects.get()
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    row = {"topic_id": battle.topic.topic_id, "left": runs[battle.left_id], "right": runs[battle.right_id]}
    row |= {"verdict": "cant_judge", "reason": "Both are cut.", "judge": "ann"}
    load("import_battles", "--by", "human", write(tmp_path, "verdicts.jsonl", [row]))
    page = page_of(world, f"labels/verdict/{Verdict.objects.get().pk}/")
    for text in ("Can't judge", "Both are cut.", "verdicts.jsonl", "The verdict was imported.", "B/M"):
        assert text in page.replace("&#x27;", "'")
