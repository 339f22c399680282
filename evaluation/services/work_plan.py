"""What a hand-out would do: which topic goes to whom, and which goes to nobody and why. Nothing is written here."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date

from django.db.models import Sum

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Judge, Membership, NuggetSet, QrelSource, Task, Topic
from evaluation.rules.work import ACTIVE, Candidate, balance, check_hand_out, check_person, expected_minutes
from evaluation.services.choosing import the_nugget_set
from evaluation.terms import Origin, Role, Stage, TaskState
from evaluation.workload import Reading, newest_drafts, to_read

USUAL_SOURCE = "nist"


@dataclass(frozen=True, slots=True)
class Order:
    """What an organizer asks for. Topics by public id, the assessor by user name; none: balanced.

    `again`: also topics that somebody else has already, so that their lists can be compared.
    """

    stage: Stage
    topics: tuple[str, ...]
    assessor: str = ""
    drafts: str = ""
    qrels: str = ""
    due: date | None = None
    priority: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """One topic of a plan, and who gets it."""

    topic: Topic
    reading: Reading
    minutes: int
    drafts: int | None = None
    drafts_size: int = 0
    assessor: User | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A topic that nobody gets, and why."""

    topic_id: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Share:
    """What somebody has to do, in expected minutes, before and after."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Who would get what. `key` tells two plans apart, so that what was shown is what is done."""

    order: Order
    qrels: QrelSource
    draft_set: NuggetSet | None
    given: tuple[Piece, ...]
    skipped: tuple[Skipped, ...]
    shares: tuple[Share, ...]

    @property
    def key(self) -> str:
        """A hash of everything that the plan would do."""
        given = [(one.topic.pk, one.assessor and one.assessor.pk, one.drafts, one.minutes) for one in self.given]
        said = f"{self.order}{self.qrels.pk}{given}{self.skipped}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]


@dataclass(slots=True)
class Roster:
    """The people of a campaign and the tasks there are, by which it is decided who may have what."""

    people: dict[str, User]
    roles: dict[int, frozenset[Role]]
    tasks: dict[int, list[Task]]
    loads: dict[str, int]
    draft_sets: dict[int, NuggetSet | None] = field(default_factory=dict)

    def candidate(self, user: User, topic: int) -> Candidate:
        """Return what the rules ask of someone about a topic."""
        had = [one for one in self.tasks.get(topic, []) if one.assessor_id == user.pk]
        have = [one for one in had if one.state != TaskState.WITHDRAWN]
        return Candidate(
            name=user.name,
            roles=self.roles.get(user.pk, frozenset()),
            active=user.is_active,
            staff=user.is_staff or user.is_superuser,
            stages=frozenset(Stage(one.stage) for one in have),
            seen_drafts=any(one.stage == Stage.POST_EDIT for one in had),
            by_hand_open=any(one.stage == Stage.MANUAL and one.state != TaskState.SUBMITTED for one in have),
        )

    def refusal(self, user: User, topic: int, stage: Stage, draft_set: NuggetSet | None) -> str:
        """Return why someone may not have a stage of a topic; empty if they may."""
        try:
            check_hand_out(stage, self.candidate(user, topic))
        except Refused as refused:
            return refused.message
        others = self.draft_sets.get(user.pk)
        if draft_set and others and others.pk != draft_set.pk:
            return f"{user.name} edits the drafts of {others} in this campaign, and a set is made from one."
        return ""


def plan_hand_out(campaign: Campaign, order: Order) -> Plan:
    """Return what an order would do.

    Raises `Refused` for an order that makes no sense as a whole: no such topic, set or source, nobody to do it.
    """
    topics = _topics(campaign, order.topics)
    qrels = the_qrels(campaign, order.qrels)
    by_edit = order.stage is Stage.POST_EDIT
    draft_set = the_nugget_set(campaign, Origin.DRAFT, order.drafts) if by_edit else None
    roster = roster_of(campaign, topics)
    people = _people(roster, order.assessor)
    pieces, skipped = _pieces(campaign, order.stage, topics, qrels, draft_set)
    taken, free = _taken(roster, pieces, order)
    allowed, refused = _allowed(roster, free, people, order.stage, draft_set)
    given = balance({one.topic.public_id: one.minutes for one in free}, _loads(roster, people), allowed)
    by_name = {user.username: user for user in people}
    placed = tuple(
        _given(one, by_name[given[one.topic.public_id]]) for one in free if one.topic.public_id in given
    )
    left = {one.topic_id: one for one in [*skipped, *taken, *refused]}
    return Plan(
        order,
        qrels,
        draft_set,
        placed,
        tuple(left[topic.topic_id] for topic in topics if topic.topic_id in left),
        _shares(roster, people, placed),
    )


def plan_reassignment(campaign: Campaign, old: Task, assessor: str) -> Plan:
    """Return the plan of one task for somebody else: same topic, stage, grades, due date; the newest drafts.

    Raises `Refused` when that person may not have it.
    """
    draft_set = old.drafts.nugget_set if old.drafts else None
    order = Order(
        Stage(old.stage),
        (old.topic.public_id,),
        assessor,
        drafts=draft_set.name if draft_set else "",
        qrels=old.qrels.name,
        due=old.due,
        priority=old.priority,
        again=True,
    )
    plan = plan_hand_out(campaign, order)
    if not plan.given:
        raise Refused("cannot_reassign", " ".join(one.reason for one in plan.skipped))
    return plan


def roster_of(campaign: Campaign, topics: Collection[Topic]) -> Roster:
    """Return the campaign's assessors with what they have."""
    roles: dict[int, set[Role]] = defaultdict(set)
    for user, role in Membership.objects.filter(campaign=campaign).values_list("user", "role"):
        roles[user].add(Role(role))
    users = User.objects.filter(pk__in=roles).order_by("username")
    tasks: dict[int, list[Task]] = defaultdict(list)
    for task in Task.objects.filter(topic__in=topics).select_related("assessor"):
        tasks[task.topic_id].append(task)
    return Roster(
        people={user.username: user for user in users},
        roles={pk: frozenset(given) for pk, given in roles.items()},
        tasks=tasks,
        loads=_open_minutes(campaign),
        draft_sets=_draft_sets(campaign),
    )


def the_qrels(campaign: Campaign, name: str) -> QrelSource:
    """Return the source of that name, the only one, or NIST's. Raises `Refused` when that does not say which."""
    sources = list(campaign.qrel_sources.all())
    fitting = [one for one in sources if one.name == name] if name else sources
    if not name and len(fitting) > 1:
        fitting = [one for one in sources if one.name.lower() == USUAL_SOURCE] or sources
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(one.name for one in sources) or "none; load some with import_qrels"
    raise Refused("ambiguous" if fitting else "no_such_source", f"Say whose grades choose the passages: {there}.")


def _topics(campaign: Campaign, public_ids: Sequence[str]) -> list[Topic]:
    topics = list(Topic.objects.filter(campaign=campaign, public_id__in=public_ids))
    if not topics or len(topics) != len(set(public_ids)):
        raise Refused("no_such_topic", "Choose topics of this campaign, at least one.")
    return topics


def _people(roster: Roster, username: str) -> list[User]:
    """Return the one who was named, or everybody who may be handed something."""
    if username:
        user = roster.people.get(username)
        if user is None:
            raise Refused("not_assessor", f"{username} is no assessor of this campaign.")
        check_person(roster.candidate(user, 0))
        return [user]
    people = [user for user in roster.people.values() if _may_anything(roster.candidate(user, 0))]
    if not people:
        raise Refused("no_assessor", "There is nobody to hand work to: the campaign has no assessors.")
    return people


def _may_anything(person: Candidate) -> bool:
    try:
        check_person(person)
    except Refused:
        return False
    return True


def _pieces(
    campaign: Campaign, stage: Stage, topics: list[Topic], qrels: QrelSource, draft_set: NuggetSet | None
) -> tuple[list[Piece], list[Skipped]]:
    """Return the topics that can be worked on at all, and the others."""
    protocol, pks = campaign.protocol, [topic.pk for topic in topics]
    reading = to_read(qrels.pk, protocol.grade_threshold, pks)
    drafts = newest_drafts(draft_set, pks) if draft_set else {}
    pieces, skipped = [], []
    for topic in topics:
        texts, (newest, size) = reading.get(topic.pk), drafts.get(topic.pk, (None, 0))
        if texts is None:
            grade = protocol.grade_threshold
            reason = f"no passage with text that {qrels} grades {grade} or higher"
            skipped.append(Skipped(topic.topic_id, topic.text, reason))
        elif draft_set and newest is None:
            skipped.append(Skipped(topic.topic_id, topic.text, f"no drafts in {draft_set}"))
        else:
            minutes = expected_minutes(
                stage, characters=texts.characters, drafts=size, nuggets=protocol.manual_cap
            )
            pieces.append(Piece(topic, texts, minutes, newest, size))
    return pieces, skipped


def _taken(roster: Roster, pieces: list[Piece], order: Order) -> tuple[list[Skipped], list[Piece]]:
    """Part what somebody has already, unless it is handed out again on purpose."""
    taken, free = [], []
    for piece in pieces:
        there = [one for one in roster.tasks.get(piece.topic.pk, []) if one.stage == order.stage]
        holders = [one for one in there if one.state != TaskState.WITHDRAWN]
        if holders and not order.again:
            said = ", ".join(f"{one.assessor.name} has it ({one.state})" for one in holders)
            taken.append(Skipped(piece.topic.topic_id, piece.topic.text, said))
        else:
            free.append(piece)
    return taken, free


def _allowed(
    roster: Roster, pieces: list[Piece], people: list[User], stage: Stage, draft_set: NuggetSet | None
) -> tuple[dict[str, list[str]], list[Skipped]]:
    """Return who may have each piece, and the pieces that nobody may have."""
    allowed: dict[str, list[str]] = {}
    refused = []
    for piece in pieces:
        topic = piece.topic
        said = {user.username: roster.refusal(user, topic.pk, stage, draft_set) for user in people}
        allowed[topic.public_id] = [username for username, reason in said.items() if not reason]
        if not allowed[topic.public_id]:
            refused.append(Skipped(topic.topic_id, topic.text, " ".join(said.values())))
    return allowed, refused


def _given(piece: Piece, user: User) -> Piece:
    return Piece(piece.topic, piece.reading, piece.minutes, piece.drafts, piece.drafts_size, user)


def _loads(roster: Roster, people: list[User]) -> dict[str, int]:
    return {user.username: roster.loads.get(user.username, 0) for user in people}


def _shares(roster: Roster, people: list[User], given: tuple[Piece, ...]) -> tuple[Share, ...]:
    more: dict[int, int] = defaultdict(int)
    for piece in given:
        more[piece.assessor.pk if piece.assessor else 0] += piece.minutes
    before = _loads(roster, people)
    return tuple(Share(user.name, before[user.username], before[user.username] + more[user.pk]) for user in people)


def _open_minutes(campaign: Campaign) -> dict[str, int]:
    """Return what each has still to do. Work that is blocked comes back, so it counts."""
    states = [*ACTIVE, TaskState.BLOCKED]
    rows = Task.objects.filter(campaign=campaign, state__in=states).order_by().values_list("assessor__username")
    return dict(rows.annotate(Sum("expected_minutes")))


def _draft_sets(campaign: Campaign) -> dict[int, NuggetSet | None]:
    """Return what each person's edited set of this campaign is made from."""
    judges = dict(Judge.objects.exclude(user=None).values_list("pk", "user"))
    sets = campaign.nugget_sets.filter(origin=Origin.EDITED).select_related("judge", "drafts")
    return {
        judges[one.judge_id]: one.drafts
        for one in sets
        if one.judge_id in judges and one.name == f"{Origin.EDITED}-{one.judge.name}"
    }
