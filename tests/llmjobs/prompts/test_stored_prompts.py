"""Prompts that organizers wrote: versions that stay as they are, and judges that ask by them."""

import pytest

from evaluation.errors import Refused
from evaluation.judges import judge_in, study_judge
from evaluation.models import Assignment, Event, Judge, Study
from evaluation.terms import Condition, JudgeKind, StudyKind, SupportCondition
from llmjobs.job_service import JobRequest, plan_evaluation, start
from llmjobs.models import Call, Prompt, Text
from llmjobs.prompt_store import UnusableError, add_llm_judge, new_wording, save_prompt, the_template, way_of
from llmjobs.prompts.texts import ASSIGN, SUPPORT
from llmjobs.simulator.answering import MODEL
from loadtest.servers.simulator import LoggedSimulator
from tests.worlds.cast import make_user
from tests.worlds.imported import everything, run
from tests.worlds.llm import make_world, start_assigning, states_of, work_on

USER = "{query} {passage} {nuggets} Answer with {length} labels."


def save(name: str = "strict", user: str = USER, system: str = ASSIGN.system) -> Prompt:
    return save_prompt(new_wording("assign", name, system, user))[0]


@pytest.mark.django_db
def test_a_changed_text_is_the_next_version_and_the_same_text_none() -> None:
    first, second = save(), save(user=f"{USER} Be strict.")
    assert (str(first), str(second)) == ("strict@1", "strict@2")
    assert save_prompt(new_wording("assign", "strict", ASSIGN.system, f"{USER}\r\n")) == (first, False)
    assert the_template("strict@1").sha256 == first.sha256 != second.sha256


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "user", "message"),
    [
        ("assign", USER, "name: assign is built in"),
        ("a b", USER, "name: letters, digits"),
        ("x" * 41, USER, "name: letters, digits"),
        ("strict", "{query} {nuggets}", "user: {passage} is missing from the user text."),
        ("strict", f"{USER} {{cap}}", "user: {cap} is not a placeholder of assign."),
        ("strict", f"{USER} \x00", "user: control characters"),
        ("strict", USER + "x" * 50_001, "user: at most 50,000 characters"),
    ],
)
def test_what_cannot_be_used_is_refused_at_its_field(name: str, user: str, message: str) -> None:
    with pytest.raises(UnusableError) as refusal:
        save(name=name, user=user)
    assert message in refusal.value.message
    assert not Prompt.objects.exists()


@pytest.mark.django_db
def test_a_name_belongs_to_one_task() -> None:
    save()
    with pytest.raises(UnusableError, match="strict is a prompt for the task assign"):
        save_prompt(new_wording("support", "strict", SUPPORT.system, SUPPORT.user))


@pytest.mark.django_db
def test_a_judge_is_made_of_model_prompts_and_form() -> None:
    save()
    options = (
        "add_judge",
        "careful",
        "--by",
        "llm",
        "--model",
        "m",
        "--prompt",
        "assign=strict@1",
        "--structured",
    )
    assert run(*options).err == "careful, an LLM (m; assign strict@1, reply_form json_schema): made.\n"
    before = everything()
    assert "nothing changed" in run(*options).err
    assert everything() == before
    assert run(*options[:-1]).code == 1
    template = way_of(Judge.objects.get(name="careful")).templates["assign"]
    assert (template.ref, template.structured) == ("strict@1", True)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("choice", "code", "message"),
    [
        (
            "assign=strict@7",
            1,
            "There is no prompt strict@7 for the task assign; "
            "there are: assign@1, assign-rubric@1, assign@2, assign-rubric@2, strict@1.",
        ),
        (
            "support=strict@1",
            1,
            "There is no prompt strict@1 for the task support; there are: support@1, support-quote@1.",
        ),
        ("judging=strict@1", 2, "There is no task judging"),
        ("strict@1", 2, "TASK=NAME@VERSION"),
    ],
)
def test_a_prompt_that_is_not_there_makes_no_judge(choice: str, code: int, message: str) -> None:
    save()
    outcome = run("add_judge", "careful", "--by", "llm", "--model", "m", "--prompt", choice)
    assert (outcome.code, Judge.objects.exists()) == (code, False)
    assert message in outcome.err


@pytest.mark.django_db
def test_a_person_has_no_prompts() -> None:
    make_user("ann")
    outcome = run("add_judge", "Ann", "--by", "human", "--user", "ann", "--structured")
    assert (outcome.code, outcome.err) == (2, "A person who judges has no prompts.\n")


@pytest.mark.usefixtures("transactional_db")
def test_another_prompt_is_another_judge_beside_the_first(simulator: LoggedSimulator) -> None:
    world = make_world(runs=1)
    start_assigning(world)
    prompt = save(user=f"Be strict.\n\n{ASSIGN.user}")
    judge, _ = add_llm_judge(name="strict", model=MODEL, prompts={"assign": "strict@1"})
    request = JobRequest(world.campaign, judge)
    start(request, "again", plan_evaluation(request, Condition.AA))
    work_on()
    assert [Assignment.objects.filter(judge=assigner).count() for assigner in (world.judge, judge)] == [3, 3]
    label = Assignment.objects.filter(judge=judge)[0]
    call = Call.objects.get(event=label.event)
    assert (call.template, call.template_version, call.template_sha256) == ("strict", 1, prompt.sha256)
    assert Text.objects.get(sha256=call.messages[1]["sha256"]).content.startswith("Be strict.")
    assert Call.objects.filter(template="assign").count() == len(simulator.log.served()) - 1 == 1


@pytest.mark.usefixtures("transactional_db")
def test_a_prompt_that_got_lost_fails_its_items_with_the_reason(simulator: LoggedSimulator) -> None:
    world = make_world(runs=1)
    Judge.objects.filter(pk=world.judge.pk).update(prompt_versions={"assign": "lost@3"})
    with pytest.raises(Refused, match="no prompt lost@3"):
        way_of(Judge.objects.get())
    job = start_assigning(world)
    work_on()
    assert states_of(job) == {"failed": 1}
    assert job.items.get().reason.startswith("There is no prompt lost@3 for the task assign")
    assert simulator.log.served() == []


@pytest.mark.django_db
def test_a_wording_that_was_changed_behind_our_back_is_not_asked() -> None:
    save()
    Prompt.objects.update(user=f"{USER} Say support.")
    with pytest.raises(Refused, match="The words of strict@1 are not those that were saved"):
        the_template("strict@1")


@pytest.mark.django_db
def test_in_a_study_judges_of_one_model_with_other_prompts_are_others() -> None:
    world = make_world(runs=1)
    save()
    strict, _ = add_llm_judge(name="strict", model=MODEL, prompts={"assign": "strict@1"})
    study = Study.objects.create(
        campaign=world.campaign,
        name="s",
        kind=StudyKind.SUPPORT,
        condition=SupportCondition.SCRATCH,
        person=Judge.objects.create(name="p", kind=JudgeKind.HUMAN),
        judge=world.judge,
        event=Event.objects.all()[0],
    )
    second = study_judge(study, strict)
    assert second.prompt_versions == {"assign": "strict@1"}
    assert study_judge(study, strict) == second
    assert judge_in(study, Judge(name="plain", kind=JudgeKind.LLM, model=MODEL)).pk is None
