"""A campaign small enough to know by heart: two topics, two runs, one nugget set, an LLM's labels and a person's."""

from dataclasses import dataclass
from pathlib import Path

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from evaluation.formats.source import Source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.models import (
    Assignment,
    Campaign,
    ListedNugget,
    NuggetList,
    Qrel,
    Run,
    Segment,
    SupportJudgment,
    Topic,
)
from evaluation.terms import JudgeKind, Origin, RagTask, SupportCondition
from reports.registry import pages
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.recorded import built_once

HOSTILE = "<script>alert(1)</script> שלום"

TOPICS = f"t1\twhy rivers bend\nt2\thow dams fail {HOSTILE}\n"
QRELS = "t1 0 d1 3\nt1 0 d2 0\nt2 0 d1 1\n"
SEGMENTS = '{"docid": "d1", "url": "", "title": "On bends", "headings": "", "segment": "Sand moves. <b>raw</b>"}\n'
ALPHA = (
    '{"run_id": "alpha", "topic_id": "t1", "topic": "why rivers bend", "references": ["d1", "d9"], '
    '"response_length": 3, "answer": [{"text": "Sand moves.", "citations": [0, 1]}, {"text": "Alone.", '
    '"citations": []}]}\n'
    '{"run_id": "alpha", "topic_id": "t2", "topic": "how dams fail", "references": [], "response_length": 2, '
    '"answer": [{"text": "They crack.", "citations": []}]}\n'
)
BETA = (
    '{"run_id": "beta", "topic_id": "t1", "topic": "why rivers bend", "references": ["d1"], "response_length": 9, '
    '"answer": [{"text": "Water is wet.", "citations": [0]}]}\n'
)
NUGGETS = (
    '{"query": "why rivers bend", "qid": "t1", "nuggets": [{"text": "sand moves", "importance": "vital"}, '
    '{"text": "banks erode", "importance": "okay"}]}\n'
)
LABELS = (
    '{"qid": "t1", "run_id": "alpha", "nuggets": [{"text": "sand moves", "assignment": "support"}, '
    '{"text": "banks erode", "assignment": "failed"}]}\n'
    '{"qid": "t1", "run_id": "beta", "nuggets": [{"text": "sand moves", "assignment": "not_support"}, '
    '{"text": "banks erode", "assignment": "not_support"}]}\n'
)

SUPPORT = '{"run_id": "alpha", "topic_id": "t1", "sentence": 0, "docid": "d1", "label": "full_support"}\n'


@dataclass(frozen=True, slots=True)
class World:
    campaign: Campaign
    people: dict[str, User]

    def pages(self) -> dict[str, str]:
        """The address of every unblinded page, by the view's name."""
        topic, run = Topic.objects.get(topic_id="t1"), Run.objects.get(run_id="alpha")
        segment = Segment.objects.get(docid="d1")
        slug = self.campaign.slug
        return {
            "today": reverse("organizer:today", args=[slug]),
            "topics": reverse("organizer:topics", args=[slug]),
            "topic": reverse("organizer:topic", args=[slug, topic.public_id]),
            "runs": reverse("organizer:runs", args=[slug]),
            "run": reverse("organizer:run", args=[slug, run.pk]),
            "segment": reverse("organizer:segment", args=[slug, segment.public_id]),
            "findings": reverse("organizer:findings", args=[slug]),
            "quality": reverse("organizer:quality", args=[slug]),
            "people": reverse("organizer:people", args=[slug]),
            "jobs": reverse("organizer:jobs", args=[slug]),
            "new_job": reverse("organizer:new_job", args=[slug]),
            "label": reverse("organizer:assignment_label", args=[slug, Assignment.objects.all()[0].pk]),
            "support_label": reverse("organizer:support_label", args=[slug, SupportJudgment.objects.all()[0].pk]),
            "answer_labels": reverse(
                "organizer:answer_labels", args=[slug, Assignment.objects.all()[0].answer_id]
            ),
            "list_origin": reverse("organizer:list_origin", args=[slug, NuggetList.objects.all()[0].pk]),
            "nugget_origin": reverse("organizer:nugget_origin", args=[slug, ListedNugget.objects.all()[0].pk]),
            "grade_origin": reverse("organizer:grade_origin", args=[slug, Qrel.objects.all()[0].pk]),
            "pairs": reverse("reports:pairs", args=[slug]),
            "pair": reverse("reports:nuggets_pair", args=[slug, *_first_pair()]),
            "methods": reverse("reports:methods", args=[slug]),
            "snapshots": reverse("organizer:snapshots", args=[slug]),
            "data": reverse("organizer:data", args=[slug]),
            **{f"load_{kind}": reverse("organizer:new_import", args=[slug, kind]) for kind in ("runs", "nuggets")},
            **{name: reverse(f"reports:{name}", args=[slug]) for name in pages()},
            "cost": reverse("organizer:cost", args=[slug]),
            "scatter": reverse("reports:correlation_picture", args=[slug, "scatter", "svg"]),
        }

    def client(self, name: str) -> Client:
        client = Client()
        client.force_login(self.people[name])
        return client


def _first_pair() -> tuple[int, int]:
    label = Assignment.objects.all()[0]
    return label.answer_id, label.nugget_version_id


@built_once
def make_world(folder: Path) -> World:
    """Load the campaign as an organizer would, by importing files."""
    campaign = make_campaign()

    def source(name: str, text: str) -> Source:
        return write_source(folder, name, text)

    import_topics(campaign=campaign, source=source("t.tsv", TOPICS))
    import_qrels(campaign=campaign, source=source("q.txt", QRELS), name="NIST")
    import_runs(campaign=campaign, sources=[source("a.jsonl", ALPHA)], options=RunOptions("team a", RagTask.RAG))
    import_runs(campaign=campaign, sources=[source("b.jsonl", BETA)], options=RunOptions("team b", RagTask.AG))
    import_segments(campaign=campaign, sources=[source("s.jsonl", SEGMENTS)])
    import_nuggets(campaign=campaign, source=source("n.jsonl", NUGGETS), origin=Origin.AUTO, judge="robot")
    for judge, kind in (("robot", JudgeKind.LLM), ("person", JudgeKind.HUMAN)):
        import_assignments(
            campaign=campaign,
            sources=[source(f"{judge}.jsonl", LABELS)],
            origin=Origin.AUTO,
            judge=judge,
            kind=kind,
        )
    import_support(
        campaign=campaign,
        sources=[source("p.jsonl", SUPPORT)],
        judge="person",
        kind=JudgeKind.HUMAN,
        condition=SupportCondition.SCRATCH,
    )
    return World(campaign, make_cast(campaign))


def queries_of(client: Client, address: str, status: int = 200) -> int:
    with CaptureQueriesContext(connection) as context:
        assert client.get(address).status_code == status
    return len(context)
