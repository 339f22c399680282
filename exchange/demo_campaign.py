"""The demo: campaigns in files, loaded as if they had happened lately, with an account for each role.

`python -m loadtest.demo` makes the files.
"""

import re
from datetime import date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils.timezone import now

from accounts.invitations import ensure_demo_user
from accounts.models import User
from evaluation.campaigns.create import add_member, create_campaign
from evaluation.formats.source import Source, read_source
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.models import Campaign
from evaluation.terms import Condition, RagTask, Role
from exchange.models import Snapshot
from exchange.snapshots.archive import MANIFEST, SnapshotManifest, content_of, file_of, member, opened
from exchange.snapshots.load import Target, keep_blind, load
from exchange.snapshots.service import keep
from llmjobs.job_service import JobRequest, Work, judge_for, plan_evaluation, plan_support, start

FILES = Path(__file__).parent / "demo"
CAMPAIGN, BEFORE, HARBOUR = "river-study.zip", "before-judging.zip", "harbour-study.zip"
SLUG, HARBOUR_SLUG, EMPTY_SLUG = "river-study", "harbour-study", "delta-study"
PASSWORD = "river-study-demo"  # noqa: S105 - published on purpose; the deployment check refuses such accounts
ADMINISTRATOR = ("admin", "Ada Admin")
PEOPLE = {
    "olga": ("Olga Organizer", Role.ORGANIZER),
    "ann": ("Ann Archer", Role.ASSESSOR),
    "ben": ("Ben Brook", Role.ASSESSOR),
    "cleo": ("Cleo Carver", Role.ASSESSOR),
    "dalal": ("Dalal Dawoud", Role.ASSESSOR),
    "ewan": ("Ewan Eddy", Role.ASSESSOR),
    "rita": ("Rita Researcher", Role.RESEARCHER),
    "audrey": ("Audrey Auditor", Role.AUDITOR),
}
HARBOUR_PEOPLE = {"finn": ("Finn Ferry", Role.ASSESSOR), "greta": ("Greta Gale", Role.ASSESSOR)}
EVERYBODY = PEOPLE | HARBOUR_PEOPLE
LAST_VISIT = timedelta(days=2)
"""Before all that happened in the demo, of whatever hour: that is dated within the last 24."""
RUNS = {
    "otter-rag-large": RunOptions("otter", RagTask.RAG, 1),
    "heron-rag-small": RunOptions("heron", RagTask.RAG, 1),
    "beaver-rag-fusion": RunOptions("beaver", RagTask.RAG, 1),
    "stork-rag-hybrid": RunOptions("stork", RagTask.RAG, 1),
    "kingfisher-ag": RunOptions("kingfisher", RagTask.AG, 1),
    "dipper-ag-short": RunOptions("dipper", RagTask.AG, 1),
    "baseline-lead": RunOptions("organizers", RagTask.AG, 1, control=True),
}
DAY = re.compile(rb'(?<=[\[,:]")\d{4}-\d\d-\d\d(?=["T])')
"""A value of a row that is a day or a time. Within a text each quotation mark has a backslash before it."""


def load_demo() -> bool:
    """Load the demo with its accounts, all or nothing; return whether it was missing."""
    with transaction.atomic(), TemporaryDirectory(prefix="assay-demo-") as folder:
        if Campaign.objects.filter(slug=SLUG).exists():
            return False
        make_accounts()
        organizer = User.objects.get(username="olga")
        campaign = _load_of_late(CAMPAIGN, SLUG, Path(folder))
        path = Path(folder) / BEFORE
        manifest = _write_of_late(FILES / BEFORE, path)
        made_at = datetime.fromisoformat(manifest.made_at)
        keep(path, manifest, Snapshot(campaign=campaign, name=path.stem, made_by=organizer, made_at=made_at))
        empty, _ = create_campaign(slug=EMPTY_SLUG, name="Delta study")
        add_member(campaign=empty, user=organizer, role=Role.ORGANIZER)
        _load_of_late(HARBOUR, HARBOUR_SLUG, Path(folder))
    return True


def _load_of_late(name: str, slug: str, folder: Path) -> Campaign:
    path = folder / name
    manifest = _write_of_late(FILES / name, path)
    with opened(path) as archive:
        campaign = load(archive, Target(slug, manifest.name, frozenset(Role), rests=False)).campaign
    keep_blind(campaign)
    return campaign


def _write_of_late(source: Path, target: Path) -> SnapshotManifest:
    """Write a campaign's file with its days moved, so that it seems to be made within the last 24 hours."""
    with ZipFile(source) as old, ZipFile(target, "w") as new:
        manifest = SnapshotManifest.model_validate_json(old.read(MANIFEST))
        made_at = datetime.fromisoformat(manifest.made_at)
        moved = timedelta(days=(now() - made_at).days)
        tables = {}
        for name, part in manifest.tables.items():
            content = DAY.sub(lambda day: _later(day[0], moved), old.read(file_of(name)))
            new.writestr(member(file_of(name)), content)
            tables[name] = part.model_copy(update={"size": len(content), "sha256": sha256(content).hexdigest()})
        for name in manifest.documents:
            new.writestr(member(name), old.read(name))
        changes = {"tables": tables, "content": content_of(tables), "made_at": (made_at + moved).isoformat()}
        manifest = manifest.model_copy(update=changes)
        new.writestr(member(MANIFEST), manifest.model_dump_json(indent=1))
    return manifest


def _later(day: bytes, by: timedelta) -> bytes:
    return (date.fromisoformat(day.decode()) + by).isoformat().encode()


def start_demo_jobs() -> int:
    """Queue the automatic conditions for whatever LLM is configured; return how many jobs that are.

    The workers take them from the queue; what a job judged before is not judged again.
    """
    request = JobRequest(Campaign.objects.get(slug=SLUG), judge_for(""))
    plans = {
        Work(condition).job_title: plan_evaluation(request, condition)
        for condition in (Condition.AA, Condition.EA, Condition.MA)
    }
    plans[Work.SUPPORT.job_title] = plan_support(request)
    for title, plan in plans.items():
        start(request, title, plan)
    return len(plans)


def logins() -> list[tuple[str, str]]:
    roles = {name: str(role) for name, (_, role) in EVERYBODY.items()} | {ADMINISTRATOR[0]: "administrator"}
    there = set(User.objects.filter(demo=True).values_list("username", flat=True))
    return [(name, role) for name, role in roles.items() if name in there]


def make_accounts() -> None:
    # Made once: nine hashes take a second. The salt is known because the password is.
    password = make_password(PASSWORD, salt=SLUG)
    ensure_demo_user(username=ADMINISTRATOR[0], full_name=ADMINISTRATOR[1], password=password, administrator=True)
    for username, (full_name, _) in EVERYBODY.items():
        ensure_demo_user(username=username, full_name=full_name, password=password)


def load_sample(campaign: Campaign) -> None:
    with transaction.atomic():
        import_topics(campaign=campaign, source=_source("topics.jsonl"))
        for run_id, options in RUNS.items():
            import_runs(campaign=campaign, sources=[_source(f"runs/{run_id}.jsonl")], options=options)
        for name in ("NIST", "UMBRELA"):
            import_qrels(campaign=campaign, source=_source(f"qrels.{name.lower()}.txt"), name=name)
        import_segments(campaign=campaign, sources=[_source("segments.jsonl")])


def _source(name: str) -> Source:
    return read_source(FILES / name)
