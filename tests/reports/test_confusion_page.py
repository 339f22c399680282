"""How two sides label the same items, the pairs behind a cell, and verdicts on them."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.db.models import F
from django.urls import reverse

from evaluation.imports.assignments import import_assignments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_qrels
from evaluation.models import (
    Assignment,
    Campaign,
    Event,
    NuggetLineage,
    NuggetVersion,
    SupportJudgment,
    Topic,
    TopicTag,
)
from evaluation.terms import JudgeKind, Origin, SupportCondition
from reports.models import Adjudication
from tests.worlds.campaign import QRELS, World, make_world, queries_of
from tests.worlds.cast import write_source
from tests.worlds.imported import report

ONE = {"alpha": ("support", "partial_support"), "beta": ("not_support", "support")}
OTHER = {"alpha": ("not_support", "partial_support"), "beta": ("not_support", "partial_support")}
QUERY = "?rows=A/A&columns=A/M&rows_judge=machine&columns_judge=reader"


def lines(labels: dict[str, tuple[str, str]]) -> str:
    return "".join(
        json.dumps(
            {
                "qid": "t1",
                "run_id": run,
                "nuggets": [{"text": "sand moves", "assignment": a}, {"text": "banks erode", "assignment": b}],
            }
        )
        + "\n"
        for run, (a, b) in labels.items()
    )


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """The small campaign with a machine and a reader who differ on two of four pairs, on one of them harshly."""
    world = make_world(tmp_path)
    for judge, kind, labels in (("machine", JudgeKind.LLM, ONE), ("reader", JudgeKind.HUMAN, OTHER)):
        import_assignments(
            campaign=world.campaign,
            sources=[write_source(tmp_path, f"{judge}.jsonl", lines(labels))],
            origin=Origin.AUTO,
            judge=judge,
            kind=kind,
        )
    return world


def read(world: World, address: str, who: str = "olga") -> str:
    return world.client(who).get(address).content.decode()


def page_of(world: World, query: str = QUERY) -> str:
    return read(world, world.pages()["confusion"] + query)


def figures(world: World, query: str = QUERY) -> dict[str, Any]:
    address = reverse("reports:confusion_table", args=[world.campaign.slug, "counts", "json"])
    found: dict[str, Any] = json.loads(read(world, address + query))
    return found


def listed(world: World, cell: str, query: str = QUERY) -> list[str]:
    page = read(world, f"{world.pages()['pairs']}{query}&cell={cell}")
    return re.findall(r"<h2>\s*<bdi>(\w+)</bdi> on", page)


def harsh_pair(world: World) -> str:
    label = Assignment.objects.get(judge__name="machine", label=2, nugget_version__text="sand moves")
    return reverse("reports:nuggets_pair", args=[world.campaign.slug, label.answer_id, label.nugget_version_id])


def decide(world: World, verdict: str, who: str = "olga", **fields: str) -> Any:
    address = f"{harsh_pair(world)}verdict/{QUERY}"
    return world.client(who).post(address, {"verdict": verdict, **fields}, follow=True)


def test_a_matrix_is_not_covered_by_the_choices_of_its_link(world: World) -> None:
    page = page_of(world)
    assert "Nugget sets and judges" in page
    assert '<details class="menu" open>' not in page


def test_the_page_has_the_figures_of_the_report(world: World) -> None:
    options = ("--rows-judge", "machine", "--columns-judge", "reader")
    printed = report("confusion", "--rows", "A/A", "--columns", "A/M", *options)
    found = figures(world)
    assert {name: found[name] for name in printed} == printed
    assert found["counts"] == [[1, 0, 0], [0, 1, 0], [1, 1, 0]]
    page = page_of(world)
    for text in (
        "4 pairs",
        "50\N{NO-BREAK SPACE}%",
        "the columns' side is the stricter",
        "1 to read",
        "2 to read",
    ):
        assert text in page


def test_one_click_leads_to_every_two_sides_that_label_the_same(world: World, tmp_path: Path) -> None:
    import_qrels(campaign=world.campaign, source=write_source(tmp_path, "u.txt", QRELS), name="UMBRELA")
    page = page_of(world)
    assert "?rows=A%2FA&amp;columns=A%2FM" in page
    assert "?rows=qrels%3ANIST&amp;columns=qrels%3AUMBRELA" in page


def test_a_cell_leads_to_its_pairs_the_harshest_first(world: World) -> None:
    (link,) = re.findall(r'href="([^"]*cell=2-0)"', page_of(world))
    page = world.client("olga").get(link.replace("&amp;", "&"), follow=True).content.decode()
    assert "sand moves" in page
    assert "pair 1 of 1, 1 without a verdict" in page
    assert "Alone." in page
    assert listed(world, "2-0") == ["alpha"]
    assert listed(world, "differ") == ["alpha", "beta"]
    assert listed(world, "harsh") == ["alpha"]
    assert listed(world, "0-2") == []


def test_filters_hold_for_the_figures_and_the_pairs(world: World) -> None:
    TopicTag.objects.create(topic=Topic.objects.get(topic_id="t2"), name="dams")
    assert figures(world, f"{QUERY}&run=beta")["pairs"] == 2
    assert figures(world, f"{QUERY}&importance=vital")["counts"] == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert figures(world, f"{QUERY}&topic=t1")["pairs"] == 4
    assert figures(world, f"{QUERY}&tag=dams")["pairs"] == 0
    assert listed(world, "differ", f"{QUERY}&run=beta") == ["beta"]
    assert "No pair has a label on both sides within these filters." in page_of(world, f"{QUERY}&tag=dams")


def test_each_tag_has_its_figures_and_leads_to_them(world: World) -> None:
    TopicTag.objects.create(topic=Topic.objects.get(topic_id="t1"), name="rivers")
    page = page_of(world)
    assert "Nugget label by topic tag</h2>" in page
    assert "tag=rivers" in page
    narrowed = page_of(world, f"{QUERY}&tag=rivers")
    assert "4 pairs" in narrowed
    assert "Nugget label by topic tag</h2>" not in narrowed


def test_check_80_tags_of_few_topics_fold(world: World) -> None:
    TopicTag.objects.create(topic=Topic.objects.get(topic_id="t1"), name="rivers")
    page = page_of(world)
    assert re.search(r"<summary>Small tags \(\d+\)</summary>", page)
    assert re.search(r'<a href="[^"]*tag=rivers[^"]*"><bdi>rivers</bdi></a> n = [1-4]\b', page)
    assert '<th scope="col">Tag</th>' not in page


def test_nuggets_differ_by_how_they_were_made_where_recorded(world: World) -> None:
    assert "This is not a choice" in page_of(world, f"{QUERY}&made=added")
    child, parent = NuggetVersion.objects.order_by("pk")
    NuggetLineage.objects.create(child=child, parent=parent, relation="edited")
    Campaign.objects.update(revision=F("revision") + 1)  # as every import and submission does
    assert figures(world, f"{QUERY}&made=edited")["counts"] == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert figures(world, f"{QUERY}&made=added")["pairs"] == 2
    assert figures(world, f"{QUERY}&made=split")["pairs"] == 0


def test_support_is_compared_by_sentence_and_segment(world: World, tmp_path: Path) -> None:
    label = {"run_id": "alpha", "topic_id": "t1", "sentence": 0, "docid": "d1", "label": "no_support"}
    import_support(
        campaign=world.campaign,
        sources=[write_source(tmp_path, "llm.jsonl", json.dumps(label) + "\n")],
        judge="robot",
        kind=JudgeKind.LLM,
        condition=SupportCondition.LLM,
    )
    query = "?rows=llm&columns=scratch"
    assert figures(world, query)["counts"] == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    page = read(world, f"{world.pages()['pairs']}{query}")
    assert "<b>raw</b>" not in page
    assert "Sand moves. &lt;b&gt;raw&lt;/b&gt;" in page
    given = SupportJudgment.objects.all()[0]
    pair = reverse("reports:citations_pair", args=[world.campaign.slug, given.sentence_id, given.segment_id])
    assert "pair 1 of 1" in read(world, pair + query)
    client = world.client("olga")
    client.post(f"{pair}verdict/", {"verdict": "1", "category": "partial"})
    assert Adjudication.objects.get().sentence_id == given.sentence_id
    assert figures(world, query)["verdicts"][0]["neither"] == 1


def test_grades_of_two_sources_are_compared(world: World, tmp_path: Path) -> None:
    grades = "t1 0 d1 0\nt1 0 d2 0\n"
    import_qrels(campaign=world.campaign, source=write_source(tmp_path, "u.txt", grades), name="UMBRELA")
    query = "?rows=qrels:NIST&columns=qrels:UMBRELA"
    found = figures(world, query)
    assert found["labels"] == ["0", "1", "2", "3"]
    assert (found["pairs"], found["counts"][3][0], found["left_out"]) == (2, 1, 1)
    assert "grade 3" in read(world, f"{world.pages()['pairs']}{query}")


@pytest.mark.parametrize("grade", [21, 32_767])
def test_grades_that_are_on_no_scale_are_not_laid_out(world: World, tmp_path: Path, grade: int) -> None:
    import_qrels(
        campaign=world.campaign, source=write_source(tmp_path, "u.txt", f"t1 0 d1 {grade}\n"), name="UMBRELA"
    )
    page = page_of(world, "?rows=qrels:NIST&columns=qrels:UMBRELA")
    assert f"UMBRELA has the grade {grade:,}: grades are compared up to 20." in page


def test_what_cannot_be_compared_is_said(world: World) -> None:
    assert "Choose both sides from one group" in page_of(world, "?rows=A/A&rows_judge=machine&columns=scratch")
    assert "has no nuggets yet" in page_of(world, "?rows=A/A&rows_judge=machine&columns=M/M")
    assert "Several judges fit A/A" in page_of(world, "?rows=A/A&columns=A/M")
    assert "This is not a choice of this campaign." in page_of(world, "?rows=nothing")
    picture = reverse("reports:confusion_picture", args=[world.campaign.slug, "matrix", "svg"])
    assert world.client("olga").get(f"{picture}?rows=nothing").status_code == 404


@pytest.mark.parametrize(("form", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_picture_leaves_in_three_forms(world: World, form: str, start: bytes) -> None:
    address = reverse("reports:confusion_picture", args=[world.campaign.slug, "matrix", form])
    assert world.client("olga").get(address + QUERY).content.startswith(start)


def test_the_counts_leave_as_a_table(world: World) -> None:
    rows = csv.DictReader(
        io.StringIO(
            read(world, reverse("reports:confusion_table", args=[world.campaign.slug, "counts", "csv"]) + QUERY)
        )
    )
    assert [row["total"] for row in rows] == ["1", "1", "2"]
    latex = read(world, reverse("reports:confusion_table", args=[world.campaign.slug, "counts", "tex"]) + QUERY)
    assert r"support & 1 & 1 & 0 & 2 & 0.500 \\" in latex
    assert "kappa" in latex


def test_a_verdict_is_noted_and_changes_no_label(world: World) -> None:
    world.campaign.refresh_from_db()
    before, revision = figures(world)["counts"], world.campaign.revision
    page = decide(world, "2", category="overlooked", note="It stands in the first sentence.").content.decode()
    assert "Noted. No label changes by it." in page
    assert "It stands in the first sentence." in page
    found = figures(world)
    assert found["counts"] == before
    world.campaign.refresh_from_db()
    assert world.campaign.revision == revision
    (row,) = found["verdicts"]
    assert (row["category"], row["pairs"], row["rows"]) == ("one judge overlooked what is there", 1, 1)
    assert listed(world, "judged") == ["alpha"]
    (link,) = re.findall(r'href="([^"]*cell=why-overlooked)"', page_of(world))
    assert "one judge overlooked what is there" in read(world, link.replace("&amp;", "&"))
    assert (listed(world, "why-overlooked"), listed(world, "why-text")) == (["alpha"], [])
    event = Event.objects.get(kind="pair.adjudicated")
    assert event.actor == world.people["olga"]
    assert "note" not in event.payload


def test_a_later_verdict_replaces_the_first_which_stays_readable(world: World) -> None:
    decide(world, "2", category="overlooked")
    decide(world, "8", category="text", note="Cut short.")
    page = read(world, harsh_pair(world) + QUERY)
    assert page.index("Cut short.") < page.rindex("one judge overlooked what is there")
    assert "replaced" in page
    (row,) = figures(world)["verdicts"]
    assert (row["undecided"], row["rows"]) == (1, 0)
    assert "You had said so already." in decide(world, "8", category="text", note="Cut short.").content.decode()
    assert Adjudication.objects.count() == 2


def test_a_verdict_without_a_choice_is_refused(world: World) -> None:
    assert "Choose a verdict first" in decide(world, "", note="Hm.").content.decode()
    assert "Choose a verdict first" in decide(world, "2", category="whim").content.decode()
    assert not Adjudication.objects.exists()


def test_only_organizers_give_verdicts(world: World) -> None:
    assert "Give the verdict" not in read(world, harsh_pair(world), "rita")
    assert decide(world, "2", who="rita").status_code == 403
    assert decide(world, "2", who="ann").status_code == 404
    assert not Adjudication.objects.exists()


def test_the_database_keeps_verdicts_as_they_are(world: World) -> None:
    decide(world, "2")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Adjudication.objects.update(verdict=0)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Adjudication.objects.all()._raw_delete("default")


def test_a_pair_leads_to_the_one_before_and_after_it(world: World) -> None:
    page = read(world, f"{harsh_pair(world)}{QUERY}&cell=differ")
    assert "pair 1 of 2" in page
    assert "Previous pair" not in page
    (link,) = re.findall(r'rel="next" href="([^"]+)"', page)
    assert "pair 2 of 2" in read(world, link.replace("&amp;", "&"))


def queue_of(world: World, cell: str = "differ") -> Any:
    address = reverse("reports:next_pair", args=[world.campaign.slug])
    return world.client("olga").get(f"{address}{QUERY}&cell={cell}", follow=True)


def press(world: World, page: Any, key: str, **more: str) -> Any:
    content = page.content.decode()
    (action,) = re.findall(r'verdict-queue" action="([^"]+)"', content)
    (verdict,) = re.findall(rf'value="(\d)" data-key="{key}"', content)
    (number,) = re.findall(r'name="number" value="(\d+)"', content)
    body = {"verdict": verdict, "number": number, **more}
    return world.client("olga").post(action.replace("&amp;", "&"), body, follow=True)


def test_a_verdict_in_the_queue_goes_on_to_the_next_pair(world: World) -> None:
    """Check 83."""
    first = queue_of(world)
    assert "pair 1 of 2, 2 without a verdict" in first.content.decode()
    second = press(world, first, "3", note="Both can be meant.")
    assert "pair 2 of 2, 1 without a verdict" in second.content.decode()
    assert queue_of(world).redirect_chain == [(second.redirect_chain[-1][0], 302)]
    done = press(world, second, "4")
    assert "Every pair here has a verdict: 2 of 2." in done.content.decode()
    assert [row.verdict for row in Adjudication.objects.order_by("pk")] == [7, 0]
    assert "both defensible" in read(world, f"{harsh_pair(world)}{QUERY}&cell=differ")
    (both,) = [row for row in figures(world)["verdicts"] if row["both"]]
    assert (both["pairs"], both["rows"], both["neither"]) == (2, 0, 1)
    assert figures(world)["counts"] == [[1, 0, 0], [0, 1, 0], [1, 1, 0]]


def test_a_verdict_is_taken_back_and_the_one_before_counts(world: World) -> None:
    decide(world, "2")
    decide(world, "0", note="No, not at all.")
    address = f"{harsh_pair(world)}take-back/{QUERY}"
    page = world.client("olga").post(address, follow=True).content.decode()
    assert "The verdict on this pair is taken back." in page
    assert "No, not at all." not in page
    assert figures(world)["verdicts"][0]["rows"] == 1
    world.client("olga").post(address)
    assert figures(world)["verdicts"] == []
    refused = world.client("olga").post(address, follow=True).content.decode()
    assert "Only a verdict of your own can be taken back" in refused
    assert world.client("rita").post(address).status_code == 403


def test_neither_asks_for_the_label_where_several_are_left(world: World) -> None:
    page = queue_of(world, "1-1").content.decode()
    assert "Both right" in page
    assert re.findall(r'value="(\d)"><span class="label', page) == ["0", "2"]


def test_a_pair_that_is_none_is_not_there(world: World) -> None:
    slug, label = world.campaign.slug, Assignment.objects.all()[0]
    for args in ([label.answer_id, 999999], [999999, label.nugget_version_id]):
        assert world.client("olga").get(reverse("reports:nuggets_pair", args=[slug, *args])).status_code == 404
    given = SupportJudgment.objects.all()[0]
    address = reverse("reports:citations_pair", args=[slug, given.sentence_id, 999999])
    assert world.client("olga").get(address).status_code == 404


def test_the_queries_of_the_pages_do_not_grow_with_the_pairs(world: World) -> None:
    client, pages = world.client("olga"), world.pages()
    queries = queries_of(client, f"{pages['pairs']}{QUERY}&cell=2-0")
    assert queries_of(client, f"{pages['pairs']}{QUERY}&cell=differ") <= queries + 1
