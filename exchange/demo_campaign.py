"""The demo campaign: loaded by the same imports that everybody uses, with an account for each role."""

from decimal import Decimal
from pathlib import Path

from django.db import transaction

from accounts.models import User
from accounts.services import ensure_demo_user
from evaluation.formats.source import Source, read_source
from evaluation.models import Campaign, Judge
from evaluation.models.fields import ids_from
from evaluation.services import importing
from evaluation.services.campaigns import add_member, create_campaign, read_campaign_file, set_hourly_rate
from evaluation.services.importing import RunOptions
from evaluation.services.importing.practice import import_practice
from evaluation.services.judges import add_judge
from evaluation.services.languages import set_languages
from evaluation.terms import Condition, JudgeKind, Origin, Role, SupportCondition, Task
from exchange.demo_jobs import load_done_job
from exchange.demo_practice import practise
from exchange.demo_work import load_work
from llmjobs.starting import JobRequest, judge_for, plan_evaluation, plan_support, start

SLUG = "river-study"
PASSWORD = "river-study-demo"  # noqa: S105 - published on purpose; the deployment check refuses such accounts
FILES = Path(__file__).parent / "demo"
ADMINISTRATOR = ("admin", "Ada Admin")
PEOPLE = {
    "olga": ("Olga Organizer", Role.ORGANIZER),
    "ann": ("Ann Archer", Role.ASSESSOR),
    "ben": ("Ben Brook", Role.ASSESSOR),
    "rita": ("Rita Researcher", Role.RESEARCHER),
    "audrey": ("Audrey Auditor", Role.AUDITOR),
}
HOURLY_RATE = Decimal("24.00")
LANGUAGES = {"ann": "en", "ben": "en ar"}
LLM = "word-overlap (scripted)"
RUNS = {
    "otter-rag-large": RunOptions("otter", Task.RAG, 1),
    "heron-rag-small": RunOptions("heron", Task.RAG, 1),
    "beaver-rag-fusion": RunOptions("beaver", Task.RAG, 1),
    "kingfisher-ag": RunOptions("kingfisher", Task.AG, 1),
    "dipper-ag-short": RunOptions("dipper", Task.AG, 1),
    "baseline-lead": RunOptions("organizers", Task.AG, 1, control=True),
}


def load_demo() -> bool:
    """Load the demo with its accounts, all or nothing; return whether it was missing."""
    with transaction.atomic(), ids_from(SLUG):
        if Campaign.objects.filter(slug=SLUG).exists():
            return False
        file = read_campaign_file(FILES / "campaign.toml")
        file.protocol.guidelines = (FILES / "guidelines.md").read_text(encoding="utf-8")
        campaign, _ = create_campaign(slug=SLUG, name=file.name, file=file)
        _make_people(campaign)
        _load_corpus(campaign)
        _load_nuggets(campaign)
        _load_assignments(campaign)
        _load_support(campaign)
        load_work(campaign)
        import_practice(campaign=campaign, source=_source("practice.jsonl"))
        practise(campaign)
        load_done_job(campaign, Judge.objects.get(name=LLM))
        set_hourly_rate(campaign=campaign, rate=HOURLY_RATE, actor=User.objects.get(username="olga"))
    return True


def start_demo_jobs() -> int:
    """Queue the automatic conditions for whatever LLM is configured; return how many jobs that are.

    The workers take them from the queue; what a job judged before is not judged again.
    """
    request = JobRequest(Campaign.objects.get(slug=SLUG), judge_for(""))
    plans = {
        f"AutoAssign {condition}": plan_evaluation(request, condition)
        for condition in (Condition.AA, Condition.EA, Condition.MA)
    }
    plans["Support of citations"] = plan_support(request)
    for title, plan in plans.items():
        start(request, title, plan)
    return len(plans)


def logins() -> list[tuple[str, str]]:
    roles = {name: str(role) for name, (_, role) in PEOPLE.items()} | {ADMINISTRATOR[0]: "administrator"}
    there = set(User.objects.filter(demo=True).values_list("username", flat=True))
    return [(name, role) for name, role in roles.items() if name in there]


def _make_people(campaign: Campaign) -> None:
    ensure_demo_user(username=ADMINISTRATOR[0], full_name=ADMINISTRATOR[1], password=PASSWORD, administrator=True)
    for username, (full_name, role) in PEOPLE.items():
        user = ensure_demo_user(username=username, full_name=full_name, password=PASSWORD)
        add_member(campaign=campaign, user=user, role=role)
        if role is Role.ASSESSOR:
            add_judge(name=full_name, kind=JudgeKind.HUMAN, user=user)
            set_languages(campaign=campaign, username=username, languages=LANGUAGES[username], actor=None)
    add_judge(name=LLM, kind=JudgeKind.LLM, model=LLM)


def _load_corpus(campaign: Campaign) -> None:
    importing.import_topics(campaign=campaign, source=_source("topics.jsonl"))
    for run_id, options in RUNS.items():
        importing.import_runs(campaign=campaign, sources=[_source(f"runs/{run_id}.jsonl")], options=options)
    for name in ("NIST", "UMBRELA"):
        source = _source(f"qrels.{name.lower()}.txt")
        importing.import_qrels(campaign=campaign, source=source, name=name)
    importing.import_segments(campaign=campaign, sources=[_source("segments.jsonl")])


def _load_nuggets(campaign: Campaign) -> None:
    for origin, judge, drafts in (
        (Origin.AUTO, LLM, ""),
        (Origin.DRAFT, LLM, ""),
        (Origin.EDITED, "Ann Archer", "draft"),
        (Origin.MANUAL, "Ann Archer", ""),
    ):
        importing.import_nuggets(
            campaign=campaign,
            source=_source(f"nuggets/{origin}.jsonl"),
            origin=origin,
            judge=judge,
            name=origin,
            drafts=drafts,
        )


def _load_assignments(campaign: Campaign) -> None:
    for file, origin, judge in (
        ("auto-nuggets.llm", Origin.AUTO, LLM),
        ("edited-nuggets.llm", Origin.EDITED, LLM),
        ("manual-nuggets.llm", Origin.MANUAL, LLM),
        ("edited-nuggets.ann", Origin.EDITED, "Ann Archer"),
        ("edited-nuggets.ben", Origin.EDITED, "Ben Brook"),
        ("manual-nuggets.ann", Origin.MANUAL, "Ann Archer"),
    ):
        importing.import_assignments(
            campaign=campaign,
            sources=[_source(f"assignments/{file}.jsonl")],
            origin=origin,
            judge=judge,
            kind=_kind(judge),
        )


def _load_support(campaign: Campaign) -> None:
    for file, judge, condition in (
        ("scratch.ann", "Ann Archer", SupportCondition.SCRATCH),
        ("post-edit.ben", "Ben Brook", SupportCondition.POST_EDIT),
        ("llm", LLM, SupportCondition.LLM),
    ):
        importing.import_support(
            campaign=campaign,
            sources=[_source(f"support/{file}.jsonl")],
            judge=judge,
            kind=_kind(judge),
            condition=condition,
        )


def _kind(judge: str) -> JudgeKind:
    return JudgeKind.LLM if judge == LLM else JudgeKind.HUMAN


def _source(name: str) -> Source:
    return read_source(FILES / name)
