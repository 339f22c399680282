"""Topics with more than a title: loaded, loaded again, changed, and without texts in a file to hand on."""

from pathlib import Path

import pytest
from django.test import Client

from evaluation.models import Campaign, Topic
from tests.worlds.cast import make_cast
from tests.worlds.imported import load, load_world, refuse, run, write

REQUEST = {
    "request_id": "28",
    "title": "wings",
    "problem_statement": "Why?",
    "background": "I build.",
    "lang": "eng",
}
ARTICLE = {"docid": "d1", "title": "A pie", "body": "The paper of record.", "url": "https://news.example/1"}


@pytest.fixture
def river(db: None, tmp_path: Path) -> Path:
    """The small campaign, and a folder for files."""
    load_world(tmp_path)
    return tmp_path


def test_a_request_s_texts_are_kept_and_the_same_file_changes_nothing(river: Path) -> None:
    path = write(river, "requests.jsonl", [REQUEST, ARTICLE])
    load("import_topics", path)
    topic = Topic.objects.get(topic_id="28")
    assert (topic.text, topic.problem_statement, topic.background, topic.language) == (
        "wings",
        "Why?",
        "I build.",
        "en",
    )
    assert Topic.objects.get(topic_id="d1").article == "The paper of record."
    assert "Nothing changed: 2 topics already loaded." in load("import_topics", path).err


def test_a_changed_background_is_refused_while_labels_depend_on_it(river: Path) -> None:
    changed = write(river, "t1.jsonl", [{"id": "t1", "title": "why rivers bend", "background": "I row."}])
    assert "t1.jsonl:1: background: " in refuse("import_topics", changed)
    assert "labels" in refuse("import_topics", changed, "--replace")
    tongue = write(river, "t1.jsonl", [{"id": "t1", "title": "why rivers bend", "language": "en"}])
    load("import_topics", "--replace", tongue)
    assert Topic.objects.get(topic_id="t1").language == "en"


@pytest.mark.parametrize("texts", [True, False])
def test_a_campaign_file_has_texts_and_the_article_only_with_texts(river: Path, texts: bool) -> None:
    load("import_topics", write(river, "requests.jsonl", [REQUEST, ARTICLE]))
    path = river / "river.zip"
    options = [] if texts else ["--without-texts"]
    done = run("export", "campaign", "--campaign", "river", "--output", str(path), *options)
    assert done.code == 0, done.err
    assert run("import_campaign", str(path), "--slug", "copy").code == 0
    copied = {topic.topic_id: topic for topic in Topic.objects.filter(campaign__slug="copy")}
    assert (copied["28"].background, copied["28"].language) == ("I build.", "en")
    assert copied["d1"].article == ("The paper of record." if texts else "")


def test_the_topic_s_page_and_the_api_have_the_texts(river: Path, client: Client) -> None:
    load("import_topics", write(river, "requests.jsonl", [REQUEST, ARTICLE]))
    client.force_login(make_cast(Campaign.objects.get())["rita"])
    topic = Topic.objects.get(topic_id="28")
    page = client.get(f"/campaigns/river/topics/{topic.public_id}/").content.decode()
    assert '<h1 dir="auto" lang="en">wings</h1>' in page
    assert "Problem statement" in page
    rows = client.get("/api/v1/topics/?campaign=river").json()["results"]
    found = {row["topic_id"]: row for row in rows}
    assert (found["28"]["background"], found["28"]["language"]) == ("I build.", "en")
    assert found["d1"]["article"] == "The paper of record."
