"""The menu, the tabs of its groups and the way back up, on every page of a campaign."""

from typing import Any

from django import template
from django.template import Context

from evaluation.terms import Role
from organizer.navigation import MenuGroup, MenuPage, menu_for, place_of, roles_in

register = template.Library()

Link = dict[str, Any]


def _roles(context: Context) -> frozenset[Role]:
    # The menu and the tabs of a page ask for the same roles.
    request = context["request"]
    if not hasattr(request, "campaign_roles"):
        request.campaign_roles = roles_in(request.user, context["campaign"])
    roles: frozenset[Role] = request.campaign_roles
    return roles


def _place(context: Context) -> tuple[MenuGroup, MenuPage] | None:
    match = context["request"].resolver_match
    return place_of(match) if match else None


def _links(context: Context, pages: tuple[MenuPage, ...]) -> list[Link]:
    request, slug = context["request"], context["campaign"].slug
    place = _place(context)
    return [
        {
            "caption": page.caption,
            "address": page.address(slug),
            "current": ("page" if page.is_at(request.resolver_match) else "true")
            if place and place[1] == page
            else "",
            "is_inbox": page.view == "organizer:inbox",
        }
        for page in pages
    ]


@register.inclusion_tag("components/campaign_menu.html", takes_context=True)
def campaign_menu(context: Context) -> dict[str, Any]:
    roles = _roles(context)
    groups = [{"caption": group.caption, "links": _links(context, group.pages)} for group in menu_for(roles)]
    return {"groups": groups, "campaign": context["campaign"], "request": context["request"], "roles": roles}


@register.inclusion_tag("components/tabs.html", takes_context=True)
def tabs(context: Context) -> dict[str, Any]:
    place, roles = _place(context), _roles(context)
    groups = [group for group in menu_for(roles) if place and place[1] in group.pages and group.caption]
    return {"group": groups[0].caption, "links": _links(context, groups[0].pages)} if groups else {"links": []}


@register.inclusion_tag("components/breadcrumbs.html", takes_context=True)
def breadcrumbs(context: Context) -> dict[str, Any]:
    """Campaign and menu page above a lower page; nothing on a page of the menu itself."""
    place, campaign = _place(context), context["campaign"]
    if place is None or place[1].is_at(context["request"].resolver_match):
        return {}
    return {"campaign": campaign, "caption": place[1].caption, "address": place[1].address(campaign.slug)}
