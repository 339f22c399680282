"""Who may see, organize and judge a campaign. Every other read of one begins with these."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from allauth.mfa.models import Authenticator
from django.db.models import Count, Q, QuerySet

from accounts.models import User
from evaluation.models import Assignment, Campaign, Membership, Run, SupportJudgment, Task, Topic, Verdict
from evaluation.rules.tasks import UNBLINDED_ROLES
from evaluation.terms import Role


@dataclass(frozen=True, slots=True)
class CampaignCard:
    """A campaign in someone's list. An assessor's card carries no counts: they would tell of others' work.

    `work`: something is handed out, so that its organizers begin with today.
    """

    slug: str
    name: str
    description: str
    unblinded: bool
    topics: int = 0
    runs: int = 0
    labels: int = 0
    work: bool = False


def unblinded(viewer: User) -> QuerySet[Campaign]:
    """Return the campaigns in which the viewer may see runs, scores and labels.

    Assessors of a campaign see none of it and of its copies, whatever their other roles, superusers included. The same
    holds for people with a task in one of them, even if they are no assessor any more.
    """
    return _unblinded(viewer.pk, everywhere=viewer.is_superuser).all()


# A page asks a dozen times, and to put the query together takes longer than to run it.
@lru_cache(maxsize=1000)
def _unblinded(viewer: int, *, everywhere: bool) -> QuerySet[Campaign]:
    mine = Membership.objects.filter(user=viewer)
    # Copies hold the same answers, so judging in a campaign blinds for its whole family.
    judging = mine.of_assessors().values("campaign__family")
    working = Task.objects.filter(assessor=viewer).not_withdrawn().values("campaign__family")
    open_to_me = Q() if everywhere else Q(pk__in=mine.filter(role__in=UNBLINDED_ROLES).values("campaign"))
    return Campaign.objects.filter(open_to_me).exclude(family__in=judging).exclude(family__in=working)


def holds_work(user: User) -> bool:
    """Say whether somebody holds a task anywhere, so that pages about answers and labels are closed to them."""
    return Task.objects.filter(assessor=user).not_withdrawn().exists()


def within(viewer: User, campaign: Campaign) -> QuerySet[Campaign]:
    """Return this campaign if the viewer may see it unblinded, else nothing: for `campaign__in=`."""
    return unblinded(viewer).filter(pk=campaign.pk)


def may_see(viewer: User, campaign: Campaign) -> bool:
    return within(viewer, campaign).exists()


def may_organize(viewer: User, campaign: Campaign) -> bool:
    seen = within(viewer, campaign)
    if viewer.is_superuser:
        return seen.exists()
    return Membership.objects.filter(campaign__in=seen, user=viewer, role=Role.ORGANIZER).exists()


def may_run_jobs(viewer: User, campaign: Campaign) -> bool:
    """Whether a viewer may start, cancel and retry jobs: money is the organizers'."""
    return may_organize(viewer, campaign)


def judged_by(viewer: User) -> QuerySet[Campaign]:
    """Return the campaigns of which somebody is an assessor, so that their tasks there are open to them."""
    return Campaign.objects.filter(pk__in=Membership.objects.of_assessors().filter(user=viewer).values("campaign"))


def may_judge(viewer: User, campaign: Campaign) -> bool:
    return judged_by(viewer).filter(pk=campaign.pk).exists()


def unblinded_campaign_for(viewer: User, slug: str) -> Campaign:
    """Return the campaign, or raise `Campaign.DoesNotExist`: what is not yours answers as what is not there."""
    return unblinded(viewer).get(slug=slug)


def is_taken_from(viewer: User, slug: str) -> bool:
    return Campaign.objects.filter(slug=slug).exclude(pk__in=unblinded(viewer)).exists()


def campaigns_for(viewer: User) -> list[CampaignCard]:
    """Return the campaigns the viewer belongs to (a superuser: all), in seven queries however many there are."""
    mine = Membership.objects.filter(user=viewer).values("campaign")
    campaigns = Campaign.objects.all() if viewer.is_superuser else Campaign.objects.filter(pk__in=mine)
    seen = unblinded(viewer)
    open_pks = set(seen.values_list("pk", flat=True))
    topics = dict(Topic.objects.filter(campaign__in=seen).values_list("campaign").annotate(Count("pk")))
    runs = dict(Run.objects.filter(campaign__in=seen).values_list("campaign").annotate(Count("pk")))
    labels = _label_counts(seen)
    handed = Task.objects.filter(campaign__in=seen).not_withdrawn().order_by()
    working = set(handed.values_list("campaign", flat=True).distinct())
    return [
        CampaignCard(
            slug=campaign.slug,
            name=campaign.name,
            description=campaign.description,
            unblinded=campaign.pk in open_pks,
            topics=topics.get(campaign.pk, 0),
            runs=runs.get(campaign.pk, 0),
            labels=labels.get(campaign.pk, 0),
            work=campaign.pk in working,
        )
        for campaign in campaigns
    ]


def _label_counts(campaigns: QuerySet[Campaign]) -> dict[int, int]:
    # Labels of studies repeat pairs that are labelled already.
    assigned = Assignment.objects.current().filter(answer__topic__campaign__in=campaigns, judge__aside=False)
    supported = SupportJudgment.objects.current().filter(segment__campaign__in=campaigns, judge__aside=False)
    total = Counter(dict(assigned.values_list("answer__topic__campaign").annotate(Count("pk"))))
    total.update(dict(supported.values_list("segment__campaign").annotate(Count("pk"))))
    verdicts = Verdict.objects.current().filter(battle__battle_set__campaign__in=campaigns, judge__aside=False)
    total.update(dict(verdicts.values_list("battle__battle_set__campaign").annotate(Count("pk"))))
    return total


# Recovery codes are no factor: they replace a factor that was lost.
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def lacks_second_factor(user: User) -> bool:
    powerful = user.is_staff or user.is_superuser
    if not powerful and not Membership.objects.filter(user=user, role=Role.ORGANIZER).exists():
        return False
    return not Authenticator.objects.filter(user=user, type__in=FACTORS).exists()
