"""Runs that two campaigns hold without being copies of each other: roles are checked in each of them alone."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from accounts.models import User
from evaluation.models import AnswerProvenance, Campaign, Membership, Run, Sentence, Task, Topic
from evaluation.queries.campaigns import unblinded, within
from evaluation.rules.access import UNBLINDED_ROLES
from evaluation.terms import Role

TOPICS_COMPARED = 5  # enough to tell a run from its namesake; all answers would be read for each page


@dataclass(frozen=True, slots=True)
class SharedRuns:
    """Runs that another campaign holds too. `name` and `slug` are empty where the viewer may not see that one.

    `judging_here`: people who judge here and may read the runs there; `judging_there`: the other way.
    """

    number: int
    name: str
    slug: str
    judging_here: tuple[str, ...]
    judging_there: tuple[str, ...]


def shared_runs_for(viewer: User, campaign: Campaign) -> list[SharedRuns]:
    """Return the campaigns with runs of this one, by name: the same file, or the same run id with the same answers."""
    if not within(viewer, campaign).exists():
        return []
    shared: dict[int, int] = defaultdict(int)
    for run in _of_the_same_file(campaign) | _of_the_same_answers(campaign):
        shared[run.campaign_id] += 1
    visible = set(unblinded(viewer).filter(pk__in=shared).values_list("pk", flat=True))
    others = Campaign.objects.filter(pk__in=shared).order_by("name")
    return [_described(campaign, other, shared[other.pk], other.pk in visible) for other in others]


def _described(campaign: Campaign, other: Campaign, number: int, visible: bool) -> SharedRuns:
    name, slug = (other.name, other.slug) if visible else ("", "")
    return SharedRuns(number, name, slug, _in_both(campaign, other), _in_both(other, campaign))


def _in_both(judged: Campaign, read: Campaign) -> tuple[str, ...]:
    """Return who judges in one campaign and may read the runs of the other."""
    reading = Membership.objects.filter(campaign=read, role__in=UNBLINDED_ROLES).values("user")
    assessors = Membership.objects.filter(campaign=judged, role=Role.ASSESSOR).values("user")
    holders = Task.objects.filter(campaign=judged).not_withdrawn().values("assessor")
    people = User.objects.filter(Q(pk__in=assessors) | Q(pk__in=holders), pk__in=reading)
    return tuple(one.name for one in people.order_by("username"))


def _elsewhere(campaign: Campaign) -> QuerySet[Run]:
    return Run.objects.exclude(campaign__family=campaign.family)


def _of_the_same_file(campaign: Campaign) -> set[Run]:
    files = Run.objects.filter(campaign=campaign).exclude(sha256="").values("sha256")
    return set(_elsewhere(campaign).filter(sha256__in=files))


def _of_the_same_answers(campaign: Campaign) -> set[Run]:
    """Find runs by name whose answers to the first topics are the same, word for word."""
    mine = set(Run.objects.filter(campaign=campaign).values_list("run_id", flat=True))
    namesakes: dict[int, list[Run]] = defaultdict(list)
    for run in _elsewhere(campaign).filter(run_id__in=mine):
        namesakes[run.campaign_id].append(run)
    return {run for other, runs in namesakes.items() for run in _alike(campaign.pk, other, runs)}


def _alike(campaign: int, other: int, runs: list[Run]) -> Iterator[Run]:
    topics = Topic.objects.filter(campaign=other).values("topic_id")
    common = Topic.objects.filter(campaign=campaign, topic_id__in=topics).order_by("position")
    compared = list(common.values_list("topic_id", flat=True)[:TOPICS_COMPARED])
    names = [run.run_id for run in runs]
    here, there = (_answers(pk, names, compared) for pk in (campaign, other))
    common_keys = here.keys() & there.keys()
    differing = {key[0] for key in common_keys if here[key] != there[key]}
    same = {key[0] for key in common_keys} - differing
    yield from (run for run in runs if run.run_id in same)


def _answers(campaign: int, names: list[str], topics: list[str]) -> dict[tuple[str, str], list[str]]:
    """Return the sentences of answers by run id and topic."""
    found = AnswerProvenance.objects.filter(run__campaign=campaign, run__run_id__in=names)
    rows = found.filter(topic__topic_id__in=topics).values_list("answer", "run__run_id", "topic__topic_id")
    keys = {answer: (run_id, topic) for answer, run_id, topic in rows}
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    sentences = Sentence.objects.filter(answer__in=list(keys)).order_by("answer", "index")
    for answer, text in sentences.values_list("answer", "text"):
        texts[keys[answer]].append(text)
    return texts
