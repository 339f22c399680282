"""All golden documents, made of each world as it is in a database of its own."""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.models import Campaign
from tests.golden import commands, desks, requests
from tests.golden.keeping import Documents
from tests.golden.pages import page_documents
from tests.golden.pinned import pinned
from tests.golden.rest import rest_documents
from tests.golden.worlds import WORLDS


@dataclass
class Made:
    """The documents of a world by group and name, and the kinds of operations and work items behind them."""

    groups: dict[str, dict[str, bytes]] = field(default_factory=lambda: defaultdict(dict))
    kinds: set[str] = field(default_factory=set)

    def take(self, documents: Documents) -> None:
        for group, name, body in documents:
            assert self.groups[group].setdefault(name, body) == body, f"two documents are called {group}, {name}"


def make(world: str, folder: Path) -> Made:
    made = Made()
    with pinned():
        if world in DESKS:
            documents, made.kinds = DESKS[world](folder)
            made.take(documents)
        else:
            campaign = WORLDS[world](folder)
            _take_campaign(made, campaign, world, folder)
    return made


DESKS = {"nugget-desks": desks.desk_documents, "judging-desks": desks.judging_documents}
ALL = (*WORLDS, *DESKS)


def _take_campaign(made: Made, campaign: Campaign, world: str, folder: Path) -> None:
    made.take(commands.report_documents(campaign, world))
    made.take(commands.export_documents(campaign, world, folder))
    made.take(page_documents(campaign))
    made.take(rest_documents(campaign))
    made.kinds = requests.planned_kinds(campaign)
    made.take(requests.request_documents(campaign))
