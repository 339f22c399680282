"""Which nugget set is meant, where only its origin is said."""

from evaluation.errors import Refused
from evaluation.models import Campaign, NuggetSet
from evaluation.terms import Origin
from web.phrases import word


def the_nugget_set(campaign: Campaign, origin: Origin, name: str = "") -> NuggetSet:
    """Return the set of that name, or the only one of that origin.

    Raises `Refused`: `no_such_set` when nothing fits, `ambiguous` with the names when several do.
    """
    fitting = campaign.nugget_sets.filter(origin=origin, **({"name": name} if name else {}))
    names = [one.name for one in fitting]
    if len(names) == 1:
        return fitting[0]
    if names:
        raise Refused(
            "ambiguous",
            "Several %(origin)s nugget sets fit; say which: %(names)s.",
            origin=origin,
            names=", ".join(names),
        )
    there = ", ".join(campaign.nugget_sets.values_list("name", flat=True)) or word("none")
    if name:
        raise Refused(
            "no_such_set",
            "There is no %(origin)s nugget set %(name)s; there are: %(there)s.",
            origin=origin,
            name=name,
            there=there,
        )
    raise Refused(
        "no_such_set", "There is no %(origin)s nugget set; there are: %(there)s.", origin=origin, there=there
    )
