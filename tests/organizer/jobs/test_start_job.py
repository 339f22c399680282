"""The start form: a dry run changes nothing, a start queues items."""

import pytest

from evaluation.battles import BattleOrder, draw_battles
from evaluation.judges import add_judge
from evaluation.labels import SupportLabel
from evaluation.models import Campaign, Event, Judge, NuggetSet, SupportJudgment, Topic
from evaluation.terms import JudgeKind, Origin
from jobs.models import Job, WorkItem
from llmjobs.models import LlmJob
from tests.worlds.campaign import World, queries_of
from tests.worlds.cast import make_user
from tests.worlds.jobs import MODEL, make_call, make_item, make_job, make_judge, support_by

NEW = "/campaigns/river/jobs/new/"
WHO = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 403), ("audrey", 403)]


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the simulated LLM, whatever this machine's environment says."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def post_form(world: World, button: str, status: int = 200, **fields: object) -> str:
    response = world.client("olga").post(NEW, {"what": "A/A", "judge": "", button: "1", **fields})
    assert response.status_code == status
    return response.content.decode()


@pytest.mark.parametrize(("person", "status"), WHO)
def test_only_organizers_open_the_form(world: World, person: str, status: int) -> None:
    assert world.client(person).get(NEW).status_code == status


@pytest.mark.parametrize(("person", "status"), [(name, status) for name, status in WHO if status != 200])
def test_only_organizers_start(world: World, person: str, status: int) -> None:
    make_judge()
    response = world.client(person).post(NEW, {"what": "A/A", "judge": "machine", "start": "1"})
    assert response.status_code == status
    assert not Job.objects.exists()


@pytest.mark.parametrize(("judge", "warned"), [("machine", False), (MODEL, True)])
def test_a_job_warns_of_word_overlap_where_it_is_the_judge(world: World, judge: str, warned: bool) -> None:
    make_judge(judge, "gpt-4o" if judge == "machine" else MODEL)
    page = world.client("olga").get(NEW, {"what": "labels", "judge": judge}).content.decode()
    assert ("is not a model" in page) is warned


def test_a_superuser_starts(world: World) -> None:
    world.people["root"] = make_user("root", is_superuser=True)
    assert world.client("root").get(NEW).status_code == 200


def test_a_dry_run_says_what_it_would_cost_and_does_nothing(world: World) -> None:
    events = Event.objects.count()
    page = post_form(world, "preview", what="support")
    for text in (
        "nothing has been sent",
        "<dt>Citations</dt><dd>2</dd>",
        "least</dt><dd>2</dd>",
        "Start: 2 calls",
    ):
        assert text in page
    assert not Job.objects.exists()
    assert not WorkItem.objects.exists()
    assert Event.objects.count() == events
    assert not Judge.objects.filter(name=MODEL).exists()


def test_what_failed_is_counted_and_started_again(world: World) -> None:
    judge = make_judge()
    call = make_call(make_item(make_job(world, judge), "1", WorkItem.State.DONE))
    label = support_by(call, judge)
    assert "for what failed" not in post_form(world, "preview", what="support", judge=judge.name)
    SupportJudgment.objects.filter(pk=label.pk).update(label=SupportLabel.FAILED)
    page = post_form(world, "preview", what="support", judge=judge.name)
    assert "<dt>Asked again, for what failed</dt><dd>1</dd>" in page
    post_form(world, "start", 302, what="support", judge=judge.name)
    repeated = WorkItem.objects.get(payload__segment=label.segment_id, payload__sentence=label.sentence_id)
    assert repeated.payload["replicate"] == 1


def test_a_dry_run_names_blocked_topics_with_the_reason(world: World) -> None:
    page = post_form(world, "preview", what="E/A")
    assert "Nothing to do: 2 topics cannot be judged yet." in page
    assert "No topic that lacks these labels can be judged yet." in page
    assert "No topic lacks" not in page
    assert '<bdi>t1</bdi>: <span dir="auto">no edited nugget list' in page


@pytest.mark.parametrize("what", ["A/A", "E/A", "M/A", "nuggets", "drafts", "rubric", "support", "relevance"])
def test_every_kind_can_be_tried_out(world: World, what: str) -> None:
    nuggets = "auto-robot" if what == "A/A" else ""
    assert "nothing has been sent" in post_form(world, "preview", what=what, source="NIST", nuggets=nuggets)


def test_a_start_queues_items_and_leads_to_the_job(world: World) -> None:
    response = world.client("olga").post(NEW, {"what": "support", "judge": "", "start": "1"})
    job = Job.objects.get()
    assert response["Location"] == f"/campaigns/river/jobs/{job.pk}/"
    assert (job.title, job.made_by, job.items.count()) == ("Judge citations", world.people["olga"], 2)
    assert job.llm.judge == Judge.objects.get(name=MODEL, kind=JudgeKind.LLM)
    assert Event.objects.get(kind="job.started").actor == world.people["olga"]


def test_only_the_ticked_topics_and_runs_are_judged(world: World) -> None:
    fields = {"what": "support", "judge": "", "start": "1", "runs": ["beta"], "topics": ["t1"]}
    world.client("olga").post(NEW, fields)
    assert WorkItem.objects.count() == 1


def test_starting_what_is_done_is_refused_and_says_so(world: World) -> None:
    page = post_form(world, "start", 422, what="support", topics=["t2"])
    assert "Nothing to do" in page
    assert not Job.objects.exists()


def test_grades_without_a_name_are_an_error_of_the_form(world: World) -> None:
    page = post_form(world, "start", 422, what="relevance", source="")
    assert '_error">say what they are to be called.</span>' in page
    assert not Job.objects.exists()


def test_choices_that_do_not_exist_are_refused(world: World) -> None:
    for wrong in ({"judge": "person"}, {"topics": ["nothing"]}, {"runs": ["nothing"]}, {"what": "A/M"}):
        post_form(world, "start", 422, **wrong)
    assert not Job.objects.exists()


def test_the_form_shows_no_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:pass-canary@llm.example/v1")
    page = world.client("olga").get(NEW).content.decode()
    assert "http://llm.example/v1" in page
    assert "canary" not in page


def test_more_topics_cost_no_more_queries(world: World) -> None:
    client = world.client("olga")
    client.get(NEW)
    before = queries_of(client, NEW)
    Topic.objects.bulk_create(
        Topic(campaign=world.campaign, topic_id=f"x{n}", text="x", position=n + 9) for n in range(40)
    )
    assert queries_of(client, NEW) == before


def test_a_filled_in_form_asks_one_judge_s_items_of_another(world: World) -> None:
    first, second = make_judge("first"), make_judge("second")
    client = world.client("olga")
    fields = {"what": "relevance", "source": "first", "topics": ["t1"], "start": "1"}
    assert client.post(NEW, fields | {"judge": first.name}).status_code == 302
    llm = LlmJob.objects.get()
    address = f"{NEW}?again={llm.pk}"
    WorkItem.objects.update(state=WorkItem.State.DONE)
    Job.objects.update(state=Job.State.DONE)
    assert f'href="{address}"' in client.get(f"/campaigns/river/jobs/{llm.pk}/").content.decode()
    page = client.get(address).content.decode()
    for text in (f"job {llm.pk}</a>", "<bdi>first</bdi>", 'value="relevance"', 'value="t1"'):
        assert text in page
    checked = [line for line in page.split("<input") if "checked" in line]
    assert sorted(line.partition('value="')[2].partition('"')[0] for line in checked) == ["relevance", "t1"]
    assert client.post(address, fields | {"judge": second.name, "source": "second"}).status_code == 302
    assert sorted(LlmJob.objects.values_list("judge__name", flat=True)) == ["first", "second"]


@pytest.mark.parametrize("key", ["0", "x", "9" * 30, ""])
def test_a_job_that_is_not_there_fills_in_nothing(world: World, key: str) -> None:
    response = world.client("olga").get(f"{NEW}?again={key}")
    assert response.status_code == 200
    assert "This asks for what" not in response.content.decode()


def test_a_job_of_another_campaign_fills_in_nothing(world: World) -> None:
    other = Campaign.objects.create(slug="other", name="Other")
    theirs = make_job(World(other, world.people))
    Event.objects.create(
        campaign=other, kind="job.started", payload={"job": theirs.pk, "order": {"work": "support"}}
    )
    assert "This asks for what" not in world.client("olga").get(f"{NEW}?again={theirs.pk}").content.decode()


def shown_at(world: World, query: str) -> str:
    return " ".join(world.client("olga").get(f"{NEW}?{query}").content.decode().split())


def estimate_of(page: str) -> str:
    return page.partition('id="h-estimate"')[2].partition("</aside>")[0]


def test_nothing_to_do_stands_first_and_the_button_is_off(world: World) -> None:
    """Check 66."""
    judge = make_judge()
    item = make_item(make_job(world, judge), "1", WorkItem.State.DONE)
    support_by(make_call(item), judge)
    estimate = estimate_of(shown_at(world, f"what=support&judge={judge.name}&topics=t1&runs=alpha"))
    assert '<p id="why-not"><b>Nothing to do: the 1 label is done.</b></p>' in estimate
    assert "<dd>" not in estimate
    button = estimate.partition('name="start"')[2].partition(">")[0]
    assert 'disabled aria-describedby="why-not"' in button


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("labels", {"condition", "runs"}),
        ("nuggets", {"qrels"}),
        ("drafts", {"qrels"}),
        ("support", {"runs"}),
        ("relevance", {"source"}),
    ],
)
def test_a_kind_shows_only_its_fields(world: World, kind: str, fields: set[str]) -> None:
    """Check 64."""
    page = shown_at(world, f"what={kind}")
    own = {"condition", "nuggets", "qrels", "source", "study", "runs"}
    assert {name for name in own if f'name="{name}"' in page} == fields


def test_a_kind_that_cannot_be_done_says_why(world: World) -> None:
    assert "No second look has been drawn yet" in shown_at(world, "")


def test_topics_that_lack_the_work_are_ticked(world: World) -> None:
    page = shown_at(world, "what=support")
    assert "Ticked: the 1 topic that lacks these labels." in page
    ticked = [box for box in page.split("<input") if 'name="topics"' in box and " checked" in box]
    assert [box.partition('value="')[2].partition('"')[0] for box in ticked] == ["t1"]
    assert "Tick at least one topic." in estimate_of(shown_at(world, "what=support&shown=1"))


def test_the_button_starts_what_the_address_says(world: World) -> None:
    page = shown_at(world, "what=support&runs=beta&most_calls=9")
    assert 'action="?what=support&amp;runs=beta&amp;most_calls=9"' in page
    assert "at most 9 calls" in page
    answer = world.client("olga").post(f"{NEW}?what=support&runs=beta&most_calls=9", {"start": "1"})
    job = Job.objects.get()
    assert answer["Location"] == f"/campaigns/river/jobs/{job.pk}/"
    assert (job.items.count(), job.llm.most_calls) == (1, 9)


def test_nuggets_are_made_without_labels(world: World) -> None:
    world.client("olga").post(f"{NEW}?what=nuggets&qrels=NIST", {"start": "1"})
    job = Job.objects.get()
    assert job.title == "Make nuggets"
    assert {item.kind for item in job.items.all()} == {"nuggets"}
    assert all(item.payload["then_runs"] is None for item in job.items.all())


def test_an_old_address_fills_in_the_nuggets_of_its_condition(world: World) -> None:
    page = shown_at(world, "what=M/A&topics=t1")
    assert '<option value="M/A" selected>Manual nuggets (M)</option>' in page


@pytest.mark.parametrize(
    "query", ["most_money=abc", "most_tokens=-1", "most_calls=x", "condition=x", "priority=x"]
)
def test_a_preview_beside_a_wrong_field_is_shown(world: World, query: str) -> None:
    for what in ("labels", "support", "nuggets"):
        response = world.client("olga").get(f"/campaigns/river/jobs/new/?what={what}&{query}")
        assert response.status_code == 200


def test_a_judge_that_was_made_is_chosen_and_its_endpoint_named(world: World) -> None:
    add_judge(name="lab", kind=JudgeKind.LLM, model="m", base_url="https://api.openai.com/v1")
    page = world.client("olga").get("/campaigns/river/jobs/new/?judge=lab").content.decode()
    assert "Its calls go to <code>https://api.openai.com/v1</code>" in page


def test_battles_are_offered_once_they_are_drawn_and_begin_with_their_orders(world: World) -> None:
    page = shown_at(world, "what=battle")
    assert "No battle has been drawn yet" in page
    assert "No battle has been drawn yet" in estimate_of(page)
    draw = draw_battles(campaign=world.campaign, order=BattleOrder())
    assert draw.battles == 1
    page = shown_at(world, "what=battle")
    for value in ("battles", "fifth", ""):
        assert f'<option value="{value}" selected>' in page
    assert "<dt>Battles, by order</dt><dd>2</dd>" in estimate_of(page)
    assert "<dt>Battles, by order</dt><dd>1</dd>" in estimate_of(shown_at(world, "what=battle&orders=one"))
    assert "topic that lacks these verdicts." in page
    world.client("olga").post(f"{NEW}?what=battle&orders=one&set=battles", {"start": "1"})
    job = Job.objects.get()
    assert (job.title, job.items.count()) == ("Compare answers", 1)
    again = shown_at(world, f"again={job.pk}")
    assert '<option value="one" selected>' in again


def test_battles_may_be_judged_beside_nuggets(world: World) -> None:
    draw_battles(campaign=world.campaign, order=BattleOrder())
    [nugget_set] = (
        NuggetSet.objects.exclude(origin=Origin.DRAFT).filter(lists__topic__topic_id="t1").distinct()[:1]
    )
    world.client("olga").post(f"{NEW}?what=battle&nuggets={nugget_set.name}", {"start": "1"})
    assert {"list"} <= WorkItem.objects.all()[0].payload.keys()
