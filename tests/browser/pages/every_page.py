"""Which address is looked at by whom, for test_every_page.py: a line per name, so that a new address has its place.

A name under a role is a page, which that role opens. A name under `NOT_PAGES` answers a GET with something else: it is
asked for all the same, so that a page cannot hide there. What stands in an address is said in `arguments`.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.utils import timezone

from accounts.models import User
from assessor.desk.context import open_desk
from evaluation.models import (
    Answer,
    Assignment,
    Battle,
    Campaign,
    ListedNugget,
    NuggetList,
    Qrel,
    Run,
    Segment,
    Study,
    SupportJudgment,
    Task,
    Topic,
    Verdict,
)
from evaluation.terms import DrawKind, TaskState
from exchange.demo_campaign import SLUG, start_demo_jobs
from exchange.models import ImportAttempt, Snapshot
from jobs.models import Notice, WorkItem
from llmjobs.job_service import judge_for
from llmjobs.models import Call, Connection, LlmJob, Trial
from llmjobs.prompt_store import new_wording, save_prompt
from llmjobs.prompts.texts import ASSIGN
from llmjobs.trials import TrialOrder, start_trial
from reports.registry import pages
from tests.worlds.battles import judge_battles
from tests.worlds.demo import make_demo
from tests.worlds.jobs import make_call
from tests.worlds.recorded import built_once

Arguments = dict[str, Any]

PAGES = {
    "nobody": """
        account_login account_signup account_reset_password account_reset_password_done
        account_reset_password_from_key account_reset_password_from_key_done account_inactive account_confirm_email
        account_email_verification_sent organizer:invitation socialaccount_login_cancelled
        socialaccount_login_error api:docs
    """,
    "olga": """
        organizer:campaigns organizer:topics organizer:topic organizer:runs organizer:run
        organizer:segment organizer:protocol organizer:change_protocol organizer:change_defaults organizer:audit
        organizer:exports organizer:view_as organizer:findings organizer:quality organizer:work organizer:hand_out
        organizer:change_work organizer:remind organizer:task organizer:practice organizer:studies organizer:new_study
        organizer:random_checks organizer:random_check organizer:new_check organizer:battles organizer:delete_campaign
        organizer:study organizer:snapshots organizer:people organizer:inbox organizer:jobs organizer:new_job
        organizer:ask_to_take_role organizer:job organizer:prompts organizer:new_prompt organizer:import_prompt
        organizer:judges organizer:new_judge organizer:new_connection
        organizer:try_prompts organizer:trial organizer:prompt
        organizer:assignment_label organizer:support_label organizer:answer_labels organizer:list_origin
        organizer:nugget_origin organizer:grade_origin organizer:verdict_origin organizer:call
        organizer:cost reports:pairs
        reports:nuggets_pair reports:citations_pair reports:battle reports:methods
        glossary organizer:today organizer:data organizer:new_import organizer:new_export
        organizer:import_attempt
    """,
    "ann": """
        assessor:home assessor:keys assessor:task assessor:practice
        assessor:review assessor:history assessor:guidelines accounts:notice
    """,
    "admin": """
        organizer:account organizer:site_audit organizer:new_campaign organizer:own_data accounts:tokens
        accounts:browsers account_logout account_email account_change_password account_reauthenticate
        mfa_index mfa_activate_totp mfa_list_webauthn mfa_add_webauthn mfa_reauthenticate
        socialaccount_connections
    """,
}

NOT_PAGES = {
    "by POST only": """
        organizer:hand_out_proposed organizer:undo_hand_out
        organizer:reassign_task organizer:reopen_task organizer:block_task organizer:unblock_task
        organizer:withdraw_task organizer:reschedule_task organizer:switch_practice organizer:hand_out_study
        organizer:grow_check organizer:extend_check
        organizer:judge_study organizer:take_snapshot organizer:open_snapshot organizer:give_role
        organizer:test_connection organizer:take_role organizer:invite organizer:revoke_invitation organizer:answer
        organizer:read_notice
        organizer:read_notices organizer:cancel_job organizer:pause_job organizer:resume_job organizer:retry_job
        organizer:accept_invitation organizer:close_account organizer:open_account organizer:drop_factor
        organizer:erase_account reports:nuggets_verdict reports:citations_verdict accounts:revoke_token
        reports:nuggets_take_back reports:citations_take_back reports:judge_more
        accounts:end_browser accounts:end_browsers
        assessor:start assessor:practice_ops assessor:ops assessor:beat assessor:hold assessor:gap assessor:submit
        assessor:remark assessor:restore organizer:pause_assessor organizer:keep_rate organizer:commit_import
        organizer:discard_import organizer:take_up_import organizer:change_import organizer:undo_import
        organizer:set_languages organizer:set_campaign_language
        organizer:fetch_texts organizer:cancel_fetch organizer:pause_fetch organizer:resume_fetch organizer:retry_fetch
    """,
    "a file or JSON": """
        organizer:audit_file organizer:site_audit_file organizer:people_work_file organizer:import_problems
        organizer:export_file
        organizer:snapshot_file organizer:snapshot_methods organizer:cost_table organizer:cost_picture
        reports:study_table
        reports:methods_file organizer:find assessor:find assessor:session assessor:answer assessor:state
        assessor:practice_answer assessor:practice_state
        mfa_login_webauthn
        healthz readyz metrics security_txt
    """,
    "leads elsewhere": """
        reports:next_pair organizer:campaign organizer:landing organizer:open_invitation
        account_set_password account_confirm_login_code mfa_authenticate
        mfa_deactivate_totp mfa_generate_recovery_codes mfa_reauthenticate_webauthn socialaccount_signup
    """,
    "nothing here without a run and a doubt in its query": "reports:doubts",
    "nothing here without a provider, a factor or a passkey": """
        openid_connect_login openid_connect_callback mfa_view_recovery_codes mfa_download_recovery_codes
        mfa_remove_webauthn mfa_edit_webauthn
    """,
}
"""Pages of a second factor that is there are looked at in test_passkeys.py."""

DATA = "api:"
PAGES["olga"] += "".join(f" reports:{name}" for name in pages())
NOT_PAGES["a file or JSON"] += "".join(
    f" reports:{name}_{form}" for name in pages() for form in ("table", "picture")
)
"""Addresses of the API answer with data; the one page among them is in `PAGES`."""

ADMIN = "admin:"
"""Django's admin: its pages follow from the models, see `admin_pages`."""

BY_STAGE = ("assessor:task", "assessor:history", "assessor:review", "organizer:task", "organizer:view_as")
"""Pages of a task that look another way for each stage."""

FILLING: Arguments = {
    "slug": SLUG,
    "pk": 1,
    "public_id": "nothing",
    "picture": "svg",
    "table": "json",
    "document": "html",
    "part": "overview",
    "provider_id": "oidc",
    "token": "no-such-token",
    "key": "no-such-key",
    "uidb36": "1",
    "kind": "topics",
}


@built_once
def make_every_page() -> None:
    """Load the demo, and what only time brings: jobs, calls, a trial, a notice."""
    make_demo()
    start_demo_jobs()
    campaign = Campaign.objects.get(slug=SLUG)
    judge_battles(campaign, "Ben Brook", "Cleo Creek", "word-overlap (scripted)")
    llm = LlmJob.objects.filter(campaign=campaign)[0]
    make_call(WorkItem.objects.filter(job=llm.job)[0], number=9)
    Connection.objects.create(
        name="lab", endpoint="default", model="m", test={"fault": "schema"}, tested_at=timezone.now()
    )
    save_prompt(new_wording("assign", "strict", ASSIGN.system, f"Be strict.\n{ASSIGN.user}"), actor=None)
    start_trial(campaign, TrialOrder("assign", ("assign@1", "strict@1"), judge_for(""), "edited"), None)
    Notice.objects.create(job=llm.job, kind=Notice.Kind.STUCK, reason="It waits.", since=timezone.now())
    ImportAttempt.objects.create(
        campaign=campaign,
        kind="runs",
        state=ImportAttempt.State.REFUSED,
        files=[{"name": "new.jsonl", "size": 9, "sha256": "0" * 64}],
        folder="gone",
        problems=[["new.jsonl", 3, "topic_id", "a topic of this campaign"]],
        expires_at=timezone.now(),
    )
    ann = User.objects.get(username="ann")
    for task in Task.objects.filter(assessor=ann, state=TaskState.NOT_STARTED):
        open_desk(task=task.public_id, user=ann)


def arguments(name: str) -> list[Arguments]:
    """Return what stands in an address, once for each page of that name that is to be looked at."""
    if name == "organizer:random_check":  # one is complete, and one half done
        return [{"slug": SLUG, "pk": study.pk} for study in Study.objects.filter(draw=DrawKind.RANDOM)]
    if name in BY_STAGE:
        return [{"slug": SLUG, "public_id": task.public_id} for task in _tasks_of_ann()]
    made = ONLY.get(name)
    return [FILLING | (made() if made else {})]


def _tasks_of_ann() -> list[Task]:
    opened = (TaskState.IN_PROGRESS, TaskState.SUBMITTED)
    tasks = Task.objects.filter(assessor__username="ann", state__in=opened).order_by("pk")
    return list({task.stage: task for task in tasks}.values())


def _text_of_demo() -> Segment:
    return Segment.objects.filter(campaign__slug=SLUG, has_text=True)[0]


def _key(model: type[Model]) -> Arguments:
    return {"pk": model._default_manager.order_by("pk").values_list("pk", flat=True)[0]}


def _pair(model: type[Model], first: str, second: str) -> Arguments:
    pair = model._default_manager.order_by("pk").values_list(first, second)[0]
    return dict(zip(("first", "second"), pair, strict=True))


def admin_pages() -> list[str]:
    """Return the list and a row's page of every model, and of the first one of each app what is the same for all."""
    found = ["/admin/", "/admin/password_change/"]
    for model in admin.site._registry:
        rooms = f"/admin/{model._meta.app_label}/"
        heads = f"{rooms}{model._meta.model_name}/"
        row = model._default_manager.order_by("pk").first()
        is_first_of_app = rooms not in found
        found += [rooms, heads]
        found += [f"{heads}{row.pk}/change/"] if row else [f"{heads}add/"]
        if row and is_first_of_app:
            found += [f"{heads}add/", f"{heads}{row.pk}/history/", f"{heads}{row.pk}/delete/"]
    return list(dict.fromkeys(found))


ONLY: dict[str, Callable[[], Arguments]] = {
    "organizer:topic": lambda: {"public_id": Topic.objects.filter(campaign__slug=SLUG)[0].public_id},
    "organizer:segment": lambda: {"public_id": _text_of_demo().public_id},
    "organizer:run": lambda: _key(Run),
    "organizer:study": lambda: _key(Study),
    "reports:study_table": lambda: _key(Study),
    "organizer:job": lambda: _key(LlmJob),
    "organizer:trial": lambda: _key(Trial),
    "organizer:prompt": lambda: {"public_id": "strict@1"},
    "organizer:call": lambda: _key(Call),
    "organizer:assignment_label": lambda: _key(Assignment),
    "organizer:support_label": lambda: _key(SupportJudgment),
    "organizer:answer_labels": lambda: _key(Answer),
    "organizer:list_origin": lambda: _key(NuggetList),
    "organizer:nugget_origin": lambda: _key(ListedNugget),
    "organizer:grade_origin": lambda: _key(Qrel),
    "organizer:verdict_origin": lambda: {
        "pk": Verdict.objects.filter(battle__battle_set__campaign__slug=SLUG).order_by("pk")[0].pk
    },
    "organizer:snapshot_file": lambda: _key(Snapshot),
    "organizer:snapshot_methods": lambda: _key(Snapshot),
    "organizer:import_attempt": lambda: _key(ImportAttempt),
    "organizer:import_problems": lambda: _key(ImportAttempt),
    "organizer:ask_to_take_role": lambda: {"pk": User.objects.get(username="ann").pk, "role": "assessor"},
    "organizer:account": lambda: {"pk": User.objects.get(username="ann").pk},
    "reports:nuggets_pair": lambda: _pair(Assignment, "answer", "nugget_version"),
    "reports:citations_pair": lambda: _pair(SupportJudgment, "sentence", "segment"),
    "reports:battle": lambda: {"public_id": Battle.objects.filter(battle_set__campaign__slug=SLUG)[1].public_id},
    "assessor:practice": lambda: {"public_id": _tasks_of_ann()[0].public_id},
    "assessor:guidelines": lambda: {"public_id": _tasks_of_ann()[0].public_id},
}
"""What stands in an address where no other will do."""
