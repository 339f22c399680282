"""What reports need before they show anything: a sentence that says so, and the page where an organizer does it."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from evaluation.battles import counted_verdicts
from evaluation.models import BattleSet, Task
from evaluation.terms import JudgeKind, Origin
from reports.forms import Offer


@dataclass(frozen=True, slots=True)
class NextStep:
    """A page of the organizers, as view, its further arguments and query, and what is done there."""

    caption: str
    view: str
    arguments: tuple[str, ...] = ()
    query: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Lack:
    """What is missing, in a sentence. `others`: what those read whose role does none of the acts."""

    text: str
    acts: tuple[NextStep, ...]
    others: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """`lack`: what is missing where it is not met."""

    is_met: Callable[[Offer], bool]
    lack: Lack


def _has_verdicts(offered: Offer) -> bool:
    return counted_verdicts(offered.campaign).exists()


def _labelled_by(offered: Offer, kind: JudgeKind) -> bool:
    return any(condition.judge_kind is kind for condition in offered.conditions)


def _has_truth(offered: Offer) -> bool:
    return _labelled_by(offered, JudgeKind.HUMAN) or len(offered.published) > 0


def _has_judges(offered: Offer) -> bool:
    # Without labels by people, one of the tables is the truth.
    others = len(offered.published) - (not _labelled_by(offered, JudgeKind.HUMAN))
    return _labelled_by(offered, JudgeKind.LLM) or others > 0


HAND_OUT: Final = NextStep("Hand out work", "organizer:hand_out")
START_JOB: Final = NextStep("Start a job", "organizer:new_job")
LOAD_SCORES: Final = NextStep("Load scores", "organizer:new_import", ("scores",))
LABELLING: Final = "An organizer has them labelled."

RUNS: Final = Requirement(
    lambda offered: offered.campaign.runs.exists(),
    Lack(
        "No runs are loaded yet.",
        (NextStep("Load them under Data", "organizer:new_import", ("runs",)),),
        "An organizer loads them.",
    ),
)
NO_NUGGETS: Final = Lack(
    "There are no nuggets yet.",
    (NextStep("Start a job", "organizer:new_job", query=(("what", "nuggets"),)), HAND_OUT),
    "An organizer has them made.",
)
NUGGETS: Final = Requirement(
    lambda offered: offered.campaign.nugget_sets.exclude(origin=Origin.DRAFT).exists(), NO_NUGGETS
)
NUGGETS_OR_DRAFTS: Final = Requirement(lambda offered: offered.campaign.nugget_sets.exists(), NO_NUGGETS)
NUGGET_LABELS: Final = Requirement(
    lambda offered: bool(offered.conditions),
    Lack("No answer has nugget labels yet.", (START_JOB, HAND_OUT), LABELLING),
)
LABELS_OR_VERDICTS: Final = Requirement(
    lambda offered: offered.is_labelled or _has_verdicts(offered),
    Lack("No answer has labels yet.", (START_JOB, HAND_OUT), LABELLING),
)
LABELS_OR_GRADES: Final = Requirement(
    attrgetter("has_sides"), Lack("No labels are here to compare yet.", (START_JOB, HAND_OUT), LABELLING)
)
LABELS_OR_SCORES: Final = Requirement(
    attrgetter("has_scores"),
    Lack("Neither labels nor scores by others are here yet.", (START_JOB, HAND_OUT, LOAD_SCORES), LABELLING),
)
TRUTH: Final = Requirement(
    _has_truth,
    Lack("Neither people's labels nor scores by others are here yet.", (HAND_OUT, LOAD_SCORES), LABELLING),
)
JUDGES: Final = Requirement(
    _has_judges,
    Lack(
        "No LLM has labelled answers, and no other judge's scores are here yet.",
        (START_JOB, LOAD_SCORES),
        LABELLING,
    ),
)
BATTLES: Final = Requirement(
    lambda offered: BattleSet.objects.filter(campaign=offered.campaign).exists(),
    Lack(
        "No battles are drawn yet.", (NextStep("Draw battles", "organizer:battles"),), "An organizer draws them."
    ),
)
VERDICTS: Final = Requirement(
    _has_verdicts,
    Lack(
        "No battle is judged yet.",
        (
            NextStep("Hand out battles", "organizer:hand_out", query=(("stage", "battle"),)),
            NextStep("Start a job", "organizer:new_job", query=(("what", "battle"),)),
        ),
        "An organizer has them judged.",
    ),
)
WORK: Final = Requirement(
    lambda offered: Task.objects.filter(campaign=offered.campaign).exclude(opened_at=None).exists(),
    Lack("Nobody has worked on a task yet.", (HAND_OUT,), "An organizer hands work out."),
)
LABELS_BY_PEOPLE: Final = Requirement(
    lambda offered: _labelled_by(offered, JudgeKind.HUMAN),
    Lack("No condition was labelled by people yet.", (HAND_OUT,), "An organizer hands work out."),
)
LABELS_BY_LLMS: Final = Lack("No LLM has labelled anything here yet.", (START_JOB,), "An organizer starts a job.")
LABELS_BY_TWO: Final = Lack(
    "Nothing has been labelled by two people yet.",
    (HAND_OUT, NextStep("Set how many judge a topic", "organizer:change_protocol")),
    "An organizer hands the same topics out again.",
)
