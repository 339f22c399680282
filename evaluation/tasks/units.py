"""Work of a stage in each topic, or the reason why there is none; not yet its assessor."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from accounts.models import User
from evaluation.campaigns.protocol import llms_of
from evaluation.domain.conditions import set_of_origin
from evaluation.domain.shares import second_lists
from evaluation.errors import Refused, no_such
from evaluation.models import Campaign, Judge, NuggetList, NuggetSet, QrelSource, Task, Topic
from evaluation.stages import Stage
from evaluation.tasks.asking import Pooled, asking_of
from evaluation.tasks.reading_load import ReadingLoad, newest_drafts, sizes_of, to_read
from evaluation.terms import JudgeKind, Origin, SupportCondition

# The track's own grades, where those of an LLM are loaded too.
USUAL_SOURCE = "nist"
ASSIGNED = (Origin.AUTO, Origin.EDITED, Origin.MANUAL)
"""Drafts are no list that answers are judged by."""

NOTHING = ReadingLoad()


@dataclass(frozen=True, slots=True)
class Order:
    """Order of a hand-out. Topics by public id, the assessor by user name; none: balanced.

    `nuggets`: the set to assign; none: each topic's only one, of this `origin` if it is given. `judge`: the judge
    whose labels are shown. `battles`: the battle set; none: the only one. `sample`: the LLM whose sample of it is
    meant; none: all battles. `again`: also topics that somebody else has
    already, so that their labels can be compared. `instead`: the task in whose place this is handed out. `reason`: why
    another person than its maker assigns a list.
    """

    stage: Stage
    topics: tuple[str, ...]
    assessor: str = ""
    drafts: str = ""
    qrels: str = ""
    due: date | None = None
    priority: int = 0
    again: bool = False
    instead: str = ""
    nuggets: str = ""
    origin: str = ""
    judge: str = ""
    battles: str = ""
    sample: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ground:
    """Lists, pairs and passages that the whole order rests on, as far as its stage needs them."""

    qrels: QrelSource | None = None
    draft_set: NuggetSet | None = None
    judge: Judge | None = None


@dataclass(frozen=True, slots=True)
class TopicUnit:
    """One topic of a plan, and who gets it. `labels`: the number of judgments to give, on `answers` answers.

    `battles`: those to compare, in their walk, `holders`, the tasks that have some of them, and `judged_by`, the
    accounts of whom a file has verdicts on some.
    `second_opinion`: somebody else's labels count. `why`: in words, why this assessor.
    """

    topic: Topic
    minutes: int
    reading: ReadingLoad = NOTHING
    drafts: int | None = None
    drafts_size: int = 0
    nugget_set: NuggetSet | None = None
    answers: int = 0
    labels: int = 0
    battles: tuple[int, ...] = ()
    holders: frozenset[int] = frozenset()
    judged_by: frozenset[int] = frozenset()
    second_opinion: bool = False
    assessor: User | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    topic_id: str
    text: str
    reason: str

    @classmethod
    def of(cls, topic: Topic, reason: str) -> "Skipped":
        return cls(topic.topic_id, topic.text, reason)


def ground_of(campaign: Campaign, order: Order) -> Ground:
    """Return the grades, drafts or judge that an order means. Raises `Refused` where that is not clear."""
    needs = order.stage.needs
    return Ground(
        the_qrels(campaign, order.qrels) if "qrels" in needs else None,
        set_of_origin(campaign, Origin.DRAFT, order.drafts, "drafts") if "drafts" in needs else None,
        the_llm(campaign, order.judge) if "judge" in needs else None,
    )


def pieces_of(
    campaign: Campaign, order: Order, ground: Ground, topics: list[Topic]
) -> tuple[list[TopicUnit], list[Skipped]]:
    """Return the topics that can be worked on at all, and the others. Raises `Refused` for a set that is not there."""
    if not order.stage.judges:
        return _making_pieces(campaign, order.stage, topics, ground)
    pieces = _assign_pieces if order.stage.by_list else _answer_pieces
    return pieces(campaign, order, topics)


def the_qrels(campaign: Campaign, name: str) -> QrelSource:
    """Return the source of that name, the only one, or NIST's. Raises `Refused` when that does not say which."""
    sources = list(campaign.qrel_sources.all())
    fitting = [source for source in sources if source.name == name] if name else sources
    if not name and len(fitting) > 1:
        fitting = [source for source in sources if source.name.lower() == USUAL_SOURCE] or sources
    if len(fitting) == 1:
        return fitting[0]
    names = [source.name for source in sources]
    there = ", ".join(names) or "none is loaded yet"
    raise Refused(
        "ambiguous" if fitting else "no_such_source",
        f"Say whose grades choose the passages: {there}.",
        field="qrels" if names else "",
        choices=names,
    )


def the_llm(campaign: Campaign, name: str) -> Judge:
    """Return the LLM judge of that name, the campaign's default, or the only LLM judge with labels.

    A judge that is named need not have labels yet: the tasks wait for them. Raises `Refused` where none is meant.
    """
    default = campaign.defaults.filter(condition=SupportCondition.LLM).values_list("judge", flat=True).first()
    labeller = Judge.objects.filter(kind=JudgeKind.LLM, aside=False, name=name or default or "").first()
    if labeller:
        return labeller
    there = llms_of(campaign)
    if len(there) == 1 and not name:
        return there[0]
    names = [judge.name for judge in there]
    offer = ", ".join(names) or "none yet; an LLM labels citations in a job"
    code = "no_such_judge" if name or not there else "ambiguous"
    raise Refused(code, f"Say which LLM's labels are shown; there are: {offer}.", field="judge", choices=names)


def _making_pieces(
    campaign: Campaign, stage: Stage, topics: list[Topic], ground: Ground
) -> tuple[list[TopicUnit], list[Skipped]]:
    protocol, pks = campaign.protocol, [topic.pk for topic in topics]
    reading = to_read(ground.qrels.pk, protocol.grade_threshold, pks) if ground.qrels else {}
    drafts = newest_drafts(ground.draft_set, pks) if ground.draft_set else {}
    pieces, skipped = [], []
    for topic in topics:
        texts, (newest, size) = reading.get(topic.pk), drafts.get(topic.pk, (None, 0))
        if texts is None:
            reason = f"no passage with text that {ground.qrels} grades {protocol.grade_threshold} or higher"
            skipped.append(Skipped.of(topic, reason))
        elif ground.draft_set and newest is None:
            skipped.append(Skipped.of(topic, f"no drafts in {ground.draft_set}"))
        else:
            minutes = stage.minutes(characters=texts.characters, drafts=size, nuggets=protocol.manual_cap)
            pieces.append(TopicUnit(topic, minutes, texts, newest, size))
    return pieces, skipped


def _answer_pieces(campaign: Campaign, order: Order, topics: list[Topic]) -> tuple[list[TopicUnit], list[Skipped]]:
    stage = order.stage
    pool = asking_of(stage).pool(campaign, [topic.pk for topic in topics], campaign.protocol.first_citations)
    pieces = [_judging_piece(stage, topic, pool[topic.pk]) for topic in topics if topic.pk in pool]
    return pieces, [Skipped.of(topic, asking_of(stage).without) for topic in topics if topic.pk not in pool]


def _assign_pieces(campaign: Campaign, order: Order, topics: list[Topic]) -> tuple[list[TopicUnit], list[Skipped]]:
    lists = _lists(campaign, order, topics)
    sizes = sizes_of(nugget_list.pk for own in lists.values() for nugget_list in own)
    pool = asking_of(order.stage).pool(campaign, [topic.pk for topic in topics], None)
    begun = _begun(campaign, order, topics)
    pieces, skipped = [], []
    for topic in topics:
        its_list, reason = _the_list(lists[topic.pk], sizes, order.nuggets, is_begun=topic.pk in begun)
        if its_list is None:
            skipped.append(Skipped.of(topic, reason))
        elif topic.pk not in pool:
            skipped.append(Skipped.of(topic, asking_of(order.stage).without))
        else:
            pieces.append(
                _judging_piece(order.stage, topic, pool[topic.pk], sizes[its_list.pk], its_list.nugget_set)
            )
    return pieces, skipped


def _begun(campaign: Campaign, order: Order, topics: list[Topic]) -> set[int]:
    """Return the topics whose list in the named set is in the making, or is not submitted any more."""
    about = {"nugget_set__campaign": campaign, "nugget_set__name": order.nuggets, "topic__in": topics}
    tasks = Task.objects.making().not_withdrawn().filter(**about)
    lists = NuggetList.objects.filter(**about)
    return {*tasks.values_list("topic__pk", flat=True), *lists.values_list("topic__pk", flat=True)}


def _lists(campaign: Campaign, order: Order, topics: list[Topic]) -> dict[int, list[NuggetList]]:
    """Return each topic's newest submitted lists of the sets that the order may mean.

    A second opinion is meant only where its set is named.
    """
    sets = campaign.nugget_sets.filter(origin__in=ASSIGNED)
    if order.nuggets and not sets.filter(name=order.nuggets).exists():
        what = f"nugget set {order.nuggets} to assign"
        raise no_such("no_such_set", what, sets.values_list("name", flat=True))
    sets = sets.filter(name=order.nuggets) if order.nuggets else sets
    sets = sets.filter(origin=order.origin) if order.origin else sets
    rows = NuggetList.objects.newest_submitted().filter(nugget_set__in=sets, topic__in=topics)
    newest = {(row.topic_id, row.nugget_set.name): row for row in rows.select_related("nugget_set__judge")}
    second = set() if order.nuggets else second_lists(campaign)
    by_topic: dict[int, list[NuggetList]] = defaultdict(list)
    for (topic, _), nugget_list in sorted(newest.items(), key=lambda item: item[0]):
        if (topic, nugget_list.nugget_set_id) not in second:
            by_topic[topic].append(nugget_list)
    return by_topic


def _the_list(
    lists: Sequence[NuggetList], sizes: Mapping[int, int], name: str, *, is_begun: bool
) -> tuple[NuggetList | None, str]:
    full = [nugget_list for nugget_list in lists if nugget_list.pk in sizes]
    if len(full) == 1:
        return full[0], ""
    if full:
        names = ", ".join(nugget_list.nugget_set.name for nugget_list in full)
        return None, f"several lists fit, say which: {names}"
    if lists:
        return None, f"the list in {lists[0].nugget_set.name} is empty"
    if not name:
        return None, "no list of nuggets is submitted yet"
    return None, f"its list in {name} is not submitted yet" if is_begun else f"there is no list for it in {name}"


def _judging_piece(
    stage: Stage, topic: Topic, pool: Sequence[Pooled], nuggets: int = 1, nugget_set: NuggetSet | None = None
) -> TopicUnit:
    labels = sum(pooled.units for pooled in pool) * nuggets
    return TopicUnit(topic, stage.minutes(labels=labels), nugget_set=nugget_set, answers=len(pool), labels=labels)
