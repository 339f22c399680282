"""Administrators make campaigns in the browser, and organize them."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import User
from evaluation.models import Campaign, Membership
from tests.worlds.cast import make_campaign, make_cast, make_user

NEW = "/campaigns/new/"
pytestmark = pytest.mark.django_db


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(make_user("root", is_superuser=True, is_staff=True))
    return client


def test_a_campaign_is_made_with_settings_and_its_maker_organizes_it(root: Client) -> None:
    assert NEW in root.get("/").content.decode()
    file = SimpleUploadedFile("river.toml", b"description = 'of a file'\n[protocol]\nnugget_cap = 7\n")
    done = root.post(NEW, {"slug": "river", "name": "River study", "settings": file}, follow=True)
    assert done.redirect_chain == [("/campaigns/river/today/", 302)]
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.description, campaign.protocol.nugget_cap) == ("River study", "of a file", 7)
    member = Membership.objects.get(campaign=campaign)
    assert (member.user, member.role) == (User.objects.get(username="root"), "organizer")
    assert NEW in root.get("/").content.decode()


def test_a_campaign_is_made_like_a_track_s_and_a_file_wins(root: Client) -> None:
    page = root.get(NEW).content.decode()
    assert page.index('<option value="trec-rag-2026">TREC RAG 2026</option>') < page.index('name="name"')
    file = SimpleUploadedFile("river.toml", b"[protocol]\nrelevance_max = 5\n")
    root.post(NEW, {"slug": "river", "name": "River", "like": "trec-rag-2026", "settings": file})
    protocol = Campaign.objects.get().protocol
    assert (protocol.answer_word_limit, protocol.relevance_max) == (1024, 5)
    assert "made like <b>trec-rag-2026</b>" in root.get("/campaigns/river/protocol/").content.decode()
    assert "the rules of TREC RAG 2026 stand until you change them" in root.get("/campaigns/river/today/").text


def test_a_copy_is_like_its_campaign_and_no_track(root: Client) -> None:
    make_campaign("taken")
    copy = {"slug": "river", "name": "River", "start": "copy", "protocol": "taken"}
    refused = root.post(NEW, copy | {"like": "trec-rag-2026"})
    assert (refused.status_code, "Choose one of the two." in refused.content.decode()) == (422, True)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"slug": "taken", "name": "x"}, "This short name is taken"),
        ({"slug": "new", "name": "x"}, "This short name is taken"),
        ({"slug": "no name", "name": "x"}, "Expected letters, digits"),
        ({"slug": "ok", "name": ""}, "This field is required"),
    ],
)
def test_what_is_wrong_is_said_at_the_form(root: Client, fields: dict[str, str], reason: str) -> None:
    make_campaign("taken")
    done = root.post(NEW, fields)
    assert (done.status_code, reason in done.content.decode()) == (422, True)
    assert Campaign.objects.count() == 1


def test_a_bad_file_is_refused_with_its_lines(root: Client) -> None:
    file = SimpleUploadedFile("river.toml", b"[protocol]\nnugget_cap = 'seven'\nnonsense = 1\n")
    done = root.post(NEW, {"slug": "river", "name": "x", "settings": file})
    assert done.status_code == 422
    page = done.content.decode()
    assert "river.toml:2: protocol.nugget_cap" in page
    assert "river.toml:3: protocol.nonsense" in page
    assert not Campaign.objects.exists()


def test_organizers_make_none(client: Client) -> None:
    client.force_login(make_cast(make_campaign())["olga"])
    assert client.get(NEW).status_code == 403
    assert NEW not in client.get("/").content.decode()


def test_a_campaign_with_sample_data_lands_on_today(root: Client) -> None:
    done = root.post(NEW, {"slug": "tried", "name": "Tried out", "language": "en", "start": "sample"})
    campaign = Campaign.objects.get()
    assert done["Location"].endswith("/campaigns/tried/today/")
    assert (campaign.language, campaign.protocol.version) == ("en", 1)
    assert campaign.topics.exists()
    assert campaign.runs.exists()
    assert not campaign.nugget_sets.exists()


def test_a_protocol_is_copied_without_its_data(root: Client) -> None:
    other = make_campaign("other")
    other.protocols.update(nugget_cap=7, guidelines="Read all of it.", grade_words="no\nsome\nmuch\nall")
    root.post(NEW, {"slug": "copied", "name": "Copied", "start": "copy", "protocol": "other"})
    protocol = Campaign.objects.get(slug="copied").protocol
    assert (protocol.nugget_cap, protocol.guidelines) == (7, "Read all of it.")
    assert protocol.grade_words == "no\nsome\nmuch\nall"


def test_a_language_that_is_none_is_said_at_the_form(root: Client) -> None:
    done = root.post(NEW, {"slug": "river", "name": "River", "language": "no such!"})
    assert done.status_code == 422
    assert not Campaign.objects.exists()
