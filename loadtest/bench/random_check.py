"""A complete random check of an LLM's labels: the corrected leaderboard and the check's page, as whole requests."""

import json
import time

from django.urls import reverse

from accounts.models import User
from evaluation.campaigns.create import add_member
from evaluation.formats.source import Source
from evaluation.labels import AssignmentLabel
from evaluation.models import Study
from evaluation.terms import JudgeKind, Origin, Role, StudyKind
from loadtest.bench import synthetic
from loadtest.bench.agreement_page import READER, signed_in
from loadtest.bench.measuring import Measured
from loadtest.bench.scores import LLM, PERSON, SEEDS, SLUG
from loadtest.bench.sizes import Size
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from reports.random_checks.frame import drawn_rows
from reports.random_checks.importing import import_random_check

LABELS_IN_TURN = [AssignmentLabel(label).name.lower() for label in (2, 0, 1, 2, 0)]


def prepare(size: Size, _turn: int) -> Measured:
    """Make a campaign with an LLM's labels; draw 50 pairs of each run and load a person's labels of them."""
    measured = Measured(rows=size.labels)
    campaign = synthetic.make_campaign(SLUG, size.topics)
    synthetic.make_answers(campaign, size)
    edited = synthetic.make_nuggets(campaign, size, Origin.EDITED, "bench-nuggetizer")
    synthetic.store_labels(edited, size, LLM, JudgeKind.LLM, SEEDS[0])
    with measured.timing("draw"):
        study = create_random_check(campaign=campaign, order=RandomCheckOrder("check", StudyKind.ASSIGNMENT))
    rows = [
        row | {"label": LABELS_IN_TURN[place % len(LABELS_IN_TURN)]} for place, row in enumerate(drawn_rows(study))
    ]
    lines = tuple((number, json.dumps(row)) for number, row in enumerate(rows, 1))
    import_random_check(study=study, source=Source("labels.jsonl", "", lines), judge=PERSON)
    add_member(campaign=campaign, user=User.objects.create(username=READER), role=Role.RESEARCHER)
    return measured


def pages(size: Size, _turn: int) -> Measured:
    """Open both pages in a new process, each twice; `... cpu` is what of it this process worked."""
    measured = Measured(rows=size.labels)
    client = signed_in()
    leaderboard = reverse("reports:scores", args=[SLUG], query={"condition": "E/A", "view": "corrected"})
    check = reverse("organizer:random_check", args=[SLUG, Study.objects.get().pk])
    for name, address in (("leaderboard", leaderboard), ("check", check)):
        for when in ("cold", "warm"):
            worked = time.process_time()
            with measured.timing(f"{name} {when}"):
                reply = client.get(address)
            measured.seconds[f"{name} {when} cpu"] = time.process_time() - worked
            if reply.status_code != 200 or b"2,500" not in reply.content:
                raise SystemExit(f"{address}: {reply.status_code}")
    return measured
