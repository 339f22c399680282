"""Handed-out work: its states, who may be handed what, and how it is spread evenly over people."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from evaluation.errors import Refused
from evaluation.stages import Stage
from evaluation.terms import Role, TaskState
from web.text import trimmed

UNBLINDED_ROLES = (Role.ORGANIZER, Role.RESEARCHER, Role.AUDITOR)


class Act(StrEnum):
    """Act on a task. The assessor opens and submits; the rest is the organizers'."""

    OPEN = "open"
    SUBMIT = "submit"
    REOPEN = "reopen"
    BLOCK = "block"
    UNBLOCK = "unblock"
    WITHDRAW = "withdraw"


ACTIVE = (TaskState.NOT_STARTED, TaskState.IN_PROGRESS, TaskState.REOPENED)
"""States in which the assessor can work on a task."""

TRANSITIONS: Mapping[Act, Mapping[TaskState, Collection[TaskState]]] = {
    Act.OPEN: {TaskState.NOT_STARTED: (TaskState.IN_PROGRESS,)},
    Act.SUBMIT: dict.fromkeys((TaskState.IN_PROGRESS, TaskState.REOPENED), (TaskState.SUBMITTED,)),
    Act.REOPEN: {TaskState.SUBMITTED: (TaskState.REOPENED,)},
    Act.BLOCK: dict.fromkeys(ACTIVE, (TaskState.BLOCKED,)),
    Act.UNBLOCK: {TaskState.BLOCKED: ACTIVE},
    Act.WITHDRAW: dict.fromkeys((*ACTIVE, TaskState.BLOCKED, TaskState.SUBMITTED), (TaskState.WITHDRAWN,)),
}
"""Table of states: an act, the states it is allowed in, and where each leads."""

REFUSALS = {
    Act.OPEN: "it can be opened only before it is started.",
    Act.SUBMIT: "only work in progress or reopened can be submitted.",
    Act.REOPEN: "only submitted work can be reopened.",
    Act.BLOCK: "only work that is not submitted can be blocked.",
    Act.UNBLOCK: "it is not blocked.",
    Act.WITHDRAW: "it is withdrawn already.",
}


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """State of a task. `version` is the submission being made, or made last."""

    state: TaskState
    version: int = 1
    opened: bool = False


def can_act(act: Act, state: TaskState) -> bool:
    return state in TRANSITIONS[act]


def check_act(act: Act, state: TaskState) -> None:
    if not can_act(act, state):
        raise Refused(f"cannot_{act}", f"This task is {state}: {REFUSALS[act]}")


def state_after(act: Act, facts: TaskFacts) -> TaskState:
    """Return the state that an act leads to; a task that is unblocked returns to its state before. Raises `Refused`."""
    check_act(act, facts.state)
    if act is not Act.UNBLOCK:
        [state] = TRANSITIONS[act][facts.state]
        return state
    if not facts.opened:
        return TaskState.NOT_STARTED
    return TaskState.REOPENED if facts.version > 1 else TaskState.IN_PROGRESS


@dataclass(frozen=True, slots=True)
class AssessorFacts:
    """Facts of a person who is to be handed a stage of a topic.

    `stages`: the stages of this topic that they have. `seen_drafts`: they have or had it to post-edit.
    `by_hand_open`: they have it to write by hand, and have not submitted that. `judged`: stages in which they have or
    had its answers. `assigns`: the nugget sets they have to assign; `makes`: those in which they have a list in the
    making; `seen_lists`: they have or had another's list to assign. `paused`: they are given nothing new for now.
    `unread`: the topic's language, where they do not read it.
    """

    name: str
    roles: frozenset[Role]
    active: bool = True
    staff: bool = False
    stages: frozenset[Stage] = frozenset()
    seen_drafts: bool = False
    by_hand_open: bool = False
    judged: frozenset[Stage] = frozenset()
    assigns: frozenset[str] = frozenset()
    makes: frozenset[str] = frozenset()
    seen_lists: bool = False
    paused: bool = False
    unread: str = ""


def check_person(person: AssessorFacts) -> None:
    """Raise `Refused` for somebody who may be handed nothing in this campaign."""
    if not person.active:
        raise Refused("inactive", f"{person.name} cannot sign in.")
    if Role.ASSESSOR not in person.roles:
        raise Refused("not_assessor", f"{person.name} is no assessor of this campaign.")
    if person.staff:
        raise Refused("staff", f"{person.name} has an administrator's account, which sees what assessors may not.")
    if any(role in UNBLINDED_ROLES for role in person.roles):
        raise Refused("unblinded", f"{person.name} has an unblinded role in this campaign or in a copy of it.")
    if person.paused:
        raise Refused("paused", f"{person.name} is paused and gets nothing new.")


def can_work(person: AssessorFacts) -> bool:
    try:
        check_person(person)
    except Refused:
        return False
    return True


def check_language(person: AssessorFacts) -> None:
    if person.unread:
        raise Refused("other_language", f"{person.name} does not read {person.unread}, the topic's language.")


def check_hand_out(stage: Stage, person: AssessorFacts, nuggets: str = "") -> None:
    """Raise `Refused` when somebody may not be handed a stage of a topic. `nuggets`: the set that is to be assigned."""
    check_person(person)
    check_language(person)
    if nuggets in person.assigns if stage.by_list else stage in person.stages:
        raise Refused("has_it", f"{person.name} has it already.")
    if stage.judges:
        _check_judging(stage, person, nuggets)
    else:
        _check_making(stage, person)


def _check_making(stage: Stage, person: AssessorFacts) -> None:
    if stage.by_hand and person.seen_drafts:
        raise Refused("saw_drafts", f"{person.name} had it to post-edit and has seen the drafts.")
    if stage.shows_drafts and person.by_hand_open:
        raise Refused("by_hand_first", f"{person.name} has not submitted the list written by hand yet.")
    saw_answers = (task for task in person.judged if not task.by_list and task.reads == "answer")
    if judged := next(saw_answers, None):
        raise Refused(
            "saw_answers", f"{person.name} has or had it to {judged.assessor_words} and has seen the answers."
        )
    if person.seen_lists:
        raise Refused("saw_list", f"{person.name} had another's list of it to assign and has seen that.")


def _check_judging(stage: Stage, person: AssessorFacts, nuggets: str) -> None:
    # Whoever has seen the machine's labels cannot judge from scratch; and one person's labels under both conditions
    # would be compared as if two had given them.
    if stage.condition and any(task.condition not in (None, stage.condition) for task in person.judged):
        raise Refused("other_condition", f"{person.name} has or had its citations in the other condition.")
    # Answers would tell the maker of a list what systems found.
    if stage.reads == "answer" and person.makes - {nuggets}:
        raise Refused("makes_another", f"{person.name} has a list of their own in the making.")


def check_maker(name: str, maker: str, *, overlap: bool, reason: str) -> None:
    """Raise `Refused` for an assigner who did not make the list, unless a reason is given.

    `overlap`: somebody assigns it already, and the labels are to be compared.
    """
    if not overlap and not trimmed(reason):
        raise Refused("not_the_maker", f"{maker} made this list: say why {name} is to assign it.")


def check_room(holders: Collection[str], overlap: int | None, *, again: bool) -> None:
    """Raise `Refused` where enough people have a piece of work.

    `holders`: those who have it, as texts. `overlap`: the number of people who are to have it; None: a single person,
    and as many more as it is handed out `again` on purpose.
    """
    listed = ", ".join(holders)
    if overlap is None and holders and not again:
        raise Refused("taken", listed)
    if overlap is not None and len(holders) >= overlap:
        raise Refused("enough", f"{listed}; the campaign asks for {overlap} and no more.")


def check_withdrawal(assigning: Collection[str]) -> None:
    """Raise `Refused` for a list that somebody assigns: their labels would hang on a list that does not count."""
    if assigning:
        raise Refused("assigned", f"Its list is assigned by {', '.join(assigning)}: withdraw that first.")


def check_reopen(stage: Stage, *, seen_drafts: bool) -> None:
    """Raise `Refused` for a list written by hand whose assessor has been handed the drafts since."""
    if stage.by_hand and seen_drafts:
        raise Refused("saw_drafts", "Its assessor has been handed the drafts of this topic since.")


def balance(
    minutes: Mapping[str, int], loads: Mapping[str, int], allowed: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """Spread work over people: the longest first, each to whoever has the least to do and may have it.

    `minutes` of each piece of work, `loads` of each person in minutes, and who is `allowed` each piece; what nobody
    is allowed is left out. Equal loads go by name, so that the same question has the same answer.
    """
    total = dict(loads)
    assignees: dict[str, str] = {}
    # The longest first: placed last, it would tip the balance.
    for work in sorted(minutes, key=lambda work: (-minutes[work], work)):
        people = [(total[person], person) for person in allowed[work]]
        if people:
            _, assignees[work] = min(people)
            total[assignees[work]] += minutes[work]
    return assignees


@dataclass(frozen=True, slots=True)
class MemberFacts:
    """Roles and tasks of a person in a campaign and its copies. `judged`: a task of theirs was not withdrawn."""

    roles: frozenset[Role] = frozenset()
    judged: bool = False
    unfinished: int = 0
    administrator: bool = False
    active: bool = True
    is_actor: bool = False


def giving_problem(role: Role, member: MemberFacts) -> str:
    """Return why somebody cannot be given a role; an empty text where they can.

    An assessor must never have seen whose answers they judge: not before, and not beside it.
    """
    if not member.active:
        return "This account is closed."
    if member.is_actor:
        return "Nobody gives a role to themselves: ask another organizer, or an administrator."
    if role is Role.ASSESSOR:
        return _judging_problem(member)
    if Role.ASSESSOR in member.roles or member.judged:
        return (
            "Who judges in a campaign, or has judged there, gets no role that shows whose answers they are, "
            "there or in a copy of it."
        )
    return ""


def _judging_problem(member: MemberFacts) -> str:
    if member.administrator:
        return "An administrator can read everything, and so judges nothing."
    if any(role in UNBLINDED_ROLES for role in member.roles):
        return (
            "Who has seen whose answers they are, as organizer, researcher or auditor of this campaign or of "
            "a copy of it, does not judge them."
        )
    return ""


def taking_problem(role: Role, member: MemberFacts, organizers: int) -> str:
    """Return why a role cannot be taken from somebody; an empty text where it can."""
    if role is Role.ASSESSOR and member.unfinished:
        held = "an unfinished task" if member.unfinished == 1 else f"{member.unfinished} unfinished tasks"
        return f"They hold {held}: reassign or withdraw first, or let them finish."
    if role is Role.ORGANIZER and organizers <= 1:
        return "They are the last organizer: make somebody else organizer first."
    return ""
