"""The campaign of the desk soak: topics with passages and drafts, assessors, and more tasks than they can do."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.db import connections
from django.utils import timezone

from accounts.models import NOTICE_VERSION, User
from accounts.session_store import hashed
from evaluation.campaigns.create import add_member, create_campaign
from evaluation.judges import add_judge
from evaluation.labelling import ensure_nugget_set
from evaluation.models import Campaign, NuggetList, NuggetSet, Qrel, QrelSource, Segment, Task, Topic
from evaluation.rules.sentences import split
from evaluation.terms import JudgeKind, Role, Stage
from loadtest.desk.drafts import make_drafts
from loadtest.servers import sessions

PASSAGES, SENTENCES, DRAFTS = 8, 4, 10
PASSWORD = "of the desk soak"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Card:
    """A task as its assessor needs it: where it is, what can be quoted, and how long the list may be."""

    task: str
    pk: int
    sentences: dict[str, int]
    limit: int | None


@dataclass(frozen=True, slots=True)
class Seat:
    """An assessor and their tasks, in the order in which they are done."""

    username: str
    pk: int
    cards: tuple[Card, ...]


def make_world(assessors: int, topics: int) -> list[Seat]:
    """Make the campaign. Every assessor has every topic twice: with drafts to edit, and by hand."""
    campaign = create_campaign(slug="desks", name="Desks")[0]
    source = QrelSource.objects.create(campaign=campaign, name="NIST")
    segments = [_segment(campaign, number) for number in range(PASSAGES)]
    made = [
        Topic.objects.create(campaign=campaign, topic_id=f"t{n}", text=f"What of river {n}?", position=n + 1)
        for n in range(topics)
    ]
    for topic in made:
        Qrel.objects.bulk_create([Qrel(source=source, topic=topic, segment=one, grade=2) for one in segments])
    drafts = make_drafts(campaign, [(one, _drafts_of(one)) for one in made])
    sentences = {one.public_id: len(split(one.text.strip())) for one in segments}
    secret = make_password(PASSWORD)
    return [_seat(campaign, source, drafts, made, sentences, f"soak{n}", secret) for n in range(assessors)]


def _segment(campaign: Campaign, number: int) -> Segment:
    said = [f"Fact {s} of passage {number} is about water." for s in range(1, SENTENCES + 1)]
    docid = f"d{number:02}#1"
    return Segment.objects.create(
        campaign=campaign, docid=docid, document=docid[:-2], has_text=True, text=" ".join(said)
    )


def _drafts_of(topic: Topic) -> list[str]:
    return [f"draft {position} of {topic.topic_id}" for position in range(1, DRAFTS + 1)]


def _seat(
    campaign: Campaign,
    source: QrelSource,
    drafts: NuggetSet,
    topics: Sequence[Topic],
    sentences: dict[str, int],
    username: str,
    secret: str,
) -> Seat:
    user = User.objects.create(username=username, password=secret, notice_version=NOTICE_VERSION)
    add_member(campaign=campaign, user=user, role=Role.ASSESSOR)
    judge, _ = add_judge(name=username, kind=JudgeKind.HUMAN, user=user)
    lists = {one.topic_id: one for one in NuggetList.objects.filter(nugget_set=drafts)}
    limits = {Stage.POST_EDIT: campaign.protocol.edited_cap, Stage.MANUAL: campaign.protocol.manual_cap}
    sets = {stage: ensure_nugget_set(campaign, judge, stage.origin) for stage in Stage if not stage.judges}
    tasks = Task.objects.bulk_create(
        [
            Task(
                campaign=campaign,
                topic=topic,
                assessor=user,
                stage=stage,
                nugget_set=sets[stage],
                drafts=lists[topic.pk] if stage is Stage.POST_EDIT else None,
                qrels=source,
                protocol=campaign.protocol,
                second_opinion=True,  # the same topics for everybody
            )
            for topic in topics
            for stage in (Stage.POST_EDIT, Stage.MANUAL)
        ]
    )
    cards = [Card(one.public_id, one.pk, sentences, limits[Stage(one.stage)]) for one in tasks]
    return Seat(username, user.pk, tuple(cards))


@contextmanager
def own_connection() -> Iterator[None]:
    """Let a thread use the database for the block, and give its connections back."""
    try:
        yield
    finally:
        connections.close_all()


def new_session(user: int) -> str:
    """Return the key of a session in which somebody is signed in."""
    with own_connection():
        return sessions.new_session(User.objects.get(pk=user))


def end_session(key: str) -> None:
    """Let a session have run out."""
    with own_connection():
        Session.objects.filter(session_key=hashed(key)).update(expire_date=timezone.now() - timedelta(days=1))
