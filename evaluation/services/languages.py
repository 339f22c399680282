"""Languages of a campaign's topics and of its assessors: nobody is handed a topic in one that they do not read."""

import re

from django.db import transaction
from django.db.models import F

from accounts.models import User
from evaluation.errors import Refused
from evaluation.formats.languages import normalised
from evaluation.models import Campaign, Event, Membership
from evaluation.terms import Role

MOST = 50


def set_languages(*, campaign: Campaign, username: str, languages: str, actor: User | None) -> Membership:
    """Write which languages an assessor reads, none for any; the same again changes nothing. Raises `Refused`."""
    tags = " ".join(_tags(languages))
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)  # as where work is handed out
        mine = Membership.objects.filter(campaign=locked, user__username=username, role=Role.ASSESSOR)
        member = mine.select_related("user").first()
        if member is None:
            raise Refused("not_assessor", f"{username} is no assessor of this campaign.")
        if member.languages != tags:
            payload = {"user": member.user_id, "before": member.languages, "languages": tags}
            member.languages = tags
            member.save(update_fields=["languages"])
            Event.objects.create(campaign=locked, kind="member.languages", actor=actor, payload=payload)
        return member


def set_campaign_language(*, campaign: Campaign, language: str, actor: User | None) -> str:
    """Write the language of topics that name none, empty for not known; return its tag. Raises `Refused`."""
    tag = _tag(language) if language.strip() else ""
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if locked.language != tag:
            payload = {"before": locked.language, "language": tag}
            Campaign.objects.filter(pk=locked.pk).update(language=tag, revision=F("revision") + 1)
            Event.objects.create(campaign=locked, kind="campaign.language", actor=actor, payload=payload)
    return tag


def _tags(languages: str) -> list[str]:
    tags = dict.fromkeys(_tag(one) for one in re.split(r"[\s,;]+", languages) if one)
    if len(tags) > MOST:
        raise Refused("bad_language", f"At most {MOST} languages.")
    return sorted(tags)


def _tag(text: str) -> str:
    tag = normalised(text)
    if tag is None:
        raise Refused("bad_language", f"A language is a tag such as en, ar or pt-BR, found {text[:40]}.")
    return tag
