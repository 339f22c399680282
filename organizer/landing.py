"""First page after signing in."""

from django.urls import reverse

from accounts.models import User
from evaluation.models import Membership
from evaluation.queries.campaigns import unblinded
from evaluation.terms import Role

FIRST_PAGES = {
    Role.ORGANIZER: "organizer:today",
    Role.AUDITOR: "organizer:audit",
    Role.RESEARCHER: "organizer:catalogue",
}
"""By role, of somebody who has several in a campaign the first."""


def landing_for(user: User) -> str:
    """Address of the only campaign's first page; with several campaigns that of their list."""
    if user.is_superuser:
        return reverse("organizer:campaigns")
    mine = list(Membership.objects.filter(user=user).values_list("campaign__slug", "role"))
    if mine and all(role == Role.ASSESSOR for _, role in mine):
        return reverse("assessor:home")
    slugs = {slug for slug, _ in mine}
    open_ones = unblinded(user).filter(slug__in=slugs).values_list("slug", flat=True)
    if len(slugs) != 1 or slugs != set(open_ones):
        return reverse("organizer:campaigns")
    roles = {role for _, role in mine}
    page = next(name for role, name in FIRST_PAGES.items() if role in roles)
    return reverse(page, args=[*slugs])
