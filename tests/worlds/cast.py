"""The cast and a small world: Ann and Ben assess, Olga organizes, Rita researches, Sam is a stranger."""

from pathlib import Path

from accounts.models import NOTICE_VERSION, User
from evaluation.campaigns.create import add_member, create_campaign
from evaluation.formats.source import Source, read_source
from evaluation.models import Campaign
from evaluation.terms import Role

CAST = {
    "ann": Role.ASSESSOR,
    "ben": Role.ASSESSOR,
    "olga": Role.ORGANIZER,
    "rita": Role.RESEARCHER,
    "audrey": Role.AUDITOR,
}


def make_user(username: str, **fields: object) -> User:
    """Make an account whose password is its name, and whose person has read what is recorded."""
    fields = {"notice_version": NOTICE_VERSION} | fields
    return User.objects.create_user(username, f"{username}@example.org", username, **fields)


def make_campaign(slug: str = "river", name: str = "River study") -> Campaign:
    return create_campaign(slug=slug, name=name)[0]


def make_cast(campaign: Campaign) -> dict[str, User]:
    people = {name: make_user(name) for name in [*CAST, "sam"]}
    for name, role in CAST.items():
        add_member(campaign=campaign, user=people[name], role=role)
    return people


def write_source(folder: Path, name: str, text: str) -> Source:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="\n")
    return read_source(path)
