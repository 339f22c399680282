"""Plan of a hand-out: the assessor of each topic, and the reason where a topic gets none. Nothing is written here."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Sum

from accounts.models import User
from evaluation.errors import Refused
from evaluation.formats.languages import reads
from evaluation.models import Campaign, Judge, Membership, NuggetSet, Task, Topic
from evaluation.rules.tasks import (
    UNBLINDED_ROLES,
    AssessorFacts,
    balance,
    can_work,
    check_hand_out,
    check_maker,
    check_person,
    check_room,
)
from evaluation.tasks.battles import battle_units
from evaluation.tasks.units import Ground, Order, Skipped, TopicUnit, ground_of, pieces_of
from evaluation.terms import Origin, Role, TaskState
from web.text import trimmed


@dataclass(frozen=True, slots=True)
class Workload:
    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """Plan of a hand-out. `key` differs between plans, so that the plan that was shown is carried out or none."""

    order: Order
    ground: Ground
    given: tuple[TopicUnit, ...]
    skipped: tuple[Skipped, ...]
    shares: tuple[Workload, ...]

    @property
    def key(self) -> str:
        pieces = [
            (
                piece.topic.pk,
                piece.assessor and piece.assessor.pk,
                piece.drafts,
                str(piece.nugget_set),
                piece.labels,
                piece.battles,
                piece.second_opinion,
                piece.minutes,
            )
            for piece in self.given
        ]
        # Dataclasses print every field, so that a field added later is in the key too.
        content = f"{self.order}{self.ground}{pieces}{self.skipped}"
        return hashlib.sha256(content.encode()).hexdigest()[:16]


@dataclass(slots=True)
class Roster:
    """The people of a campaign and the tasks there are, by which it is decided who may have what."""

    people: dict[str, User]
    roles: dict[int, frozenset[Role]]
    tasks: dict[int, list[Task]]
    loads: dict[str, int]
    draft_sets: dict[int, NuggetSet | None]
    paused: frozenset[int]
    languages: dict[int, str]
    topic_languages: dict[int, str]

    def assessor(self, username: str) -> User:
        """Somebody of the campaign by user name. Raises `Refused`."""
        if username not in self.people:
            raise Refused("not_assessor", f"{username} is no assessor of this campaign.")
        return self.people[username]

    def candidate(self, user: User, topic: int) -> AssessorFacts:
        # Withdrawn work counts for what somebody has seen, and not for what they have to do.
        had = [task for task in self.tasks.get(topic, []) if task.assessor_id == user.pk]
        have = [task for task in had if task.state != TaskState.WITHDRAWN]
        language = self.topic_languages.get(topic, "")
        return AssessorFacts(
            name=user.name,
            roles=self.roles.get(user.pk, frozenset()),
            active=user.is_active,
            staff=user.is_staff or user.is_superuser,
            stages=frozenset(task.stage for task in have),
            seen_drafts=any(task.stage.shows_drafts for task in had),
            by_hand_open=any(task.stage.by_hand and task.state != TaskState.SUBMITTED for task in have),
            judged=frozenset(task.stage for task in had if task.stage.judges),
            assigns=frozenset(str(task.nugget_set) for task in have if task.stage.by_list),
            makes=frozenset(
                str(task.nugget_set)
                for task in have
                if not task.stage.judges and task.state != TaskState.SUBMITTED
            ),
            seen_lists=any(task.stage.by_list and _maker_of(task) != user.pk for task in had),
            paused=user.pk in self.paused,
            unread="" if reads(self.languages.get(user.pk, ""), language) else language,
        )

    def refusal(self, user: User, piece: TopicUnit, order: Order, draft_set: NuggetSet | None) -> str:
        """Return why someone may not have a piece of work; empty if they may."""
        nuggets = piece.nugget_set.name if piece.nugget_set else ""
        if user.pk in piece.judged_by:
            return f"{user.name} judged some of it in a file."
        try:
            check_hand_out(order.stage, self._for_piece(user, piece, order), nuggets)
            maker = self.maker(piece)
            if maker and maker.pk != user.pk:
                check_maker(user.name, maker.name, overlap=bool(self.holders(piece, order)), reason=order.reason)
        except Refused as refused:
            return refused.message
        others = self.draft_sets.get(user.pk)
        if draft_set and others and others.pk != draft_set.pk:
            return f"{user.name} edits the drafts of {others} in this campaign, and a set is made from one."
        return ""

    def _for_piece(self, user: User, piece: TopicUnit, order: Order) -> AssessorFacts:
        person = self.candidate(user, piece.topic.pk)
        has_it = any(task.assessor_id == user.pk for task in self.holders(piece, order))
        if not order.stage.dealt or has_it:
            return person
        # Other battles of the topic may be theirs.
        return replace(person, stages=person.stages - {order.stage})

    def holders(self, piece: TopicUnit, order: Order) -> list[Task]:
        nugget_set = piece.nugget_set.pk if piece.nugget_set else None
        return [
            task
            for task in self.tasks.get(piece.topic.pk, [])
            if task.stage == order.stage
            and task.study_id is None
            and task.state != TaskState.WITHDRAWN
            and task.public_id != order.instead
            and (not order.stage.by_list or task.nugget_set_id == nugget_set)
            and (not order.stage.dealt or task.pk in piece.holders)
        ]

    def maker(self, piece: TopicUnit) -> User | None:
        """Return the maker of the list that is to be assigned, at a desk here; an imported list may go to anybody."""
        for task in self.tasks.get(piece.topic.pk, []):
            makes_list = not task.stage.judges and task.state != TaskState.WITHDRAWN
            if makes_list and piece.nugget_set and task.nugget_set_id == piece.nugget_set.pk:
                return task.assessor
        return None


def _maker_of(task: Task) -> int | None:
    return task.nugget_set.judge.user_id if task.nugget_set else None


def plan_hand_out(campaign: Campaign, order: Order) -> WorkPlan:
    """Return the plan of an order. Raises `Refused`: no such topic, set, source or judge, nobody to do it."""
    topics = _topics(campaign, order.topics)
    ground = ground_of(campaign, order)
    roster = roster_of(campaign, topics)
    people = _people(roster, order.assessor)
    if order.stage.dealt:
        pieces, skipped = battle_units(campaign, order, topics)
    else:
        pieces, skipped = pieces_of(campaign, order, ground, topics)
    taken, free = _taken(roster, pieces, order, campaign.protocol.overlap)
    allowed, refused = _allowed(roster, free, people, order, ground)
    loads = {user.username: roster.loads.get(user.username, 0) for user in people}
    assignees = balance({piece.topic.public_id: piece.minutes for piece in free}, loads, allowed)
    placed = tuple(
        replace(
            piece,
            assessor=roster.people[assignees[piece.topic.public_id]],
            why=_why(roster, piece, order, allowed[piece.topic.public_id]),
        )
        for piece in free
        if piece.topic.public_id in assignees
    )
    left = {topic.topic_id: topic for topic in [*skipped, *taken, *refused]}
    return WorkPlan(
        order,
        ground,
        placed,
        tuple(left[topic.topic_id] for topic in topics if topic.topic_id in left),
        _shares(people, loads, placed),
    )


def plan_reassignment(campaign: Campaign, old: Task, assessor: str, reason: str) -> WorkPlan:
    """Return a task's plan for somebody else: same topic, stage, grades, due date; newest drafts. Raises `Refused`."""
    draft_set = old.drafts.nugget_set if old.drafts else None
    order = Order(
        old.stage,
        (old.topic.public_id,),
        assessor,
        drafts=draft_set.name if draft_set else "",
        qrels=old.qrels.name if old.qrels else "",
        due=old.due,
        priority=old.priority,
        again=True,
        instead=old.public_id,
        nuggets=old.nugget_set.name if old.nugget_set and old.stage.by_list else "",
        judge=old.judge.name if old.judge else "",
        reason=trimmed(reason),
    )
    plan = plan_hand_out(campaign, order)
    if not plan.given:
        raise Refused("cannot_reassign", " ".join(topic.reason for topic in plan.skipped))
    return plan


def roster_of(campaign: Campaign, topics: Collection[Topic]) -> Roster:
    roles: dict[int, set[Role]] = defaultdict(set)
    paused = set()
    languages: dict[int, str] = {}
    members = Membership.objects.filter(campaign=campaign)
    for user, role, since, tags in members.values_list("user", "role", "paused_at", "languages"):
        roles[user].add(Role(role))
        languages[user] = languages.get(user, "") or tags
        if since:
            paused.add(user)
    # Whoever reads runs in a copy has seen whose answers these are.
    family = Membership.objects.filter(campaign__family=campaign.family, role__in=UNBLINDED_ROLES)
    in_copies = family.exclude(campaign=campaign).filter(user__in=list(roles))
    for user, role in in_copies.values_list("user", "role"):
        roles[user].add(Role(role))
    users = User.objects.filter(pk__in=roles).order_by("username")
    tasks: dict[int, list[Task]] = defaultdict(list)
    for task in Task.objects.filter(topic__in=topics).select_related("assessor", "nugget_set__judge"):
        tasks[task.topic_id].append(task)
    return Roster(
        people={user.username: user for user in users},
        roles={pk: frozenset(own) for pk, own in roles.items()},
        tasks=tasks,
        loads=_open_minutes(campaign),
        draft_sets=_draft_sets(campaign),
        paused=frozenset(paused),
        languages=languages,
        topic_languages={topic.pk: topic.language or campaign.language for topic in topics},
    )


def _topics(campaign: Campaign, public_ids: Sequence[str]) -> list[Topic]:
    topics = list(Topic.objects.filter(campaign=campaign, public_id__in=public_ids))
    if not topics or len(topics) != len(set(public_ids)):
        raise Refused("no_such_topic", "Choose topics of this campaign, at least one.")
    return topics


def _people(roster: Roster, username: str) -> list[User]:
    if username:
        user = roster.assessor(username)
        check_person(roster.candidate(user, 0))
        return [user]
    people = [user for user in roster.people.values() if can_work(roster.candidate(user, 0))]
    if not people:
        raise Refused("no_assessor", "There is nobody to hand work to: the campaign has no assessors.")
    return people


def _taken(
    roster: Roster, pieces: list[TopicUnit], order: Order, overlap: int | None
) -> tuple[list[Skipped], list[TopicUnit]]:
    """Part what enough people have already. Beside somebody whose labels count, a piece is a second opinion."""
    taken, free = [], []
    most = overlap if order.stage.judges else None
    for piece in pieces:
        holders = roster.holders(piece, order)
        names = [f"{holder.assessor.name} has it ({holder.state})" for holder in holders]
        try:
            # A task that is handed on leaves its place to the new one.
            check_room(names, None if order.instead else most, again=order.again)
        except Refused as refused:
            taken.append(Skipped.of(piece.topic, refused.message))
        else:
            counted = any(not holder.second_opinion for holder in holders)
            free.append(replace(piece, second_opinion=counted or piece.second_opinion))
    return taken, free


def _allowed(
    roster: Roster, pieces: list[TopicUnit], people: list[User], order: Order, ground: Ground
) -> tuple[dict[str, list[str]], list[Skipped]]:
    allowed: dict[str, list[str]] = {}
    refused = []
    for piece in pieces:
        topic, candidates = piece.topic, _candidates(roster, piece, people, order)
        reasons = {user.username: roster.refusal(user, piece, order, ground.draft_set) for user in candidates}
        allowed[topic.public_id] = [username for username, reason in reasons.items() if not reason]
        if not allowed[topic.public_id]:
            refused.append(Skipped.of(topic, " ".join(reasons.values())))
    return allowed, refused


def _candidates(roster: Roster, piece: TopicUnit, people: list[User], order: Order) -> list[User]:
    """Return the candidates: where nobody is named, a list goes to its maker, but for a second opinion."""
    maker = roster.maker(piece)
    return [maker] if maker and not order.assessor and not roster.holders(piece, order) else people


def _why(roster: Roster, piece: TopicUnit, order: Order, allowed: list[str]) -> str:
    if order.assessor:
        return "chosen by you"
    if roster.maker(piece) and not roster.holders(piece, order):
        return "made the list"
    return "least open work" if len(allowed) > 1 else "nobody else may"


def _shares(people: list[User], before: Mapping[str, int], pieces: tuple[TopicUnit, ...]) -> tuple[Workload, ...]:
    more: dict[int, int] = defaultdict(int)
    for piece in pieces:
        more[piece.assessor.pk if piece.assessor else 0] += piece.minutes
    return tuple(
        Workload(user.name, before[user.username], before[user.username] + more[user.pk]) for user in people
    )


def _open_minutes(campaign: Campaign) -> dict[str, int]:
    """Return the expected minutes of each person's open work. Work that is blocked comes back, so it counts."""
    rows = Task.objects.filter(campaign=campaign).unfinished().order_by().values_list("assessor__username")
    return dict(rows.annotate(Sum("expected_minutes")))


def _draft_sets(campaign: Campaign) -> dict[int, NuggetSet | None]:
    judges = dict(Judge.objects.exclude(user=None).values_list("pk", "user"))
    sets = campaign.nugget_sets.filter(origin=Origin.EDITED).select_related("judge", "drafts")
    return {
        judges[nugget_set.judge_id]: nugget_set.drafts
        for nugget_set in sets
        if nugget_set.judge_id in judges and nugget_set.name == f"{Origin.EDITED}-{nugget_set.judge.name}"
    }
