"""The desk's world with much to leak: answers, labels, scores, calls, drafts, grades, another assessor at work.

Ann post-edits t1, writes t2 by hand, and lost t3. Ben post-edits t1 as well and has t3. Dora has t2, and since
then organizes.
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db.models import Model
from django.utils import timezone

from accounts.invitations import new_invitation
from accounts.models import ApiToken, Cached, Invitation, User
from accounts.tokens import make_token
from assessor.models import PracticeItem
from assessor.practice.items import answer_practice
from evaluation.battles import BattleOrder, draw_battles
from evaluation.campaigns.create import add_member, create_campaign
from evaluation.formats.source import Source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.battles import import_battles
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.support import import_support
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Battle,
    BattleSet,
    Campaign,
    Citation,
    ConditionDefault,
    Event,
    Finding,
    Judge,
    ListedNugget,
    Membership,
    Nugget,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Protocol,
    Qrel,
    QrelSource,
    Run,
    SampledBattle,
    Segment,
    Sentence,
    SupportJudgment,
    Topic,
    TopicTag,
    Verdict,
)
from evaluation.stages import MANUAL, POST_EDIT
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from evaluation.tasks.hand_out import reassign
from evaluation.tasks.remarks import answer_remark
from evaluation.terms import JudgeKind, Origin, PracticeKind, Role, SupportCondition
from evaluation.terms import RagTask as TrackTask
from exchange.models import Export, ImportAttempt, LoadedCampaign, Snapshot, SnapshotPart
from jobs.models import Job, Notice, Worker, WorkItem
from llmjobs.models import (
    Attempt,
    Call,
    CallUse,
    Connection,
    EndpointLimits,
    EndpointUse,
    LlmJob,
    NuggetCalls,
    Prompt,
    Text,
    Trial,
    TrialJob,
    TriedLabels,
)
from reports.battles.samples import SampleOrder, draw_sample
from reports.models import Adjudication, ExternalCondition, ExternalScore
from tests.assessor.desk_client import Window
from tests.crawl.canaries import GRADE, SCORE, Canaries
from tests.crawl.desk_requests import stretch
from tests.worlds.cast import make_user, write_source
from tests.worlds.desk import MACHINE, DeskWorld, make_desk_world, make_task
from tests.worlds.practice import ALL, load_practice

SEALED = "sealed"
SECRET: tuple[type[Model], ...] = (
    *(Run, Answer, AnswerProvenance, Sentence, Citation, Judge, Assignment, SupportJudgment),
    *(BattleSet, Battle, SampledBattle, Verdict),
    *(QrelSource, NuggetSet, NuggetList, ListedNugget, Nugget, Finding, TopicTag, ConditionDefault),
    *(
        ExternalCondition,
        ExternalScore,
        Job,
        Notice,
        WorkItem,
        Worker,
        LlmJob,
        Text,
        Call,
        Attempt,
        CallUse,
        NuggetCalls,
    ),
    *(Prompt, Trial, TrialJob, TriedLabels, Connection, EndpointLimits, EndpointUse),
    *(ApiToken, Invitation, Cached, Adjudication, Snapshot, SnapshotPart, LoadedCampaign, ImportAttempt, Export),
)
"""What no nugget desk shows a column of. Judges are planted below, for a person has no model; so are verdicts and
snapshots, which are never changed."""

KNOWN_TO_SOME = {
    "User",
    "Campaign",
    "Membership",
    "Protocol",
    "Event",
    "Topic",
    "Segment",
    "Qrel",
    "Candidate",
    "NuggetVersion",
    "NuggetLineage",
    "NuggetEvidence",
    "Task",
    "Submission",
    "Remark",
    "Desk",
    "WorkingNugget",
    "MarkedPassage",
    "Operation",
    "TimeSegment",
    "TaskAnswer",
    "WorkingAssignment",
    "WorkingSupport",
    *("WorkingJudgment", "Judgment"),  # of stages without a table of their own, such as tests/toy_stage
    "PracticeItem",
    "PracticeAnswer",
    "TodayVisit",  # moments only
    *("Study", "StudyPair", "RandomCheckPair"),  # at the judging desks, where there are some
}
"""What somebody may read some rows or columns of. Theirs are canaries for the others; see `_plant` and `_at_work`."""


def make_blind_world(folder: Path, *, with_canaries: bool = True) -> tuple[DeskWorld, Canaries]:
    """Make it. Ann's and Ben's desks are open, Dora's is not. `with_canaries`: in place of natural texts."""
    world, canaries = make_desk_world(folder), Canaries()
    world.people["dora"] = make_user("dora")
    add_member(campaign=world.campaign, user=world.people["dora"], role=Role.ASSESSOR)
    ben = make_task(world.campaign, world.people["ben"], "t1", POST_EDIT)
    make_task(world.campaign, world.people["dora"], "t2", MANUAL)
    add_member(campaign=world.campaign, user=world.people["dora"], role=Role.ORGANIZER)
    lost = make_task(world.campaign, world.people["ann"], "t3", MANUAL)
    reassign(
        campaign=world.campaign,
        task=lost.public_id,
        assessor="ben",
        reason=canaries.canary("why Ann lost t3", of="ann", at="/desk/"),  # the form promises that she reads it
        actor=world.people["olga"],
    )
    _load_secrets(world.campaign, folder)
    _load_calls(world)
    _load_keys(world)
    _load_sealed(world.people["ben"])
    if with_canaries:
        _plant(world, canaries, ben.public_id)
    desks = [
        _at_work(world, canaries, name, Window(world.client(name), task))
        for name, task in (("ann", world.post_edit), ("ann", world.manual), ("ben", ben))
    ]
    _finish_and_reopen(world, canaries, desks[-1])
    _load_practice(world, canaries, folder, with_canaries=with_canaries)
    return world, canaries


def _load_secrets(campaign: Campaign, folder: Path) -> None:
    """Load a run with oddities, nuggets that a machine made of both topics, and what was said of the answers."""

    def source(name: str, rows: Sequence[dict[str, Any]]) -> Source:
        return write_source(folder, name, "".join(f"{json.dumps(row)}\n" for row in rows))

    answer = [{"text": "It bends.", "citations": [0]}]
    rows = [
        {"run_id": "heron", "topic_id": topic, "topic": "?", "references": [f"{topic}-001#1"], "answer": answer}
        | {"response_length": 999}
        for topic in ("t1", "t2")
    ]
    options = RunOptions("herons", TrackTask.RAG, 1)
    import_runs(campaign=campaign, sources=[source("run.jsonl", rows)], options=options)
    import_runs(
        campaign=campaign, sources=[source("egret.jsonl", [rows[0] | {"run_id": "egret"}])], options=options
    )
    draw_battles(campaign=campaign, order=BattleOrder(runs=("egret", "heron"), topics=("t1",)))
    verdict = {"topic_id": "t1", "left": "egret", "right": "heron", "verdict": "tie", "reasons": ["point"]}
    import_battles(
        campaign=campaign, source=source("verdicts.jsonl", [verdict]), kind=JudgeKind.LLM, judge=MACHINE
    )
    draw_sample(campaign=campaign, order=SampleOrder(number=1))
    for origin in (Origin.AUTO, Origin.DRAFT):
        lists = [
            {"qid": topic, "query": topic, "nuggets": [{"text": f"{origin} of {topic}", "importance": "vital"}]}
            for topic in ("t1", "t2")
        ]
        made = source(f"{origin}.jsonl", lists if origin is Origin.AUTO else lists[1:])
        import_nuggets(campaign=campaign, source=made, origin=origin, judge=MACHINE, name=f"machine-{origin}")
    labels = [
        {"qid": topic, "run_id": "heron", "nuggets": [{"text": f"auto of {topic}", "assignment": "support"}]}
        for topic in ("t1", "t2")
    ]
    import_assignments(
        campaign=campaign,
        sources=[source("labels.jsonl", labels)],
        origin=Origin.AUTO,
        judge=MACHINE,
        kind=JudgeKind.LLM,
    )
    pair = {"run_id": "heron", "topic_id": "t1", "sentence": 0, "docid": "t1-001#1", "label": "full_support"}
    import_support(
        campaign=campaign,
        sources=[source("support.jsonl", [pair])],
        judge=MACHINE,
        kind=JudgeKind.LLM,
        condition=SupportCondition.LLM,
    )
    for topic in Topic.objects.filter(campaign=campaign):
        TopicTag.objects.create(topic=topic, name="easy")
    ConditionDefault.objects.create(campaign=campaign, condition="A/A")


def _load_keys(world: DeskWorld) -> None:
    olga, tomorrow = world.people["olga"], timezone.now() + timedelta(days=1)
    make_token(user=olga, name="notebook", scopes=["read"], expires_at=tomorrow)
    new_invitation(campaign_id=world.campaign.pk, role=Role.AUDITOR, email="x@example.org", made_by=olga)
    Cached.objects.create(cache_key="attempts", value="", expires=tomorrow)
    _load_traffic(world.campaign)


def _load_traffic(campaign: Campaign) -> None:
    """Note that the campaign came from a snapshot, and what was loaded and taken out since."""
    LoadedCampaign.objects.create(campaign=campaign, slug="river", content="?", revision=0, made_at=timezone.now())
    soon = timezone.now() + timedelta(days=1)
    ImportAttempt.objects.create(
        campaign=campaign,
        kind="topics",
        files=[{"name": "t.tsv", "size": 1, "sha256": "?"}],
        folder="f",
        expires_at=soon,
    )
    Export.objects.create(campaign=campaign, what="nuggets", expires_at=soon, folder="f", name="n.jsonl")


def _load_calls(world: DeskWorld) -> None:
    """Write down a job, its calls and a published score, as the engine and an import do."""
    now = timezone.now()
    job = Job.objects.create(kind="llm", title="AutoAssign", made_by=world.people["olga"])
    tried = {"answer": Answer.objects.all()[0].pk, "nuggets": [NuggetVersion.objects.all()[0].pk], "people": [0]}
    item = WorkItem.objects.create(job=job, key="t1", kind="try_assign", state=WorkItem.State.DONE, payload=tried)
    Worker.objects.create(name="worker", started_at=now, seen_at=now)
    llm = LlmJob.objects.create(job=job, campaign=world.campaign, judge=Judge.objects.get(name=MACHINE))
    Prompt.objects.create(task="assign", name="strict", version=1, system="Be strict.", user="{nuggets}")
    trial = Trial.objects.create(campaign=world.campaign, task="assign", of="auto", seed=0, pairs=1)
    TrialJob.objects.create(trial=trial, llm=llm, prompt="strict@1")
    TriedLabels.objects.create(item=item, labels=[2])
    Notice.objects.create(job=job, kind=Notice.Kind.STUCK, reason="It waits.", since=now)
    text = Text.objects.create(sha256="t" * 64, content="Label each nugget.")
    messages = [{"role": "user", "sha256": text.sha256}]
    call = Call.objects.create(
        sha256="c" * 64, parameters={}, messages=messages, template_version=1, state=Call.State.ANSWERED
    )
    Attempt.objects.create(call=call, number=1, sent_at=now)
    CallUse.objects.create(item=item, call=call, number=0)
    Connection.objects.create(name="lab", endpoint="default", model="gpt-4o", test={"fault": ""})
    EndpointLimits.objects.create(address="https://llm.example/v1", most_at_once=8)
    EndpointUse.objects.create(address="https://llm.example/v1")
    NuggetCalls.objects.create(listed=ListedNugget.objects.filter(nugget_list=world.drafts())[0], worded=call)
    condition = ExternalCondition.objects.create(campaign=world.campaign, name="published")
    ExternalScore.objects.create(condition=condition, run_id="heron", score="strict", value=SCORE)


def _load_sealed(member: User) -> None:
    campaign, _ = create_campaign(slug=SEALED, name=SEALED)
    Membership.objects.create(campaign=campaign, user=member, role=Role.ASSESSOR)
    Topic.objects.create(campaign=campaign, topic_id="s1", text="?", position=0)
    Segment.objects.create(campaign=campaign, docid="s1", document="s1", has_text=True, text="?")


def _plant(world: DeskWorld, canaries: Canaries, bens: str) -> None:
    """Plant a canary in every secret column. Post-edited drafts may be read where they are, and only there."""
    for model in SECRET:
        if model not in (Judge, Adjudication, Snapshot, SnapshotPart):
            canaries.plant(model._default_manager.all())
    canaries.plant(Judge.objects.all(), "name", "prompt_versions")
    canaries.plant(Judge.objects.filter(kind=JudgeKind.LLM), "model", "base_url")
    Qrel.objects.update(grade=GRADE)
    canaries.plant(Segment.objects.filter(campaign=world.campaign), "docid", "document", "url")
    canaries.plant(Topic.objects.filter(campaign=world.campaign), "extra")
    canaries.plant(NuggetVersion.objects.all(), "text", kind="a machine's nugget")
    offered = NuggetVersion.objects.filter(pk__in=world.drafts().items.values("nugget_version"))
    drafts = canaries.plant(offered, "text", kind="a draft of t1")
    # A draft's group is the heading under which it is edited.
    drafts += canaries.plant(world.drafts().items.all(), "group", kind="a draft of t1")
    canaries.allow("ann", drafts, at=world.post_edit.public_id)
    canaries.allow("ben", drafts, at=bens)
    for editor in ("ann", "ben"):
        canaries.allow(editor, drafts, at="/your-data/")  # what they were given to edit is in their own data
    Event.objects.create(campaign=world.campaign, kind="note", payload={"said": canaries.canary("Event.payload")})
    _plant_verdict(world, canaries)
    _plant_snapshot(world.campaign, canaries)
    sealed = Campaign.objects.filter(slug=SEALED)
    canaries.plant(Topic.objects.filter(campaign__in=sealed), kind="a topic elsewhere")
    canaries.plant(Segment.objects.filter(campaign__in=sealed), kind="a passage elsewhere")
    canaries.plant(Protocol.objects.filter(campaign__in=sealed), kind="guidelines elsewhere")
    canaries.allow("ben", canaries.plant(sealed, "name", "description", kind="a campaign elsewhere"))
    for name in ("ann", "ben", "dora"):
        who = User.objects.filter(username=name)
        canaries.allow(name, canaries.plant(who, "first_name", "last_name", "email", kind=f"{name}'s name"))


def _plant_verdict(world: DeskWorld, canaries: Canaries) -> None:
    label, event = Assignment.objects.all()[0], Event.objects.all()[0]
    Adjudication.objects.create(
        campaign=world.campaign,
        answer=label.answer,
        nugget_version=label.nugget_version,
        verdict=0,
        category="other",
        note=canaries.canary("Adjudication.note"),
        actor=world.people["olga"],
        event=event,
    )


def _plant_snapshot(campaign: Campaign, canaries: Canaries) -> None:
    kept = Snapshot(campaign=campaign, size=1, texts=True, names=True)
    canaries.fill(kept)
    kept.save()
    SnapshotPart.objects.create(snapshot=kept, number=0, data=b"?")


def _at_work(world: DeskWorld, canaries: Canaries, name: str, window: Window) -> Window:
    def own(kind: str) -> str:
        return canaries.canary(f"{name}'s {kind}", of=name)

    window.window = f"{own('window')}-{window.task.pk}"
    window.open()
    window.do("add", key=f"{own('key')}-1", text=own("nugget"), importance=1, evidence=[], after=None)
    window.do("search", words=own("search words"))
    window.do("compose", slot="new", draft={"text": own("open composer")})
    window.do("mark", segment=passage_of(window.task.topic), mark="read")
    segment = stretch(0) | {"item": own("time")}
    beaten = window.post(
        "beat/",
        {"window": window.window, "segments": [segment], "elapsed_ms": 15_000, "place": {"row": own("place")}},
    )
    remark = f"{own('remark id')}-{window.task.pk}"
    remarked = window.post(
        "remarks/", {"kind": "flag", "about": own("about"), "text": own("remark"), "public_id": remark}
    )
    assert (beaten.status_code, remarked.status_code) == (200, 200), (beaten.content, remarked.content)
    answer_remark(
        campaign=world.campaign, remark=remark, answer=own("answer to a remark"), actor=world.people["olga"]
    )
    return window


def passage_of(topic: Topic) -> str:
    """Return one of a topic's passages. Its docid is a canary, so it is found by its grade."""
    graded = Qrel.objects.filter(topic=topic, segment__has_text=True).order_by("pk")
    return str(graded.values_list("segment__public_id", flat=True)[0])


def _load_practice(world: DeskWorld, canaries: Canaries, folder: Path, *, with_canaries: bool) -> None:
    """Load practice of every kind. Ann has answered one item, and may read what is known of that one and no other."""
    load_practice(world.campaign, folder, ALL)
    answered, unanswered = PracticeItem.objects.filter(kind=PracticeKind.IMPORTANCE)
    answer_practice(task=world.manual.public_id, user=world.people["ann"], item=answered.public_id, label="okay")
    if not with_canaries:
        return
    importances = PracticeItem.objects.filter(kind=PracticeKind.IMPORTANCE)
    canaries.plant(PracticeItem.objects.exclude(pk__in=importances), kind="practice of other stages")
    shown = canaries.plant(importances, "question", "statement", kind="practice")
    for name in ("ann", "ben", "dora"):
        canaries.allow(name, shown, at="/practice/")
    known = canaries.plant(
        importances.filter(pk=answered.pk), "explanation", kind="what is known of an answered item"
    )
    canaries.allow("ann", known, at="/practice/")
    canaries.plant(
        importances.filter(pk=unanswered.pk), "explanation", kind="what is known of an item without an answer"
    )


def _finish_and_reopen(world: DeskWorld, canaries: Canaries, window: Window) -> None:
    """Submit a list and have it reopened, so that there is a frozen version and a reason."""
    window.finish()
    assert window.submit().status_code == 200
    owner = window.task.assessor.username
    why = canaries.canary(f"why {owner}'s work was reopened", of=owner)
    order = TaskChange(Change.REOPEN, (window.task.public_id,), why)
    change_tasks(campaign=world.campaign, order=order, actor=world.people["olga"])
