"""The demo's practice: Ann and Ben have done theirs, so that every desk opens at once."""

from evaluation.models import Campaign, PracticeItem, Task
from evaluation.practising import practice_of
from evaluation.rules.practice import word_of
from evaluation.services.practice import answer_practice
from evaluation.terms import PracticeKind

SLIPS = {"ann": {"full_support": "partial_support"}, "ben": {"okay": "vital", "partial_support": "support"}}
"""What each of them answers once where something else is known."""


def practise(campaign: Campaign) -> None:
    slips = {name: dict(words) for name, words in SLIPS.items()}
    for task in Task.objects.filter(campaign=campaign).select_related("assessor").order_by("pk"):
        for pk in practice_of(task.assessor, [campaign.pk]).left(task):
            item = PracticeItem.objects.get(pk=pk)
            known = word_of(PracticeKind(item.kind), item.label)
            label = slips[task.assessor.username].pop(known, known)
            answer_practice(task=task.public_id, user=task.assessor, item=item.public_id, label=label)
