"""What reports need before they show anything: a sentence that says so, and the page where an organizer does it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from evaluation.models import BattleSet, Campaign, Task, Verdict
from evaluation.terms import JudgeKind, Origin
from reports.forms import offer_of


@dataclass(frozen=True, slots=True)
class Act:
    """A page of the organizers, as view, its further arguments and query, and what is done there."""

    caption: str
    view: str
    arguments: tuple[str, ...] = ()
    query: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Lack:
    """What is missing, in a sentence. `others`: what those read whose role does none of the acts."""

    text: str
    acts: tuple[Act, ...]
    others: str


@dataclass(frozen=True, slots=True)
class Need:
    """`lack`: what is missing where it is not met."""

    is_met: Callable[[Campaign], bool]
    lack: Lack


def lack_of(campaign: Campaign, needs: Iterable[Need]) -> Lack | None:
    """Return what is missing first; None where nothing is."""
    return next((need.lack for need in needs if not need.is_met(campaign)), None)


def _has_verdicts(campaign: Campaign) -> bool:
    return Verdict.objects.filter(battle__battle_set__campaign=campaign).exists()


def _is_labelled(campaign: Campaign) -> bool:
    return bool(offer_of(campaign).conditions or offer_of(campaign).support)


def _has_sides(campaign: Campaign) -> bool:
    return _is_labelled(campaign) or bool(offer_of(campaign).stages) or len(offer_of(campaign).sources) > 1


def _tables_by_others(campaign: Campaign) -> int:
    return len(offer_of(campaign).published)


def _labelled_by(campaign: Campaign, kind: JudgeKind) -> bool:
    return any(condition.judge_kind is kind for condition in offer_of(campaign).conditions)


def _has_truth(campaign: Campaign) -> bool:
    return _labelled_by(campaign, JudgeKind.HUMAN) or _tables_by_others(campaign) > 0


def _has_judges(campaign: Campaign) -> bool:
    # Without labels by people, one of the tables is the truth.
    others = _tables_by_others(campaign) - (not _labelled_by(campaign, JudgeKind.HUMAN))
    return _labelled_by(campaign, JudgeKind.LLM) or others > 0


HAND_OUT: Final = Act("Hand out work", "organizer:hand_out")
START_JOB: Final = Act("Start a job", "organizer:new_job")
LOAD_SCORES: Final = Act("Load scores", "organizer:new_import", ("scores",))
LABELLING: Final = "An organizer has them labelled."

RUNS: Final = Need(
    lambda campaign: campaign.runs.exists(),
    Lack(
        "No runs are loaded yet.",
        (Act("Load them under Data", "organizer:new_import", ("runs",)),),
        "An organizer loads them.",
    ),
)
NUGGETS: Final = Need(
    lambda campaign: campaign.nugget_sets.exclude(origin=Origin.DRAFT).exists(),
    Lack(
        "There are no nuggets yet.",
        (Act("Start a job", "organizer:new_job", query=(("what", "nuggets"),)), HAND_OUT),
        "An organizer has them made.",
    ),
)
NUGGET_LABELS: Final = Need(
    lambda campaign: bool(offer_of(campaign).conditions),
    Lack("No answer has nugget labels yet.", (START_JOB, HAND_OUT), LABELLING),
)
CITATION_LABELS: Final = Need(
    lambda campaign: bool(offer_of(campaign).support),
    Lack(
        "No citation has a label yet.",
        (Act("Start a job", "organizer:new_job", query=(("what", "support"),)), HAND_OUT),
        LABELLING,
    ),
)
LABELS_OR_VERDICTS: Final = Need(
    lambda campaign: _is_labelled(campaign) or _has_verdicts(campaign),
    Lack("No answer has labels yet.", (START_JOB, HAND_OUT), LABELLING),
)
LABELS_OR_GRADES: Final = Need(
    _has_sides, Lack("No labels are here to compare yet.", (START_JOB, HAND_OUT), LABELLING)
)
LABELS_OR_SCORES: Final = Need(
    lambda campaign: _is_labelled(campaign) or _tables_by_others(campaign) > 0,
    Lack("Neither labels nor scores by others are here yet.", (START_JOB, HAND_OUT, LOAD_SCORES), LABELLING),
)
TRUTH: Final = Need(
    _has_truth,
    Lack("Neither people's labels nor scores by others are here yet.", (HAND_OUT, LOAD_SCORES), LABELLING),
)
JUDGES: Final = Need(
    _has_judges,
    Lack(
        "No LLM has labelled answers, and no other judge's scores are here yet.",
        (START_JOB, LOAD_SCORES),
        LABELLING,
    ),
)
BATTLES: Final = Need(
    lambda campaign: BattleSet.objects.filter(campaign=campaign).exists(),
    Lack("No battles are drawn yet.", (Act("Draw battles", "organizer:battles"),), "An organizer draws them."),
)
VERDICTS: Final = Need(
    _has_verdicts,
    Lack(
        "No battle is judged yet.",
        (
            Act("Hand out battles", "organizer:hand_out", query=(("stage", "battle"),)),
            Act("Start a job", "organizer:new_job", query=(("what", "battle"),)),
        ),
        "An organizer has them judged.",
    ),
)
WORK: Final = Need(
    lambda campaign: Task.objects.filter(campaign=campaign).exclude(opened_at=None).exists(),
    Lack("Nobody has worked on a task yet.", (HAND_OUT,), "An organizer hands work out."),
)
LABELS_BY_PEOPLE: Final = Need(
    lambda campaign: _labelled_by(campaign, JudgeKind.HUMAN),
    Lack("No condition was labelled by people yet.", (HAND_OUT,), "An organizer hands work out."),
)
LABELS_BY_LLMS: Final = Lack("No LLM has labelled anything here yet.", (START_JOB,), "An organizer starts a job.")
LABELS_BY_TWO: Final = Lack(
    "Nothing has been labelled by two people yet.",
    (HAND_OUT, Act("Set how many judge a topic", "organizer:change_protocol")),
    "An organizer hands the same topics out again.",
)
