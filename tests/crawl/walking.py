"""A walk over every address as one person: each is read, asked for as a fragment, and sent sense and nonsense."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import Resolver404, resolve

from accounts.models import User
from assessor.models import Operation, PracticeItem
from evaluation.models import Assignment, Remark, Run, Segment, Task, Topic
from evaluation.terms import PracticeKind
from tests.crawl.addresses import API, addresses, variants_of
from tests.crawl.canaries import Canaries
from tests.crawl.desk_requests import FORMS, NONSENSE, POSTED, QUERIES, READ_ONLY, Known, bodies, encoded
from tests.worlds.blind import SEALED, passage_of
from tests.worlds.desk import DeskWorld

DESK = "/desk/"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
HTMX = {"hx-request": "true"}
METHOD_NOT_ALLOWED = 405
STATES: list[dict[str, Any]] = [
    {"state": "submitted"},
    {"state": "blocked", "blocked_reason": "Texts are missing."},
    {"state": "reopened", "version": 2, "reopened_reason": "Add dates."},
    {"state": "withdrawn"},
]
"""What becomes of a task that is in progress, in this order."""


@dataclass
class Walk:
    """One person's walk: what broke or leaked, and which answers each named address gave."""

    canaries: Canaries
    person: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))
    problems: list[str] = field(default_factory=list)
    answers: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    slugs: Sequence[str] = ()
    tasks: set[str] = field(default_factory=lambda: {*Task.objects.values_list("public_id", flat=True)})

    def __post_init__(self) -> None:
        self.sign_in()

    def sign_in(self) -> None:
        if self.person:
            self.client.force_login(User.objects.get(username=self.person))

    def go(self, address: str, body: Any = None, kind: str = JSON, *, htmx: bool = False) -> HttpResponseBase:
        """Ask for one address, or send it a body, and look for leaks."""
        headers = HTMX if htmx else {}
        if body is None:
            response = self.client.get(address, headers=headers)
        else:
            response = self.client.post(address, body, content_type=kind, headers=headers)
        request_line = f"{'GET' if body is None else 'POST'}{' htmx' if htmx else ''} {address}"
        self.answers[name_of(address)].add(response.status_code)
        if response.status_code >= 500:
            self.problems.append(f"{response.status_code} {request_line}")
        # A form that was not taken comes back as it was sent.
        sent = f"{address}?{body}" if kind == FORM else address
        self.problems += [
            f"{request_line} tells {leak}" for leak in self.canaries.leaks(response, self.person, sent)
        ]
        return response

    def read(self, address: str) -> None:
        queries = (
            [address + query for query in QUERIES]
            if address.startswith(DESK) and not self.is_of_no_task(address)
            else variants_of(address, self.slugs)
        )
        for variant in queries:
            if self.go(variant).status_code == METHOD_NOT_ALLOWED:
                return  # whatever it is asked
        if not address.startswith(API):
            self.go(address, htmx=True)

    def send(self, address: str, known: Known) -> None:
        """Send something to an address; to those of the desk what makes sense there, and nonsense."""
        room, _, name = name_of(address).partition(":")
        if room == "assessor" and name in POSTED:
            task = address.split("/")[2]
            if name == "ops":
                self.go(f"{DESK}{task}/hold/", encoded({"window": known.window, "want": "take"}))
            most = 2 if self.is_of_no_task(address) else None
            for number, (body, kind) in enumerate(islice(_sent(name, task, known), most)):
                self.go(address, body, kind, htmx=number % 2 == 1)
        elif self.go(address, "{").status_code != METHOD_NOT_ALLOWED:
            self.go(address, "public_id=x&text=y", FORM)
        if address.startswith("/accounts/"):
            self.sign_in()

    def is_of_no_task(self, address: str) -> bool:
        """Whether a desk's address names something else than a task, which no query and no body turns into one."""
        name = name_of(address).removeprefix("assessor:")
        return name in POSTED | READ_ONLY and address.split("/")[2] not in self.tasks

    def everywhere(self, candidates: Mapping[str, Sequence[str]], known: Known, under: str = "/") -> "Walk":
        self.slugs = candidates.get("slug", ())
        for address in addresses(candidates):
            if address.startswith(under):
                self.read(address)
        for address in addresses(candidates):
            if address.startswith(under):
                self.send(address, known)
        self.go(DESK)
        return self


def _sent(name: str, task: str, known: Known) -> Iterator[tuple[str, str]]:
    for body in bodies(name, task, known):
        if name in FORMS:
            yield "&".join(f"{key}={value}" for key, value in body.items()), FORM
        else:
            yield encoded(body), JSON
    for nonsense in NONSENSE:
        yield nonsense, JSON


def name_of(address: str) -> str:
    try:
        return resolve(address.partition("?")[0]).view_name
    except Resolver404:
        return ""


def candidates_of(world: DeskWorld) -> dict[str, list[str]]:
    tasks = list(Task.objects.values_list("public_id", flat=True))
    topics = Topic.objects.values_list("public_id", flat=True)
    segments = [passage_of(topic) for topic in (world.topic("t1"), world.topic("t2"))]
    practice = PracticeItem.objects.filter(kind=PracticeKind.IMPORTANCE).values_list("public_id", flat=True)
    run = str(Run.objects.values_list("pk", flat=True)[0])
    remarks = list(Remark.objects.values_list("public_id", flat=True)[:2])
    return {
        "slug": [world.campaign.slug, SEALED],
        "public_id": [*tasks, *topics, *segments, *remarks, "nothing"],
        "pk": [*dict.fromkeys([run, "1", "2", "999999"])],
        "answer_id": list(practice),
        "first": [str(Assignment.objects.all()[0].answer_id)],
        "second": [str(Assignment.objects.all()[0].nugget_version_id)],
        "object_id": ["1"],
        "app_label": ["evaluation"],
        "url": ["nothing"],
    }


def known_to(world: DeskWorld, person: str) -> Known:
    elsewhere = Segment.objects.exclude(campaign=world.campaign).values_list("public_id", flat=True)
    others = Operation.objects.exclude(task__assessor__username=person)
    remarks = Remark.objects.exclude(task__assessor__username=person)
    return Known(
        segments=(passage_of(world.topic("t1")), passage_of(world.topic("t2")), *elsewhere[:1]),
        op_ids=tuple(str(op_id) for op_id in others.values_list("op_id", flat=True)[:2]),
        remarks=tuple(remarks.values_list("public_id", flat=True)[:1]),
    )
