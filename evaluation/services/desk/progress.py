"""How far a judging task is, told from its labels."""

from evaluation.models import TaskAnswer
from evaluation.services.desk.finding import Place
from evaluation.services.desk.judging import nuggets_by_answer, nuggets_of, pairs_of
from evaluation.services.desk.labels import SEPARATOR, labels_of
from evaluation.terms import Stage


def asked_keys(place: Place) -> list[str]:
    """Return the keys of everything that is asked, in the order of the screen."""
    if place.stage != Stage.ASSIGN:
        return [pair.key for pair in pairs_of(place) if pair.judgeable]
    answers = TaskAnswer.objects.filter(task=place.task, same_as=None).order_by("position")
    asked, nuggets = nuggets_by_answer(place), [one.key for one in nuggets_of(place)]
    return [
        f"{answer}{SEPARATOR}{nugget}"
        for answer in answers.values_list("answer__public_id", flat=True)
        for nugget in (nuggets if asked is None else asked[answer])
    ]


def unjudged_keys(place: Place) -> list[str]:
    """Return the keys that have no label yet, in the order of the screen."""
    given = {key for key, row in labels_of(place).read().items() if row.label is not None}
    return [key for key in asked_keys(place) if key not in given]


def left_to_judge(place: Place) -> int:
    """Return how many labels are missing."""
    return len(unjudged_keys(place))
