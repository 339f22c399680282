"""The dashboard's addresses, nested by noun."""

from django.urls import URLPattern, URLResolver, include, path

from evaluation.tasks.changes import Change
from organizer import audit, battles, cost, find, protocol, quality, snapshots, studies
from organizer.campaigns import views as campaigns_views
from organizer.data import texts
from organizer.data import views as data_views
from organizer.jobs import views as jobs_views
from organizer.judges import views as judges_views
from organizer.people import invitations, work_done
from organizer.people import views as people_views
from organizer.prompts import views as prompts_views
from organizer.today import views as today_views
from organizer.work import remind, task
from organizer.work import views as work_views

app_name = "organizer"

task_urls: list[URLPattern] = [
    path("", task.task, name="task"),
    path("reassign/", task.reassign_task, name="reassign_task"),
    path("as-assessor/", task.view_as, name="view_as"),
    *(path(f"{change}/", task.change_task, {"change": change}, name=f"{change}_task") for change in Change),
]

campaign_urls: list[URLPattern | URLResolver] = [
    path("", campaigns_views.campaign, name="campaign"),
    path("today/", today_views.today, name="today"),
    path("find/", find.find, name="find"),
    path("topics/", campaigns_views.topics, name="topics"),
    path("topics/<str:public_id>/", campaigns_views.topic, name="topic"),
    path("runs/", campaigns_views.runs, name="runs"),
    path("runs/<int:pk>/", campaigns_views.run, name="run"),
    path("segments/<str:public_id>/", campaigns_views.segment, name="segment"),
    path("findings/", campaigns_views.findings, name="findings"),
    path("quality/", quality.quality, name="quality"),
    path("work/", work_views.work, name="work"),
    path("work/hand-out/", work_views.hand_out_work, name="hand_out"),
    path("work/hand-out/proposed/", work_views.hand_out_proposed, name="hand_out_proposed"),
    path("work/hand-out/undo/", work_views.undo_hand_out, name="undo_hand_out"),
    path("work/remind/", remind.remind_late, name="remind"),
    path("work/change/", work_views.change_work, name="change_work"),
    path("work/tasks/<str:public_id>/", include(task_urls)),
    path("practice/", work_done.practice, name="practice"),
    path("practice/switch/", work_done.switch, name="switch_practice"),
    path("studies/", studies.studies, name="studies"),
    path("studies/new/", studies.new_study, name="new_study"),
    path("studies/<int:pk>/", studies.study, name="study"),
    path("studies/<int:pk>/hand-out/", studies.hand_out_pairs, name="hand_out_study"),
    path("studies/<int:pk>/judge/", studies.judge_study, name="judge_study"),
    path("random-checks/", studies.random_checks, name="random_checks"),
    path("random-checks/new/", studies.new_check, name="new_check"),
    path("random-checks/<int:pk>/", studies.random_check, name="random_check"),
    path("random-checks/<int:pk>/grow/", studies.grow_check, name="grow_check"),
    path("random-checks/<int:pk>/extend/", studies.extend_check, name="extend_check"),
    path("battles/", battles.battles, name="battles"),
    path("snapshots/", snapshots.snapshots, name="snapshots"),
    path("snapshots/take/", snapshots.take_snapshot, name="take_snapshot"),
    path("snapshots/<int:pk>/open/", snapshots.open_campaign, name="open_snapshot"),
    path("snapshots/<int:pk>/file.zip", snapshots.snapshot_file, name="snapshot_file"),
    path(
        "snapshots/<int:pk>/methods.<methods_form:document>", snapshots.snapshot_methods, name="snapshot_methods"
    ),
    path("data/", data_views.data, name="data"),
    path("data/load/<slug:kind>/", data_views.new_import, name="new_import"),
    path("data/imports/<int:pk>/", data_views.import_attempt, name="import_attempt"),
    path("data/imports/<int:pk>/commit/", data_views.carry_on_import, {"act": "commit"}, name="commit_import"),
    path("data/imports/<int:pk>/change/", data_views.carry_on_import, {"act": "change"}, name="change_import"),
    path("data/imports/<int:pk>/discard/", data_views.discard_import, name="discard_import"),
    path("data/imports/<int:pk>/undo/", data_views.take_import_back, name="undo_import"),
    path("data/imports/<int:pk>/take-up/", data_views.carry_on_import, {"act": "take_up"}, name="take_up_import"),
    path("data/imports/<int:pk>/problems.csv", data_views.import_problems, name="import_problems"),
    path("data/texts/fetch/", texts.fetch_texts, name="fetch_texts"),
    *(
        path(f"data/texts/<int:pk>/{act}/", texts.change_fetch, {"act": act}, name=f"{act}_fetch")
        for act in ("pause", "resume", "cancel", "retry")
    ),
    path("data/exports/new/", data_views.new_export, name="new_export"),
    path("data/exports/<int:pk>/file/", data_views.export_file, name="export_file"),
    path("people/", people_views.people, name="people"),
    path("people/people.csv", work_done.people_work_file, name="people_work_file"),
    path("people/pause/", work_done.pause, name="pause_assessor"),
    path("people/give/", people_views.change_role, {"gives": True}, name="give_role"),
    path("people/take/", people_views.change_role, {"gives": False}, name="take_role"),
    path("people/<int:pk>/take/<str:role>/", people_views.ask_to_take, name="ask_to_take_role"),
    path("people/languages/", people_views.set_languages, name="set_languages"),
    path("people/language/", people_views.set_campaign_language, name="set_campaign_language"),
    path("people/invite/", invitations.invite_people, name="invite"),
    path("people/invitations/<int:pk>/revoke/", invitations.revoke, name="revoke_invitation"),
    path("delete/", campaigns_views.delete, name="delete_campaign"),
    path("protocol/", protocol.protocol, name="protocol"),
    path("protocol/change/", protocol.change, name="change_protocol"),
    path("protocol/defaults/", protocol.defaults, name="change_defaults"),
    path("audit/", audit.audit, name="audit"),
    path("audit/entries.csv", audit.audit_file, name="audit_file"),
    path("exports/", campaigns_views.exports, name="exports"),
    path("inbox/", work_views.inbox, name="inbox"),
    path("inbox/<str:public_id>/answer/", work_views.answer, name="answer"),
    path("inbox/jobs/<int:pk>/read/", jobs_views.read_notice, name="read_notice"),
    path("inbox/jobs/<int:pk>/read-all/", jobs_views.read_notices, name="read_notices"),
    path("jobs/", jobs_views.jobs, name="jobs"),
    path("jobs/new/", jobs_views.new_job, name="new_job"),
    path("jobs/<int:pk>/", jobs_views.job, name="job"),
    path("jobs/<int:pk>/cancel/", jobs_views.change_job, {"act": "cancel"}, name="cancel_job"),
    path("jobs/<int:pk>/pause/", jobs_views.change_job, {"act": "pause"}, name="pause_job"),
    path("jobs/<int:pk>/resume/", jobs_views.resume_job, name="resume_job"),
    path("jobs/<int:pk>/retry/", jobs_views.change_job, {"act": "retry"}, name="retry_job"),
    path("judges/", judges_views.judges, name="judges"),
    path("judges/new/", judges_views.new_judge, name="new_judge"),
    path("judges/connections/new/", judges_views.new_connection, name="new_connection"),
    path("judges/connections/<int:pk>/test/", judges_views.test_connection, name="test_connection"),
    path("prompts/", prompts_views.prompts, name="prompts"),
    path("prompts/new/", prompts_views.new_prompt, name="new_prompt"),
    path("prompts/import/", prompts_views.import_wording, name="import_prompt"),
    path("prompts/try/", prompts_views.try_prompts, name="try_prompts"),
    path("prompts/trials/<int:pk>/", prompts_views.trial, name="trial"),
    path("prompts/read/<str:public_id>/", prompts_views.prompt, name="prompt"),
    path("labels/assignment/<int:pk>/", jobs_views.label, {"kind": "assignment"}, name="assignment_label"),
    path("labels/support/<int:pk>/", jobs_views.label, {"kind": "support"}, name="support_label"),
    path("labels/answer/<int:pk>/", jobs_views.labels_of_answer, name="answer_labels"),
    path("labels/nuggets/<int:pk>/", jobs_views.list_origin, name="list_origin"),
    path("labels/nugget/<int:pk>/", jobs_views.nugget_origin, name="nugget_origin"),
    path("labels/grade/<int:pk>/", jobs_views.grade_origin, name="grade_origin"),
    path("labels/verdict/<int:pk>/", jobs_views.verdict_origin, name="verdict_origin"),
    path("calls/<int:pk>/", jobs_views.call, name="call"),
    path("reports/cost/", cost.cost, name="cost"),
    path("reports/cost/rate/", cost.keep_rate, name="keep_rate"),
    path("reports/cost/<slug:part>.<table:table>", cost.cost_table, name="cost_table"),
    path("reports/cost/<slug:part>.<picture:picture>", cost.cost_picture, name="cost_picture"),
]

urlpatterns = [
    path("", campaigns_views.campaigns, name="campaigns"),
    path("start/", campaigns_views.landing, name="landing"),
    path("audit/", audit.audit, name="site_audit"),
    path("audit/entries.csv", audit.audit_file, name="site_audit_file"),
    path("campaigns/new/", campaigns_views.new_campaign, name="new_campaign"),
    path("campaigns/<slug:slug>/", include(campaign_urls)),
    path("invitation/", invitations.invitation, name="invitation"),
    path("invitation/accept/", invitations.accept_role, name="accept_invitation"),
    path("invitation/<str:token>/", invitations.open_invitation, name="open_invitation"),
    path("your-data/", people_views.own_data, name="own_data"),
    path("accounts/people/<int:pk>/", people_views.account, name="account"),
    path("accounts/people/<int:pk>/close/", people_views.change_account, {"act": "close"}, name="close_account"),
    path("accounts/people/<int:pk>/open/", people_views.change_account, {"act": "open"}, name="open_account"),
    path("accounts/people/<int:pk>/factor/", people_views.change_account, {"act": "factor"}, name="drop_factor"),
    path("accounts/people/<int:pk>/erase/", people_views.erase, name="erase_account"),
]
