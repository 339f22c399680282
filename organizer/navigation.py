"""Menu of a campaign: Today and groups of pages, each for the roles whose work is there."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from urllib.parse import urlencode

from django.urls import ResolverMatch, reverse

from accounts.models import User
from evaluation.campaigns.access import may_organize
from evaluation.models import Campaign, Membership
from evaluation.terms import Role
from reports.registry import pages

ORGANIZER, RESEARCHER, AUDITOR = Role.ORGANIZER, Role.RESEARCHER, Role.AUDITOR
READERS, OVERSEERS = frozenset({ORGANIZER, RESEARCHER}), frozenset({ORGANIZER, AUDITOR})


@dataclass(frozen=True, slots=True)
class MenuPage:
    """A page of the menu. `lower`: views of the pages below it."""

    view: str
    caption: str
    lower: tuple[str, ...] = ()
    roles: frozenset[Role] = frozenset({ORGANIZER})

    def address(self, slug: str) -> str:
        return reverse(self.view, args=[slug])

    def is_at(self, match: ResolverMatch) -> bool:
        return match.view_name == self.view


@dataclass(frozen=True, slots=True)
class MenuGroup:
    """Pages of one kind of work. Without a caption they stand in the bar themselves."""

    caption: str
    pages: tuple[MenuPage, ...]


def _pages(names: str) -> tuple[str, ...]:
    return tuple(f"organizer:{name}" for name in names.split())


TODAY = MenuPage("organizer:today", "Today")
SET_UP = MenuGroup(
    "Set up",
    (
        MenuPage(
            "organizer:data",
            "Data",
            _pages(
                "topics topic runs run segment findings new_import import_attempt new_export answer_labels "
                "assignment_label support_label list_origin nugget_origin grade_origin"
            ),
        ),
        MenuPage("organizer:protocol", "Protocol", _pages("change_protocol change_defaults"), roles=OVERSEERS),
        MenuPage("organizer:people", "People", _pages("ask_to_take_role"), roles=OVERSEERS),
        MenuPage("organizer:practice", "Practice"),
        MenuPage("organizer:battles", "Battle sets"),
        MenuPage("organizer:judges", "Judges", _pages("new_judge new_connection")),
    ),
)
JUDGE = MenuGroup(
    "Judge",
    (
        MenuPage("organizer:work", "Work", _pages("task view_as hand_out change_work remind")),
        MenuPage("organizer:inbox", "Inbox"),
        MenuPage("organizer:jobs", "Jobs", _pages("job new_job call")),
        MenuPage(
            "organizer:prompts",
            "Prompts",
            _pages("prompt new_prompt import_prompt try_prompts trial"),
        ),
        MenuPage("organizer:studies", "Second looks", _pages("study new_study")),
        MenuPage("organizer:random_checks", "Random checks", _pages("random_check new_check"), roles=READERS),
    ),
)


OWN_BELOW = {"battles": _pages("verdict_origin")}
"""This room's pages below those of reports."""


def _with_reports(caption: str, *own: tuple[int, MenuPage]) -> MenuGroup:
    """Return a group of this room's pages, each with its place, and the reports that belong there."""
    reports = [
        (
            entry.order,
            MenuPage(
                f"reports:{entry.name}",
                entry.caption,
                (*(f"reports:{view}" for view in entry.below), *OWN_BELOW.get(entry.name, ())),
                READERS if entry.for_readers else frozenset({ORGANIZER}),
            ),
        )
        for entry in pages().values()
        if entry.menu == caption
    ]
    return MenuGroup(caption, tuple(page for _, page in sorted([*own, *reports], key=itemgetter(0))))


RESULTS = _with_reports(
    "Results",
    (40, MenuPage("organizer:quality", "Quality", roles=READERS)),
    (60, MenuPage("organizer:cost", "Cost", roles=READERS)),
)
PUBLISH = _with_reports(
    "Publish",
    (10, MenuPage("organizer:snapshots", "Snapshots", _pages("delete_campaign"), roles=OVERSEERS)),
    (20, MenuPage("organizer:exports", "Exports")),
    (30, MenuPage("reports:methods", "Methods", roles=READERS)),
    (50, MenuPage("organizer:audit", "Audit", roles=OVERSEERS)),
)
GROUPS = (SET_UP, JUDGE, RESULTS, PUBLISH)
DATA_TO_TAKE = MenuPage("organizer:exports", "Data to take", roles=frozenset({RESEARCHER}))


def page_in(campaign: Campaign, name: str, *place: object, **query: object) -> str:
    address = reverse(f"organizer:{name}", args=[campaign.slug, *place])
    return f"{address}?{urlencode(query, doseq=True)}" if query else address


def roles_in(viewer: User, campaign: Campaign) -> frozenset[Role]:
    """Roles of somebody who sees the campaign unblinded; whoever may organize has the organizer's menu alone."""
    if may_organize(viewer, campaign):
        return frozenset({ORGANIZER})
    held = Membership.objects.filter(campaign=campaign, user=viewer).values_list("role", flat=True)
    return frozenset(Role(role) for role in held)


def menu_for(roles: frozenset[Role]) -> Iterator[MenuGroup]:
    """Groups of the menu with the pages that these roles work on; a page in the bar is a group without a caption."""
    if ORGANIZER in roles:
        yield MenuGroup("", (TODAY,))
        yield from GROUPS
        return
    if RESEARCHER in roles:
        yield MenuGroup("", (DATA_TO_TAKE,))
        yield RESULTS
    pages = [page for group in GROUPS for page in group.pages if page.roles & roles and group is not RESULTS]
    yield from (MenuGroup("", (page,)) for page in pages)


def place_of(match: ResolverMatch) -> tuple[MenuGroup, MenuPage] | None:
    for group in (MenuGroup("", (TODAY,)), *GROUPS):
        for page in group.pages:
            if page.is_at(match) or match.view_name in page.lower:
                return group, page
    return None
