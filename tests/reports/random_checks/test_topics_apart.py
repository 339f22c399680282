"""Random checks of runs that answered few topics alike, or none of those that count."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from tests.worlds.cast import make_user
from tests.worlds.imported import answer, load, run, sentence, write
from tests.worlds.random_checks import EXAMPLE, corrected, judge, nugget

pytestmark = pytest.mark.django_db
ANSWERED = {"alpha": range(1, 9), "beta": range(5, 13), "gamma": [13]}
"""Topics of each run: alpha and beta have four in common, gamma one that has no list."""
NUGGETS = [nugget(number, "vital") for number in (1, 2, 3)]
LABELS = ("support", "not_support", "support")


@pytest.fixture
def judged(db: None, tmp_path: Path) -> None:
    """All pairs are drawn, and people say of each what the LLM said."""
    assert run("create_campaign", "river", "--name", "River study").code == 0
    load("import_topics", write(tmp_path, "topics.tsv", "".join(f"t{place}\twhy\n" for place in range(1, 14))))
    for run_id, places in ANSWERED.items():
        rows = [answer(run_id, f"t{place}", sentence(f"{run_id} on {place}.", 0)) for place in places]
        load("import_run", "--task", "RAG", write(tmp_path, f"{run_id}.jsonl", rows))
    lists = [{"qid": f"t{place}", "nuggets": NUGGETS} for place in range(1, 13)]
    load("import_nuggets", "--origin", "edited", "--judge", "people", write(tmp_path, "nuggets.jsonl", lists))
    labelled = [one | {"assignment": label} for one, label in zip(NUGGETS, LABELS, strict=True)]
    rows = [
        {"qid": f"t{place}", "run_id": run_id, "nuggets": labelled}
        for run_id in ("alpha", "beta")
        for place in ANSWERED[run_id]
    ]
    file = write(tmp_path, "labels.jsonl", rows)
    load("import_assignments", "--origin", "edited", "--judge", "llm", "--by", "llm", file)
    assert run(*EXAMPLE, "--per-run", "24", "--seed", "demo").code == 0
    people = [
        {"run_id": row["run_id"], "topic_id": row["qid"], "nugget": one["text"], "occurrence": 0}
        | {"label": one["assignment"]}
        for row in rows
        for one in labelled
    ]
    assert judge(tmp_path, people).code == 0


@pytest.mark.usefixtures("judged")
def test_runs_with_few_topics_in_common_have_a_difference_without_an_interval() -> None:
    [gap] = corrected("--missing", "skip", "--target", "new")["differences"]
    assert (gap["a"], gap["b"], gap["low"], gap["high"]) == ("alpha", "beta", None, None)


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("target", ["these", "new"])
def test_a_run_without_a_topic_that_counts_has_no_corrected_score(target: str) -> None:
    document = corrected("--missing", "skip", "--target", target)
    found = {row["run_id"]: row["corrected"]["value"] for row in document["runs"]}
    assert found == {"alpha": pytest.approx(2 / 3), "beta": pytest.approx(2 / 3), "gamma": None}


@pytest.mark.usefixtures("judged")
def test_a_run_without_a_topic_that_counts_is_ranked_nowhere() -> None:
    document = corrected("--missing", "skip")
    assert [(run_of["rank"], run_of["reason"]) for run_of in document["runs"]] == [
        *2 * [([1, 2], None)],
        (None, "no topic counts"),
    ]
    assert [(gap["a"], gap["b"]) for gap in document["differences"]] == [("alpha", "beta")]


@pytest.mark.usefixtures("judged")
def test_the_page_says_that_there_is_no_interval(client: Client) -> None:
    client.force_login(make_user("root", is_superuser=True, is_staff=True))
    address = reverse("reports:scores", args=["river"])
    page = client.get(f"{address}?condition=E/A&view=corrected&missing=skip&target=new").content.decode()
    assert "too few topics in common for an interval" in page


@pytest.mark.usefixtures("judged")
def test_no_number_of_judgments_is_told_for_new_topics() -> None:
    words = ("report", "corrected", "--campaign", "river", "--study", "check", "--missing", "skip")
    assert "never" in run(*words).out
    assert "never" not in run(*words, "--target", "new").out
