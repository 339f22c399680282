"""Verdicts of the page on quality: LLM judges beside two people who labelled the same."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from evaluation.formats.source import Source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.topics import import_topics
from evaluation.models import Campaign, Judge
from evaluation.stages import ASSIGN
from evaluation.terms import JudgeKind, Origin
from exchange.demo_campaign import PASSWORD, SLUG
from reports.quality.judges import JudgeTrust, JudgeVerdict, trust_of
from reports.quality.people import shared_by_people
from tests.worlds.campaign import World
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.demo import make_demo

WORDS = ("not_support", "partial_support", "support")
TOPICS, RUNS, NUGGETS = range(6), ("alpha", "beta", "gamma"), range(10)
TRUTH = (0, 2, 1, 2, 0, 2, 0, 1, 2, 0)
Labels = Callable[[int, int, int], int]
"""Label by topic, run and nugget; topics from 3 on are Arabic."""


def right(topic: int, run: int, nugget: int) -> int:
    return TRUTH[(nugget + topic + run) % 10]


def wrong_in(every: int, offset: int = 0) -> Labels:
    def label(topic: int, run: int, nugget: int) -> int:
        place = topic * 30 + run * 10 + nugget
        truth = right(topic, run, nugget)
        return (truth + 1) % 3 if place % every == offset else truth

    return label


def uneven(topic: int, run: int, nugget: int) -> int:
    return wrong_in((30, 2, 15, 3, 30, 4)[topic])(topic, run, nugget)


def weak(topic: int, run: int, nugget: int) -> int:
    truth = right(topic, run, nugget)
    if truth == 1:
        return 2
    return 2 - truth if topic > 2 and nugget % 3 == 0 else truth


PEOPLE: dict[str, Labels] = {"ann": right, "ben": wrong_in(11)}
LLMS: dict[str, Labels] = {"good": wrong_in(17, 3), "poor": wrong_in(2), "uneven": uneven, "weak": weak}


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """Six topics that two people and four LLMs have labelled, and another LLM one of them."""
    campaign = make_campaign()

    def source(name: str, rows: Sequence[Mapping[str, object]]) -> Source:
        return write_source(tmp_path, name, "".join(f"{json.dumps(row)}\n" for row in rows))

    topics = [{"id": f"t{n}", "title": f"topic {n}", "language": "ar" if n > 2 else "en"} for n in TOPICS]
    import_topics(campaign=campaign, source=source("t.jsonl", topics))
    for run in RUNS:
        answers = [
            {"run_id": run, "topic_id": f"t{n}", "references": [], "answer": [{"text": run, "citations": []}]}
            for n in TOPICS
        ]
        import_runs(campaign=campaign, sources=[source(f"{run}.jsonl", answers)], options=RunOptions(group=run))
    lists = [
        {"qid": f"t{n}", "nuggets": [{"text": f"fact {k}", "importance": "vital"} for k in NUGGETS]}
        for n in TOPICS
    ]
    import_nuggets(
        campaign=campaign, source=source("n.jsonl", lists), origin=Origin.EDITED, judge="ann", name="edited"
    )
    given = [(name, labels, TOPICS) for name, labels in (PEOPLE | LLMS).items()]
    for judge, labels, labelled in [*given, ("new", right, range(1))]:
        rows = [
            {
                "qid": f"t{n}",
                "run_id": run,
                "nuggets": [{"text": f"fact {k}", "assignment": WORDS[labels(n, place, k)]} for k in NUGGETS],
            }
            for n in labelled
            for place, run in enumerate(RUNS)
        ]
        kind = JudgeKind.HUMAN if judge in PEOPLE else JudgeKind.LLM
        import_assignments(
            campaign=campaign,
            sources=[source(f"{judge}.jsonl", rows)],
            judge=judge,
            kind=kind,
            origin=Origin.EDITED,
        )
    return World(campaign, make_cast(campaign))


def trusts(world: World) -> dict[str, JudgeTrust]:
    found = trust_of(Campaign.objects.get(pk=world.campaign.pk))
    return {trust.judge.name: trust for tasks in found.values() for trust in tasks if trust.task is ASSIGN}


def page_of(world: World, address: str = "quality/") -> str:
    page = world.client("olga").get(f"/campaigns/river/{address}").content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_each_judge_has_the_verdict_of_the_rule(world: World) -> None:
    """Check 84."""
    verdicts = {name: trust.verdict for name, trust in trusts(world).items()}
    assert verdicts == {
        "good": JudgeVerdict.AS_PEOPLE,
        "poor": JudgeVerdict.BELOW_PEOPLE,
        "uneven": JudgeVerdict.NOT_SETTLED,
        "weak": JudgeVerdict.BELOW_PEOPLE,
        "new": JudgeVerdict.TOO_LITTLE,
    }
    page = page_of(world)
    for name, trust in trusts(world).items():
        assert f"{name} {trust.verdict} {trust.reason}" in page


def test_the_figure_of_people_is_theirs_in_the_same_measure(world: World) -> None:
    """Check 84: the people's kappa is that of their own confusion, the judge's that of the confusion report."""
    olga = world.people["olga"]
    [shared] = shared_by_people(olga, world.campaign)
    [pair] = shared.pairs
    people = trusts(world)["good"].people
    assert people.value == pytest.approx(shared.confusion(pair).confusion.kappa)
    assert people.topics == 6
    assert people.interval.ends is not None


def test_weak_slices_are_named_after_the_verdict(world: World) -> None:
    """Check 85, its rule: labels by agreement, languages by kappa."""
    found = trusts(world)
    assert found["weak"].weak == ("partial labels", "Arabic")
    assert found["good"].weak == ()
    assert "Weak at: partial labels, Arabic" in page_of(world)


def test_opposite_labels_lead_to_exactly_those_pairs(world: World) -> None:
    trust = trusts(world)["weak"]
    pairs = world.client("olga").get(f"/campaigns/river/confusion/pairs/?{trust.matrix}&cell=harsh")
    assert trust.opposite > 0
    assert f"{trust.opposite} pairs" in " ".join(re.sub(r"<[^>]+>", " ", pairs.content.decode()).split())


def test_rank_agreement_stands_beside_or_says_why_not(world: World) -> None:
    assert "shown from 5 runs and 5 topics on; here 3 and 6" in page_of(world)


def test_the_judges_page_has_each_judge_s_trust_in_its_row(world: World) -> None:
    page = page_of(world, "judges/")
    assert "Kappa of people with each other: nugget labels" in page
    for name, trust in trusts(world).items():
        row = page.partition(f" {name} version 1 ")[2]
        assert row.startswith("model not known ; no connection Nugget labels " + trust.verdict)
    assert "Below people Weak at: partial labels, Arabic" in page
    assert f"{trusts(world)['good'].pairs}, 6" in page


def test_the_start_of_a_job_has_the_trust_of_the_chosen_judge(world: World) -> None:
    Judge.objects.filter(name__in=LLMS).update(model="some-model")
    trust = trusts(world)["weak"]
    page = page_of(world, "jobs/new/?judge=weak")
    assert f"Nugget labels: {trust.verdict} , kappa" in page
    assert f"{trust.pairs} pairs, 6 topics. Weak at: partial labels, Arabic. Quality" in page
    assert "No label of this judge is known beside" in page_of(world, "jobs/new/?judge=weak&what=support")


def test_a_change_of_the_estimate_alone_computes_no_trust(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def computed(*_: object) -> None:
        raise AssertionError("trust was computed")

    monkeypatch.setattr("organizer.jobs.views.trust_of", computed)
    headers = {"HX-Request": "true", "HX-Target": "estimate"}
    address = "/campaigns/river/jobs/new/?judge=weak"
    assert world.client("olga").get(address, headers=headers).status_code == 200


def test_check_85_the_demo_s_bad_judge_is_weak_at_both(db: None) -> None:
    make_demo()
    client = Client()
    assert client.login(username="olga", password=PASSWORD)
    page = client.get(f"/campaigns/{SLUG}/quality/").content.decode()
    shown = " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
    bad, other = "reed-1b (scripted)", r"(word-overlap|alder-70b) \(scripted\)"
    assert re.search(rf"{re.escape(bad)} (?:(?!{other}).)*?Weak at: partial labels, Arabic ", shown)
