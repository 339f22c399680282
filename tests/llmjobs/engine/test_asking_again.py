"""What failed is asked anew by the next command or job: only that, and nothing good is paid twice."""

from dataclasses import replace

import pytest

from evaluation.judges import add_judge
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import Assignment, Citation, NuggetList, Qrel, Segment, Sentence, SupportJudgment
from evaluation.terms import JudgeKind, Origin
from jobs import queue
from jobs.models import Job, WorkItem
from llmjobs.job_service import plan_lists, start
from llmjobs.models import Call
from llmjobs.simulator.answering import MODEL
from loadtest.servers.simulator import LoggedSimulator
from tests.worlds.imported import Outcome, run
from tests.worlds.llm import World, assert_calls_are_sound, grade_segments, make_world, states_of, work_on

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("transactional_db", "_quick_retries"),
]
EVALUATE = ("evaluate", "--campaign", "river", "--condition", "A/A")
FAULTS = ["out_of_vocabulary", "bad_request"]


def figures_of(*command: str) -> dict[str, int]:
    outcome = run(*command, "--dry-run")
    assert outcome.code == 0, outcome.err
    figures = {name.strip(): number.replace(",", "") for name, number in map(_pair, outcome.out.splitlines()[1:])}
    return {name: int(number) for name, number in figures.items() if number.isdigit()}


def _pair(line: str) -> tuple[str, str]:
    name, number = line.rsplit(None, 1)
    return name, number


def failing(simulator: LoggedSimulator, text: str, fault: str, *command: str) -> Outcome:
    simulator.chooser.switch({"always": {text: fault}})
    outcome = run(*command, "--wait")
    assert outcome.code == 3, outcome.err
    simulator.chooser.switch({"always": {}})
    return outcome


def labels() -> dict[str, int]:
    return dict(Assignment.objects.values_list("nugget_version__text", "label"))


def test_only_nuggets_that_failed_are_asked_again(simulator: LoggedSimulator) -> None:
    make_world(runs=1)
    failing(simulator, "thing1", "out_of_vocabulary", *EVALUATE)
    before = dict(Assignment.objects.exclude(label=AssignmentLabel.FAILED).values_list("pk", "event"))
    assert len(before) == 2
    served = len(simulator.log.served())
    figures = figures_of(*EVALUATE)
    assert (figures["items"], figures["again"], figures["calls"]) == (1, 1, 1)
    assert (figures["reused"], figures["judged"]) == (0, 0)
    repeated = run(*EVALUATE, "--wait")
    assert repeated.code == 0, repeated.err
    assert "1 items (1 again, for what failed)" in repeated.err
    assert len(simulator.log.served()) == served + 1
    assert AssignmentLabel.FAILED not in labels().values()
    assert len(labels()) == 3
    assert dict(Assignment.objects.filter(pk__in=before).values_list("pk", "event")) == before
    assert Call.objects.latest("pk").replicate == 1
    assert_calls_are_sound()
    assert "Nothing to do: 1 done already." in run(*EVALUATE, "--wait").err


@pytest.mark.parametrize("fault", FAULTS)
def test_what_fails_again_is_asked_again_and_again(simulator: LoggedSimulator, fault: str) -> None:
    make_world(runs=2)
    for replicate in range(3):
        failing(simulator, "run r1", fault, *EVALUATE)
        assert Call.objects.latest("pk").replicate == replicate
    assert run(*EVALUATE, "--wait").code == 0
    assert AssignmentLabel.FAILED not in labels().values()
    assert Call.objects.filter(replicate=3).count() == 1


def test_failed_and_missing_labels_are_asked_together(simulator: LoggedSimulator) -> None:
    make_world(runs=1, nuggets=4)
    failing(simulator, "thing1", "out_of_vocabulary", *EVALUATE)
    Assignment.objects.filter(nugget_version__text__contains="thing3").delete()
    served = len(simulator.log.served())
    assert run(*EVALUATE, "--wait").code == 0
    assert len(simulator.log.served()) == served + 1
    assert len(WorkItem.objects.latest("pk").payload["nuggets"]) == 2
    assert len(labels()) == 4


def test_a_label_that_failed_in_an_imported_file_is_asked(simulator: LoggedSimulator) -> None:
    make_world(runs=1)
    assert run(*EVALUATE, "--wait").code == 0
    Assignment.objects.update(label=AssignmentLabel.FAILED, event=None, raw="okey")
    assert run(*EVALUATE, "--wait").code == 0
    assert AssignmentLabel.FAILED not in labels().values()
    assert set(Assignment.objects.values_list("raw", flat=True)) == {""}


def cite(world: World, number: int) -> None:
    for n, sentence in enumerate(Sentence.objects.order_by("pk")[:number]):
        segment = Segment.objects.create(
            campaign=world.campaign, docid=f"c{n}", document=f"c{n}", has_text=True, text=f"Cited text number{n}."
        )
        Citation.objects.create(sentence=sentence, position=0, segment=segment, raw=f"c{n}")


@pytest.mark.parametrize("fault", FAULTS)
def test_only_pairs_whose_support_failed_are_asked_again(simulator: LoggedSimulator, fault: str) -> None:
    cite(make_world(runs=4, nuggets=0), 4)
    command = ("judge_support", "--campaign", "river")
    failing(simulator, "number2", fault, *command)
    failing(simulator, "number2", fault, *command)
    assert SupportJudgment.objects.filter(label=SupportLabel.FAILED).count() == 1
    served = len(simulator.log.served())
    figures = figures_of(*command)
    assert [figures[name] for name in ("items", "again", "calls", "reused", "judged")] == [1, 1, 1, 0, 3]
    assert run(*command, "--wait").code == 0
    assert len(simulator.log.served()) == served + 1
    assert not SupportJudgment.objects.filter(label=SupportLabel.FAILED).exists()
    assert SupportJudgment.objects.count() == 4
    assert Call.objects.latest("pk").replicate == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_only_segments_without_a_grade_are_asked_again(simulator: LoggedSimulator, fault: str) -> None:
    grade_segments(make_world(nuggets=0), 3, "NIST")
    command = ("judge_relevance", "--campaign", "river", "--source", "UMBRELA")
    failing(simulator, "Text number 2.", fault, *command)
    served = len(simulator.log.served())
    figures = figures_of(*command)
    assert [figures[name] for name in ("items", "again", "reused", "judged")] == [1, 1, 0, 2]
    assert run(*command, "--wait").code == 0
    assert len(simulator.log.served()) == served + 1
    assert Qrel.objects.filter(source__name="UMBRELA").count() == 3
    other = (*command[:-1], "OTHER")
    assert figures_of(*other)["reused"] == 3
    assert run(*other, "--wait").code == 0
    assert len(simulator.log.served()) == served + 1


def many_segments(world: World) -> None:
    """Give the first topic three windows of segments to read."""
    grade_segments(world, 25)
    for segment in Segment.objects.all():
        segment.text = f"A topic1 river{segment.docid} carries sand{segment.docid} to the sea{segment.docid}."
        segment.save()


@pytest.mark.parametrize("fault", FAULTS)
def test_only_the_failed_window_of_a_topic_is_read_again(simulator: LoggedSimulator, fault: str) -> None:
    many_segments(make_world(nuggets=0, runs=1))
    failing(simulator, "riverd2", fault, *EVALUATE)
    assert not NuggetList.objects.exists()
    read = Call.objects.filter(template="nuggetize", replicate=0).count()
    figures = figures_of(*EVALUATE)
    assert [figures[name] for name in ("items", "again", "calls", "reused")] == [1, 1, 3, 1]
    repeated = run(*EVALUATE, "--wait")
    assert repeated.code == 0, repeated.err
    assert Call.objects.filter(template="nuggetize", replicate=0).count() == read
    assert Call.objects.filter(template="nuggetize", replicate=1).count() == 2
    assert NuggetList.objects.count() == 1
    assert Assignment.objects.count() == NuggetList.objects.get().items.count()
    assert_calls_are_sound()


def test_a_retry_on_the_jobs_page_reads_only_what_failed_too(simulator: LoggedSimulator) -> None:
    world = make_world(nuggets=0)
    many_segments(world)
    simulator.chooser.switch({"always": {"riverd2": "bad_request"}})
    job = start(world.request, "Drafts", plan_lists(world.request, Origin.DRAFT, qrels="UMBRELA"))
    for replicate in (0, 1):
        work_on()
        assert states_of(job) == {"failed": 1}
        assert Call.objects.filter(replicate=replicate).count() == (2, 1)[replicate]
        queue.retry_failed(job)
    simulator.chooser.switch({"always": {}})
    work_on()
    assert states_of(job) == {"done": 1}
    assert Call.objects.filter(replicate=2).count() == 2
    uses = job.items.get().call_uses.values_list("part", "call__replicate")
    assert list(uses) == [("window 1", 0), ("window 2", 2), ("window 3", 2)]


def test_a_topic_that_failed_in_two_jobs_reads_no_window_a_third_time(simulator: LoggedSimulator) -> None:
    many_segments(make_world(nuggets=0, runs=1))
    command = ("draft_nuggets", "--campaign", "river", "--qrels", "UMBRELA")
    failing(simulator, "riverd25", "bad_request", *command)
    failing(simulator, "riverd25", "bad_request", *command)
    assert list(Call.objects.order_by("pk").values_list("state", "replicate")) == [
        ("answered", 0),
        ("answered", 0),
        ("failed", 0),
        ("failed", 1),
    ]
    assert run(*command, "--wait").code == 0
    assert Call.objects.filter(state="answered").count() == 3
    assert Job.objects.count() == 3


def test_another_model_makes_automatic_lists_of_its_own(simulator: LoggedSimulator) -> None:
    world = make_world(topics=1, nuggets=3)
    grade_segments(world, 2)
    assert plan_lists(world.request, Origin.AUTO, qrels="UMBRELA").judged == 1
    Segment.objects.update(text="The topic1 is made of sand and water.")
    other = replace(world.request, judge=add_judge(name="other", kind=JudgeKind.LLM, model=MODEL)[0])
    plan = plan_lists(other, Origin.AUTO, qrels="UMBRELA")
    assert (plan.judged, len(plan.items)) == (0, 1)
    start(other, "nuggets", plan)
    work_on()
    sets = world.campaign.nugget_sets.filter(origin=Origin.AUTO)
    assert sorted(sets.values_list("judge__name", flat=True)) == ["other", MODEL]
