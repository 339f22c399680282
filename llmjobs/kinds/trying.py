"""Prompts on trial: asked as any other, but what they say goes into no table of labels."""

from collections.abc import Iterable, Sequence

from llmjobs.kinds.assigning import Assigning
from llmjobs.kinds.base import Ended
from llmjobs.kinds.supporting import Supporting
from llmjobs.models import TriedLabels


class TryingAssign(Assigning):
    """As assigning; items also say what `people` said, in the order of their nuggets."""

    def record(self, ended: Sequence[Ended]) -> None:
        """Keep what was said of each item's nuggets."""
        _keep((one, [int(given.label) for given in one.outcome.labels]) for one in ended)


class TryingSupport(Supporting):
    """As supporting; items also say what `people` said of their pair."""

    def record(self, ended: Sequence[Ended]) -> None:
        """Keep what was said of each pair."""
        _keep((one, [int(one.outcome.label)]) for one in ended)


def _keep(said: Iterable[tuple[Ended, list[int]]]) -> None:
    TriedLabels.objects.bulk_create(
        [TriedLabels(item=one.item, labels=labels) for one, labels in said],
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["labels"],
    )
