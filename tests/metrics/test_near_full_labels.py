"""Two judges who differ on one pair of 120, or on none, in every place that shows how far they agree."""

from pathlib import Path

import pytest
from django.test import Client

from tests.worlds.cast import make_user
from tests.worlds.imported import answer, labels, load, nuggets, report, run, sentence, write

SCALE = ("support", "not_support", "partial_support")
TOPICS = range(1, 21)
pytestmark = pytest.mark.django_db


def load_judges(folder: Path, *, apart: int) -> None:
    """20 topics, two runs and three nuggets; of the first topics one label each is the other judge's not."""
    runs = ("a", "b")
    load("import_topics", write(folder, "topics.tsv", "".join(f"{topic}\ttopic {topic}\n" for topic in TOPICS)))
    for name in runs:
        lines = [answer(name, str(topic), sentence("A text.")) for topic in TOPICS]
        load("import_run", write(folder, f"{name}.jsonl", lines))
    facts = [f"fact {place}" for place in range(3)]
    lists = [nuggets(str(topic), *((fact, "vital") for fact in facts)) for topic in TOPICS]
    load("import_nuggets", "--origin", "edited", "--judge", "Ann", write(folder, "nuggets.jsonl", lists))
    for judge, by in (("Ann", "human"), ("bot", "llm")):
        given = [
            labels(
                name,
                str(topic),
                *(
                    (
                        fact,
                        "not_support" if by == "llm" and topic <= apart and (name, place) == ("a", 0) else label,
                    )
                    for place, fact in enumerate(facts)
                    for label in ["support" if (name, place) == ("a", 0) else SCALE[(topic + place) % 3]]
                ),
            )
            for topic in TOPICS
            for name in runs
        ]
        path = write(folder, f"labels.{by}.jsonl", given)
        load("import_assignments", "--origin", "edited", "--judge", judge, "--by", by, path)


@pytest.mark.parametrize(("apart", "low"), [(0, 0.948776), (1, 0.933185), (2, None), (4, None)])
def test_agreement_near_full_has_a_narrow_interval_everywhere(
    apart: int, low: float | None, tmp_path: Path, client: Client
) -> None:
    assert run("create_campaign", "river").code == 0
    load_judges(tmp_path, apart=apart)
    document = report("confusion", "--rows", "E/A", "--columns", "E/M")
    assert document["pairs"] == 120
    ends = document["intervals"]
    for name in ("agreement", "kappa", "kappa_linear", "alpha"):
        assert 0.7 < ends[name]["low"] < document[name] <= ends[name]["high"] <= 1
    if low is not None:
        assert ends["agreement"]["low"] == pytest.approx(low, abs=5e-7)
    assert ends["ordinal_strictness"] == {"low": None, "high": None, "reason": "too many equal labels"}
    client.force_login(make_user("root", is_superuser=True, is_staff=True))
    kappa = f"{ends['kappa']['low']:.3f} to {ends['kappa']['high']:.3f}"
    for address in ("confusion/?rows=E/A&columns=E/M", "agreement/?x=E/A&y=E/M"):
        page = client.get(f"/campaigns/river/{address}").content.decode()
        assert kappa in page
        assert "no interval: too many equal labels" in page
    # Nothing was judged twice by people, so only the interval stands there.
    assert kappa in client.get("/campaigns/river/quality/").content.decode()
