"""Lists of drafts to edit, as a drafting LLM leaves them."""

from collections.abc import Iterable, Sequence

from evaluation.judges import add_judge
from evaluation.labelling import ensure_nugget_set, give_nugget_list
from evaluation.models import Campaign, Event, NuggetSet, Topic
from evaluation.terms import Importance, JudgeKind, Origin


def make_drafts(campaign: Campaign, drafts: Iterable[tuple[Topic, Sequence[str]]]) -> NuggetSet:
    """Give topics a list of drafts each; return the set."""
    judge, _ = add_judge(name="drafting", kind=JudgeKind.LLM, model="drafting")
    made = ensure_nugget_set(campaign, judge, Origin.DRAFT)
    event = Event.objects.create(campaign=campaign, kind="drafted for a rig")
    for topic, texts in drafts:
        give_nugget_list(made, topic, [(text, Importance.UNKNOWN) for text in texts], event)
    return made
