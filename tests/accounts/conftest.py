"""A campaign with the cast, and an administrator."""

from dataclasses import dataclass

import pytest
from django.test import Client

from accounts.models import User
from evaluation.models import Campaign, Event
from tests.worlds.cast import make_campaign, make_cast, make_user


@dataclass(frozen=True, slots=True)
class People:
    campaign: Campaign
    by_name: dict[str, User]

    def client(self, name: str) -> Client:
        client = Client()
        client.force_login(self.by_name[name])
        return client

    def page(self, path: str = "") -> str:
        return f"/campaigns/{self.campaign.slug}/people/{path}"

    def events(self) -> list[str]:
        """Return what happened in the campaign, newest first, without the beginning."""
        kinds = Event.objects.filter(campaign=self.campaign).values_list("kind", flat=True)
        return list(kinds)[: -len(("made", "ann", "ben", "olga", "rita", "audrey"))]


@pytest.fixture
def people(db: None) -> People:
    """Ann and Ben assess, Olga organizes, Sam is a stranger, and Ada administers."""
    campaign = make_campaign()
    cast = make_cast(campaign)
    ada = make_user("ada", is_staff=True, is_superuser=True)
    return People(campaign, cast | {"ada": ada})


def sign_in(name: str, password: str = "") -> Client:
    """Sign in through the form; the cast's passwords are their names."""
    client = Client()
    client.post("/accounts/login/", {"login": name, "password": password or name})
    return client


def confirmed(name: str) -> Client:
    """Sign in, and type the password once more, as what makes keys asks for."""
    client = sign_in(name)
    client.post("/accounts/reauthenticate/", {"password": name})
    return client
