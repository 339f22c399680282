"""The campaign of the nugget desks: topics with passages and drafts, assessors, and more tasks than they can do."""

from collections.abc import Iterable, Sequence

from django.contrib.auth.hashers import make_password

from accounts.models import NOTICE_VERSION, User
from evaluation.campaigns.create import add_member, create_campaign
from evaluation.judges import add_judge
from evaluation.labelling import GivenNugget, ensure_nugget_set, give_nugget_list
from evaluation.models import Campaign, Event, NuggetList, NuggetSet, Qrel, QrelSource, Segment, Task, Topic
from evaluation.rules.sentences import split
from evaluation.stages import MANUAL, POST_EDIT, STAGES
from evaluation.terms import JudgeKind, Origin, Role
from loadtest.desk.seats import PASSWORD, Card, Seat

PASSAGES, SENTENCES, DRAFTS = 8, 4, 10


def make_nugget_campaign(assessors: int, topics: int) -> list[Seat]:
    """Make the campaign. Every assessor has every topic twice: with drafts to edit, and by hand."""
    campaign = create_campaign(slug="desks", name="Desks")[0]
    passages = [
        " ".join(f"Fact {s} of passage {number} is about water." for s in range(1, SENTENCES + 1))
        for number in range(PASSAGES)
    ]
    made, source, segments = add_topics(campaign, [f"What of river {n}?" for n in range(topics)], passages)
    drafts = make_drafts(campaign, [(topic, _drafts_of(topic)) for topic in made])
    sentences = {segment.public_id: len(split(segment.text.strip())) for segment in segments}
    secret = make_password(PASSWORD)
    return [_seat(campaign, source, drafts, made, sentences, f"soak{n}", secret) for n in range(assessors)]


def add_topics(
    campaign: Campaign, questions: Sequence[str], passages: Sequence[str]
) -> tuple[list[Topic], QrelSource, list[Segment]]:
    """Add a topic for each question, and passages that are relevant to all of them."""
    topics = [
        Topic.objects.create(campaign=campaign, topic_id=f"t{n}", text=question, position=n + 1)
        for n, question in enumerate(questions)
    ]
    segments = [
        Segment.objects.create(
            campaign=campaign, docid=f"d{n:02}#1", document=f"d{n:02}", has_text=True, text=passage
        )
        for n, passage in enumerate(passages)
    ]
    source = QrelSource.objects.create(campaign=campaign, name="NIST")
    Qrel.objects.bulk_create(
        [Qrel(source=source, topic=topic, segment=segment, grade=2) for topic in topics for segment in segments]
    )
    return topics, source, segments


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
    lists = {drafted.topic_id: drafted for drafted in NuggetList.objects.filter(nugget_set=drafts)}
    limits = {POST_EDIT: campaign.protocol.edited_cap, MANUAL: campaign.protocol.manual_cap}
    sets = {stage: ensure_nugget_set(campaign, judge, stage.origin) for stage in STAGES.values() if stage.origin}
    tasks = Task.objects.bulk_create(
        [
            Task(
                campaign=campaign,
                topic=topic,
                assessor=user,
                stage=stage,
                nugget_set=sets[stage],
                drafts=lists[topic.pk] if stage is POST_EDIT else None,
                qrels=source,
                protocol=campaign.protocol,
                second_opinion=True,  # the same topics for everybody
            )
            for topic in topics
            for stage in (POST_EDIT, MANUAL)
        ]
    )
    cards = [Card(task.public_id, task.pk, sentences, limits[task.stage]) for task in tasks]
    return Seat(username, user.pk, tuple(cards))


def make_drafts(campaign: Campaign, drafts: Iterable[tuple[Topic, Sequence[str]]]) -> NuggetSet:
    judge, _ = add_judge(name="drafting", kind=JudgeKind.LLM, model="drafting")
    made = ensure_nugget_set(campaign, judge, Origin.DRAFT)
    event = Event.objects.create(campaign=campaign, kind="drafted for a load test")
    for topic, texts in drafts:
        give_nugget_list(made, topic, [GivenNugget(text) for text in texts], event)
    return made
