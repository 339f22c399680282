"""What a campaign's protocol says now, whether anything was judged, and a seal that tells of changes."""

import hashlib
import json

from evaluation.models import Campaign, ConditionDefault, NuggetList, Protocol, SupportJudgment, Task
from evaluation.rules.protocol import SETTINGS, Value

CONDITIONS = ("A/A", "E/A", "M/A", "E/M", "M/M", "A/M", "scratch", "post-edit", "llm")


def is_judged(campaign: Campaign) -> bool:
    """Say whether anything was judged: a nugget list, a support label, or a task that was started.

    An assignment needs a nugget list, so there is no need to ask for assignments.
    """
    return (
        NuggetList.objects.filter(nugget_set__campaign=campaign).exists()
        or Task.objects.filter(campaign=campaign, opened_at__isnull=False).exists()
        or SupportJudgment.objects.filter(sentence__answer__topic__campaign=campaign).exists()
    )


def settings_of(protocol: Protocol) -> dict[str, Value]:
    """Return the settings of a version by name."""
    return {name: getattr(protocol, name) for name in SETTINGS}


def defaults_of(campaign: Campaign) -> dict[str, tuple[str, str]]:
    """Return the judge and the nugget set of each condition, '' where none is named."""
    named = {one.condition: one for one in ConditionDefault.objects.filter(campaign=campaign)}
    return {
        condition: (named[condition].judge, named[condition].nuggets) if condition in named else ("", "")
        for condition in CONDITIONS
    }


def seal_of(campaign: Campaign) -> str:
    """Return what tells whether the protocol or the defaults are still those that somebody was shown."""
    protocol = campaign.protocol
    content = [protocol.version, settings_of(protocol), defaults_of(campaign)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
