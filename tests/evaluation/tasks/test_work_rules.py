"""States of handed-out work, who may be handed what, and equal shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import Refused
from evaluation.rules.tasks import (
    ACTIVE,
    TRANSITIONS,
    Act,
    AssessorFacts,
    TaskFacts,
    balance,
    can_act,
    check_act,
    check_hand_out,
    check_maker,
    check_reopen,
    state_after,
)
from evaluation.stages import ASSIGN, MANUAL, POST_EDIT, STAGES, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.terms import Role, TaskState

ANN = AssessorFacts("Ann", frozenset({Role.ASSESSOR}))
SHOWN = SUPPORT_POST_EDIT
STANDINGS = st.builds(TaskFacts, st.sampled_from(TaskState), st.integers(1, 4), st.booleans())


def can_hand_out(stage: Stage, person: AssessorFacts, nuggets: str = "") -> bool:
    try:
        check_hand_out(stage, person, nuggets)
    except Refused:
        return False
    return True


@given(act=st.sampled_from(Act), standing=STANDINGS)
def test_an_act_is_refused_or_leads_to_a_state_of_the_table(act: Act, standing: TaskFacts) -> None:
    if can_act(act, standing.state):
        assert state_after(act, standing) in TRANSITIONS[act][standing.state]
        return
    with pytest.raises(Refused) as refusal:
        state_after(act, standing)
    assert refusal.value.code == f"cannot_{act}"
    assert standing.state in refusal.value.message


@given(st.lists(st.sampled_from(Act), max_size=30))
def test_however_a_task_fares_it_was_opened_before_it_was_submitted(acts: list[Act]) -> None:
    standing = TaskFacts(TaskState.NOT_STARTED)
    for act in acts:
        if can_act(act, standing.state):
            state = state_after(act, standing)
            opened = standing.opened or act is Act.OPEN
            standing = TaskFacts(state, standing.version + (act is Act.REOPEN), opened)
        assert standing.opened or standing.state not in (TaskState.SUBMITTED, TaskState.REOPENED)
        assert (standing.version > 1) <= standing.opened


@given(STANDINGS.filter(lambda standing: standing.state in ACTIVE))
def test_block_and_unblock_lead_back(standing: TaskFacts) -> None:
    where = TaskFacts(standing.state, *_fitting(standing.state))
    blocked = TaskFacts(state_after(Act.BLOCK, where), where.version, where.opened)
    assert state_after(Act.UNBLOCK, blocked) is where.state


def _fitting(state: TaskState) -> tuple[int, bool]:
    return {TaskState.NOT_STARTED: (1, False), TaskState.IN_PROGRESS: (1, True)}.get(state, (2, True))


def test_nothing_leads_out_of_withdrawn() -> None:
    assert [act for act in Act if can_act(act, TaskState.WITHDRAWN)] == []


def test_every_state_but_the_first_is_reached() -> None:
    reached = {state for by_state in TRANSITIONS.values() for after in by_state.values() for state in after}
    assert reached == set(TaskState)


def test_a_refusal_says_what_stands_against_it() -> None:
    with pytest.raises(Refused, match="This task is in progress: only submitted work can be reopened"):
        check_act(Act.REOPEN, TaskState.IN_PROGRESS)


@pytest.mark.parametrize(
    ("stage", "person", "code"),
    [
        (MANUAL, AssessorFacts("Sam", frozenset()), "not_assessor"),
        (MANUAL, AssessorFacts("Ann", ANN.roles, staff=True), "staff"),
        (MANUAL, AssessorFacts("Ann", ANN.roles, active=False), "inactive"),
        (MANUAL, AssessorFacts("Olga", frozenset({Role.ASSESSOR, Role.ORGANIZER})), "unblinded"),
        (MANUAL, AssessorFacts("Rita", frozenset({Role.ASSESSOR, Role.RESEARCHER})), "unblinded"),
        (MANUAL, AssessorFacts("Ann", ANN.roles, stages=frozenset({MANUAL})), "has_it"),
        (MANUAL, AssessorFacts("Ann", ANN.roles, seen_drafts=True), "saw_drafts"),
        (POST_EDIT, AssessorFacts("Ann", ANN.roles, by_hand_open=True), "by_hand_first"),
        (MANUAL, AssessorFacts("Ann", ANN.roles, seen_lists=True), "saw_list"),
        (POST_EDIT, AssessorFacts("Ann", ANN.roles, seen_lists=True), "saw_list"),
        (ASSIGN, AssessorFacts("Ann", ANN.roles, assigns=frozenset({""})), "has_it"),
        (ASSIGN, AssessorFacts("Ann", ANN.roles, makes=frozenset({"edited-Ann"})), "makes_another"),
        (SUPPORT_SCRATCH, AssessorFacts("Ann", ANN.roles, makes=frozenset({"edited-Ann"})), "makes_another"),
        (SUPPORT_SCRATCH, AssessorFacts("Ann", ANN.roles, judged=frozenset({SHOWN})), "other_condition"),
        (SHOWN, AssessorFacts("Ann", ANN.roles, judged=frozenset({SUPPORT_SCRATCH})), "other_condition"),
        (ASSIGN, AssessorFacts("Ann", ANN.roles, unread="ar"), "other_language"),
    ],
)
def test_who_may_not_be_handed_a_task(stage: Stage, person: AssessorFacts, code: str) -> None:
    assert not can_hand_out(stage, person)
    with pytest.raises(Refused) as refusal:
        check_hand_out(stage, person)
    assert refusal.value.code == code


@pytest.mark.parametrize("stage", STAGES.values())
def test_an_assessor_who_knows_nothing_of_a_topic_may_have_it(stage: Stage) -> None:
    assert can_hand_out(stage, ANN)


def test_seen_drafts_may_be_seen_again_but_no_manual_list_reopened() -> None:
    assert can_hand_out(POST_EDIT, AssessorFacts("Ann", ANN.roles, seen_drafts=True))
    check_reopen(POST_EDIT, seen_drafts=True)
    with pytest.raises(Refused):
        check_reopen(MANUAL, seen_drafts=True)


def test_makers_of_a_list_may_assign_it_and_another_set_apart() -> None:
    maker = AssessorFacts("Ann", ANN.roles, makes=frozenset({"edited-Ann"}))
    assert can_hand_out(ASSIGN, maker, "edited-Ann")
    assert not can_hand_out(ASSIGN, maker, "auto")
    assert can_hand_out(ASSIGN, AssessorFacts("Ann", ANN.roles, assigns=frozenset({"edited"})), "auto")


def test_assigning_and_judging_support_do_not_block_each_other() -> None:
    has_assigned = AssessorFacts("Ann", ANN.roles, judged=frozenset({ASSIGN}))
    for stage in (SUPPORT_SCRATCH, SHOWN):
        assert can_hand_out(stage, has_assigned)
        has_judged = AssessorFacts("Ann", ANN.roles, judged=frozenset({stage}))
        assert can_hand_out(stage, has_judged)
        assert can_hand_out(ASSIGN, has_judged)


def test_others_assign_a_list_for_a_reason_or_to_compare() -> None:
    with pytest.raises(Refused, match="Ann made this list: say why Ben is to assign it"):
        check_maker("Ben", "Ann", overlap=False, reason=" ")
    check_maker("Ben", "Ann", overlap=True, reason="")
    check_maker("Ben", "Ann", overlap=False, reason="Ann is away")


def test_labels_take_the_time_that_the_study_needed() -> None:
    assert ASSIGN.minutes(labels=45 * 17) == pytest.approx(120, abs=10)
    assert SUPPORT_SCRATCH.minutes(labels=0) == 1


def test_a_usual_topic_takes_what_the_study_says() -> None:
    characters = 75 * 150 * 6
    assert POST_EDIT.minutes(characters=characters, drafts=30) == pytest.approx(60, abs=5)
    assert MANUAL.minutes(characters=characters) == pytest.approx(150, abs=5)


@given(st.sampled_from([*STAGES.values()]), st.integers(0, 10**7), st.integers(0, 100))
def test_more_to_read_never_takes_less(stage: Stage, characters: int, drafts: int) -> None:
    less = stage.minutes(characters=characters, drafts=drafts)
    assert 1 <= less <= stage.minutes(characters=characters + 600, drafts=drafts + 1)


PEOPLE = ["ann", "ben", "cat", "dan"]
MINUTES = st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.integers(1, 300), max_size=25)
LOADS = st.dictionaries(st.sampled_from(PEOPLE), st.integers(0, 500), min_size=1)


@given(MINUTES, LOADS, st.data())
def test_shares_do_not_depend_on_the_order_of_asking(
    minutes: dict[str, int], loads: dict[str, int], data: st.DataObject
) -> None:
    allowed = {work: data.draw(st.sets(st.sampled_from(sorted(loads)))) for work in minutes}
    shuffled = dict(data.draw(st.permutations(list(minutes.items()))))
    turned = dict(reversed(list(loads.items())))
    shares = balance(minutes, loads, allowed)
    assert shares == balance(shuffled, turned, {work: sorted(who) for work, who in allowed.items()})
    assert all(shares[work] in allowed[work] for work in shares)
    assert set(shares) == {work for work in minutes if allowed[work]}


@given(MINUTES, LOADS)
def test_nobody_is_ahead_by_more_than_their_last_piece(minutes: dict[str, int], loads: dict[str, int]) -> None:
    shares = balance(minutes, loads, dict.fromkeys(minutes, tuple(loads)))
    after = {
        who: load + sum(minutes[work] for work in shares if shares[work] == who) for who, load in loads.items()
    }
    for who in set(shares.values()):
        last = min(minutes[work] for work in shares if shares[work] == who)
        assert after[who] - last <= min(after.values())
