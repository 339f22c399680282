"""Making a campaign from a file: again the same changes nothing, another protocol is a new version."""

from pathlib import Path

import pytest

from evaluation.models import Campaign, Protocol
from tests.worlds.imported import everything, run, write

pytestmark = pytest.mark.django_db

SETTINGS = """name = "River study"

[protocol]
nugget_cap = 15
edited_cap = 0
first_citations = 0

[defaults."E/M"]
judge = "Ann"
"""


def make(folder: Path, text: str = SETTINGS, *more: str) -> tuple[int, str]:
    """Make or change the campaign `river` from a file."""
    outcome = run("create_campaign", "river", "--from", write(folder, "campaign.toml", text), *more)
    return outcome.code, outcome.err


def test_the_file_s_settings_are_the_protocol(tmp_path: Path) -> None:
    assert make(tmp_path) == (0, "Campaign river (River study): made.\n")
    protocol = Campaign.objects.get().protocol
    assert (protocol.nugget_cap, protocol.edited_cap, protocol.first_citations) == (15, None, None)
    assert (protocol.window_size, protocol.draft_cap, protocol.answer_word_limit) == (10, 30, 400)
    assert [(default.condition, default.judge) for default in Campaign.objects.get().defaults.all()] == [
        ("E/M", "Ann")
    ]


def test_the_same_file_again_changes_nothing(tmp_path: Path) -> None:
    make(tmp_path)
    before = everything()
    assert make(tmp_path) == (0, "Campaign river (River study): already there just so; nothing changed.\n")
    assert everything() == before


def test_other_settings_are_refused_without_replace(tmp_path: Path) -> None:
    make(tmp_path)
    before = everything()
    code, output = make(tmp_path, SETTINGS.replace("15", "12"))
    assert (code, "--replace" in output) == (1, True)
    assert everything() == before


def test_other_settings_are_a_new_version_of_the_protocol(tmp_path: Path) -> None:
    make(tmp_path)
    assert make(tmp_path, SETTINGS.replace("15", "12"), "--replace")[0] == 0
    assert list(Protocol.objects.order_by("version").values_list("version", "nugget_cap")) == [(1, 15), (2, 12)]


def test_caps_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    code, output = make(tmp_path, SETTINGS.replace("15", "31"))
    assert code == 1
    assert "nugget_cap must not be above draft_cap" in output
    assert not Campaign.objects.exists()


@pytest.mark.parametrize("slug", ["two words", "a/b", "x" * 61, "=1"])
def test_a_slug_that_no_url_takes_is_refused(slug: str) -> None:
    outcome = run("create_campaign", slug, "--name", "River")
    assert outcome.code == 1
    assert outcome.err.startswith("slug: ")


@pytest.mark.parametrize("limit", ["manual_cap", "answer_word_limit", "pool_depth", "reference_limit"])
def test_a_number_beyond_the_column_is_refused(tmp_path: Path, limit: str) -> None:
    code, _ = make(tmp_path, f"[protocol]\n{limit} = 99999999999\n")
    assert code == 1
    assert not Campaign.objects.exists()
