"""The judging world with topics shared out: Ann has edited the drafts of t1, Ben those of t2."""

from pathlib import Path

from evaluation.judges import judge_of
from evaluation.labelling import GivenNugget, ensure_nugget_set, give_nugget_list
from evaluation.models import Event, NuggetSet, Task
from evaluation.stages import POST_EDIT
from evaluation.terms import Importance, Origin
from tests.worlds.judging import JudgingWorld, as_submitted, make_judging_world


def make_shared_world(folder: Path) -> JudgingWorld:
    world = make_judging_world(folder)
    NuggetSet.objects.filter(name="edited").update(origin=Origin.DRAFT)
    make_list(world, "ann", "t1", "bends grow", "sand moves")
    make_list(world, "ben", "t2", "dams leak")
    return world


def make_list(world: JudgingWorld, username: str, topic: str, *texts: str, second: bool = False) -> NuggetSet:
    own = ensure_nugget_set(world.campaign, judge_of(world.people[username]), Origin.EDITED)
    event = Event.objects.create(campaign=world.campaign, kind="made for a test")
    give_nugget_list(own, world.topic(topic), [GivenNugget(text, Importance.VITAL) for text in texts], event)
    task = Task.objects.create(
        campaign=world.campaign,
        topic=world.topic(topic),
        assessor=world.people[username],
        stage=POST_EDIT,
        nugget_set=own,
        drafts=NuggetSet.objects.get(name="edited").lists.first(),
        qrels=world.campaign.qrel_sources.get_or_create(name="NIST")[0],
        protocol=world.campaign.protocol,
        second_opinion=second,
    )
    as_submitted(task)
    return own
