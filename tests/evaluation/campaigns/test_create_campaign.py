"""Making a campaign from a file: again the same changes nothing, another protocol is a new version."""

from pathlib import Path

import pytest

from evaluation.campaigns import create
from evaluation.campaigns.protocol import settings_of
from evaluation.models import Campaign, Event, Finding, Protocol
from tests.worlds.imported import everything, load, run, write

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


def test_settings_of_battles_have_a_table_of_their_own(tmp_path: Path) -> None:
    battles = '[battles]\nshow = "passages"\nties = false\noverlap = 0.5\norder = "shuffled"\ntask = 12\n'
    assert make(tmp_path, battles)[0] == 0
    protocol = Campaign.objects.get().protocol
    assert (protocol.battle_show, protocol.battle_ties, protocol.battle_both_bad) == ("passages", False, True)
    assert (protocol.battle_overlap, protocol.battle_order, protocol.battle_task) == (0.5, "shuffled", 12)
    assert make(tmp_path, battles)[1].endswith("nothing changed.\n")
    assert make(tmp_path, battles.replace("12", "20"), "--replace")[0] == 0
    assert Protocol.objects.latest("version").battle_task == 20


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ('show = "all"', "battles.show"),
        ("overlap = 1.5", "battles.overlap"),
        ('overlap = "half"', "battles.overlap"),
        ("task = 0", "battles.task"),
        ("task = true", "battles.task"),
        ("ties = 1", "battles.ties"),
        ('order = "random"', "battles.order"),
        ("word_limit = 1024", "battles.word_limit"),
    ],
)
def test_settings_of_battles_that_are_none_are_refused_by_line_and_field(
    tmp_path: Path, line: str, field: str
) -> None:
    code, output = make(tmp_path, f"[battles]\n{line}\n")
    assert code == 1
    assert "campaign.toml:2" in output
    assert field in output
    assert not Campaign.objects.exists()


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


# What the presets say of a track; every other setting keeps its default.
LIKE: dict[str, dict[str, object]] = {
    "trec-rag-2024": {},
    "trec-rag-2025": {"reference_limit": 100, "relevance_max": 4},
    "trec-rag-2026": {
        "answer_word_limit": 1024,
        "reference_limit": None,
        "first_citations": None,
        "scoring": "rubric",
        "support_measure": "sentence",
        "citation_limit": 3,
        "markdown": True,
        "relevance_max": 4,
        "grade_threshold": 2,
    },
    "ragtime-2026": {"answer_word_limit": None, "reference_limit": None, "topic_limit": True},
}


def test_every_preset_is_a_file_and_every_file_a_preset() -> None:
    folder = Path(create.__file__).parent / "presets"
    assert sorted(path.stem for path in folder.iterdir()) == sorted(create.PRESETS) == sorted(LIKE)


@pytest.mark.parametrize("like", LIKE)
def test_a_campaign_like_a_track_has_its_settings(like: str) -> None:
    made = run("create_campaign", "river", "--like", like)
    protocol, default = Campaign.objects.get().protocol, Protocol()
    assert settings_of(protocol) == settings_of(default) | LIKE[like]
    assert Event.objects.get(kind="campaign.made").payload["like"] == like
    assert Campaign.objects.get().like == like
    limit = protocol.answer_word_limit
    assert f"- Words of an answer: {f'{limit} at most' if limit else 'no limit'}" in made.err
    before = everything()
    assert "nothing changed" in run("create_campaign", "river", "--like", like).err
    assert everything() == before


def test_the_file_wins_over_the_preset_field_by_field(tmp_path: Path) -> None:
    file = write(tmp_path, "own.toml", "[protocol]\nanswer_word_limit = 500\n")
    run("create_campaign", "river", "--like", "trec-rag-2026", "--from", file)
    protocol = Campaign.objects.get().protocol
    assert (protocol.answer_word_limit, protocol.reference_limit, protocol.relevance_max) == (500, None, 4)


def test_a_file_can_name_its_preset_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    assert make(tmp_path, 'like = "trec-rag-2026"\n')[0] == 0
    assert Campaign.objects.get().protocol.answer_word_limit == 1024
    code, output = make(tmp_path, 'name = "River"\nlike = "trec-rag-1924"\n')
    assert (code, "campaign.toml:2: like" in output, "trec-rag-2026" in output) == (1, True, True)


def test_the_narratives_of_2026_load_without_a_finding(shared_data: Path) -> None:
    run("create_campaign", "river", "--like", "trec-rag-2026")
    load("import_topics", shared_data / "track-2026" / "trec_rag_2026_queries.tsv")
    assert Campaign.objects.get().topics.count() == 119
    assert not Finding.objects.exists()


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
