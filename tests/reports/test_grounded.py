"""A run that cites nothing is judged by what was retrieved: grounded, without precision, apart from runs that cite."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from evaluation.domain.counted_pairs import counted_citations
from evaluation.judges import add_judge
from evaluation.models import AnswerProvenance, Campaign, Citation, Run, Topic
from evaluation.terms import JudgeKind
from llmjobs.job_plan import support_items
from tests.worlds.cast import make_cast
from tests.worlds.imported import judged, load, refuse, report, run, write

pytestmark = pytest.mark.django_db
LABELS = ("--judge", "m", "--by", "llm")
OF = ("--condition", "llm")
RETRIEVED = ("--run", "bot", "--uncited", "retrieved")


def trace(question: str, answer: str, *contexts: str) -> dict[str, Any]:
    return {"user_input": question, "response": answer, "retrieved_contexts": list(contexts)}


BOT = [
    trace("Why?", "Sand moves [1]. Water bends.", "About sand.", "About water."),
    trace("How?", "Dams fail. Nobody knows.", *(f"Context {number}." for number in range(7))),
]


@pytest.fixture
def own(db: None, tmp_path: Path) -> Path:
    """Runs `bot`, loaded with candidates, and `cites`, with its marks."""
    run("create_campaign", "river", "--name", "Own")
    load("import_traces", *RETRIEVED, write(tmp_path, "bot.jsonl", BOT))
    load("import_traces", "--run", "cites", write(tmp_path, "cites.jsonl", BOT))
    return tmp_path


def docids(run_id: str, topic: str) -> list[str]:
    answer = AnswerProvenance.objects.get(run__run_id=run_id, topic__text=topic)
    return list(answer.references)


def labelled(folder: Path, words: dict[tuple[str, int, int], str], run_id: str = "bot") -> None:
    """Label contexts of sentences, by question, sentence and context."""
    topics = dict(Topic.objects.values_list("text", "topic_id"))
    rows = [
        judged(run_id, topics[question], sentence, docids(run_id, question)[context], word)
        for (question, sentence, context), word in words.items()
    ]
    load("import_support", *LABELS, "--replace", write(folder, "support.jsonl", rows))


FULL, PARTLY, NONE = "full_support", "partial_support", "no_support"
WORDS = {
    ("Why?", 0, 0): FULL,
    ("Why?", 0, 1): NONE,
    ("Why?", 1, 0): NONE,
    ("Why?", 1, 1): PARTLY,
    **{("How?", 0, context): NONE for context in range(5)},
    ("How?", 1, 0): NONE,
    ("How?", 1, 4): FULL,
}


def test_check_p14_every_context_is_a_candidate_of_every_sentence_whatever_the_protocol_counts(own: Path) -> None:
    campaign = Campaign.objects.get()
    assert campaign.protocol.first_citations == 1
    sentences = [2, 2, 5, 5]
    cited = Citation.objects.filter(
        sentence__answer__in=AnswerProvenance.objects.filter(run__run_id="bot").values("answer")
    )
    assert cited.count() == sum(sentences)
    assert counted_citations(1).filter(pk__in=cited).count() == sum(sentences)
    judge = add_judge(name="robot", kind=JudgeKind.LLM, model="robot")[0]
    topics = Topic.objects.values_list("pk", flat=True)
    bot, cites = Run.objects.order_by("run_id")
    assert (bot.has_candidates, cites.has_candidates) == (True, False)
    assert len(support_items(campaign, judge, topics, [bot.pk]).items) == sum(sentences)
    assert len(support_items(campaign, judge, topics, [cites.pk]).items) == 1


def test_check_p14_grounded_is_the_mean_of_each_sentence_s_best_context_and_stands_apart(
    own: Path, client: Client
) -> None:
    labelled(own, WORDS)
    labelled(own, {("Why?", 0, 0): PARTLY}, "cites")
    content = report("support", *OF)
    [bot] = content["grounded"]
    # Why?: full and partial, so (1 + .5) / 2; How?: none and full, so (0 + 1) / 2.
    assert (bot["run_id"], bot["candidates"], bot["precision"]) == ("bot", "retrieved", None)
    assert (bot["grounded"], bot["grounded_strict"]) == (pytest.approx((0.75 + 0.5) / 2), pytest.approx(0.5))
    assert (bot["topics"], bot["sentences"], bot["judged"], bot["unjudged"]) == (2, 4, 11, 3)
    [cites] = content["runs"]
    assert (cites["run_id"], cites["weighted_precision"], cites["judged"]) == ("cites", 0.5, 1)
    text = run("report", "support", "--campaign", "river", *OF)
    assert "Candidates: retrieved." in text.out + text.err
    client.force_login(make_cast(Campaign.objects.get())["rita"])
    page = client.get("/campaigns/river/reports/support/", {"condition": "llm"}).content.decode()
    assert page.count("Runs judged by what was retrieved") >= 1
    rows = client.get("/campaigns/river/reports/support/grounded.csv", {"condition": "llm"}).content.decode()
    assert [line.partition(",")[0] for line in rows.splitlines()] == ["run_id", "bot"]
    rows = client.get("/api/v1/scores/?campaign=river&condition=llm").json()["results"]
    assert [row["run_id"] for row in rows] == ["cites"]


def test_a_campaign_in_which_no_run_cites_has_its_page(own: Path, client: Client) -> None:
    run("create_campaign", "lake", "--name", "Lake")
    done = run("import_traces", "--campaign", "lake", *RETRIEVED, write(own, "lake.jsonl", BOT))
    assert done.code == 0, done.err
    client.force_login(make_cast(Campaign.objects.get(slug="lake"))["rita"])
    for page in ("reports/support/?condition=llm", "leaderboard/", "confusion/?kind=support"):
        assert client.get(f"/campaigns/lake/{page}").status_code in (200, 302), page
    outcome = run("report", "support", "--campaign", "lake", *OF, "--format", "json")
    assert [row["grounded"] for row in json.loads(outcome.out)["grounded"]] == [None]
    outcome = run("report", "support", "--campaign", "lake", *OF, "--format", "csv")
    [row] = csv.DictReader(outcome.out.splitlines())
    assert (row["run_id"], row["grounded"], row["sentences"]) == ("bot", "", "4")


def test_a_gate_over_citations_says_that_it_compares_no_such_run(own: Path) -> None:
    labelled(own, WORDS)
    words = ("--baseline", "cites", "--candidate", "bot", "--score", "weighted_recall", "--least", "0.05")
    outcome = run("gate", "--campaign", "river", *OF, *words, "--min-topics", "2", "--json", "-")
    assert outcome.code == 3
    assert "run bot cites nothing" in outcome.json()["reason"]


def test_a_run_is_of_one_kind(own: Path) -> None:
    file = write(own, "more.jsonl", [trace("When?", "At nine.", "Opens at nine.")])
    said = refuse("import_traces", "--run", "bot", file)
    assert "The sentences of run bot are judged by all that was retrieved" in said
    assert "judged by what they cite" in refuse("import_traces", "--run", "cites", "--uncited", "retrieved", file)
    assert "Nothing changed" in load("import_traces", *RETRIEVED, write(own, "bot.jsonl", BOT)).err
    assert run("import_traces", "--campaign", "river", *RETRIEVED, "--dry-run", file).out.endswith(
        "- At nine. [1]\n"
    )
