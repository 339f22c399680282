"""The dashboard's addresses, nested by noun."""

from django.urls import URLPattern, URLResolver, include, path

from evaluation.services.task_acts import Change
from organizer import (
    account_views,
    cost_views,
    data_views,
    invitation_views,
    jobs_views,
    making_views,
    origin_views,
    own_views,
    people_views,
    practice_views,
    prompt_views,
    quality_views,
    snapshot_views,
    study_views,
    views,
    work_views,
)
from reports.converters import register_converters

app_name = "organizer"

register_converters()

task_urls: list[URLPattern] = [
    path("", work_views.task, name="task"),
    path("reassign/", work_views.reassign_task, name="reassign_task"),
]
task_urls += [
    path(f"{change}/", work_views.change_task, {"change": change}, name=f"{change}_task") for change in Change
]

campaign_urls: list[URLPattern | URLResolver] = [
    path("", views.campaign, name="campaign"),
    path("topics/", views.topics, name="topics"),
    path("topics/<str:public_id>/", views.topic, name="topic"),
    path("runs/", views.runs, name="runs"),
    path("runs/<int:pk>/", views.run, name="run"),
    path("segments/<str:public_id>/", views.segment, name="segment"),
    path("findings/", views.findings, name="findings"),
    path("quality/", quality_views.quality, name="quality"),
    path("work/", work_views.work, name="work"),
    path("work/hand-out/", work_views.hand_out, name="hand_out"),
    path("work/change/", work_views.change_work, name="change_work"),
    path("work/tasks/<str:public_id>/", include(task_urls)),
    path("practice/", practice_views.practice, name="practice"),
    path("practice/switch/", practice_views.switch, name="switch_practice"),
    path("studies/", study_views.studies, name="studies"),
    path("studies/new/", study_views.new_study, name="new_study"),
    path("studies/<int:pk>/", study_views.study, name="study"),
    path("studies/<int:pk>/hand-out/", study_views.hand_out_study, name="hand_out_study"),
    path("studies/<int:pk>/judge/", study_views.judge_study, name="judge_study"),
    path("snapshots/", snapshot_views.snapshots, name="snapshots"),
    path("snapshots/take/", snapshot_views.take_snapshot, name="take_snapshot"),
    path("snapshots/<int:pk>/open/", snapshot_views.open_campaign, name="open_snapshot"),
    path("snapshots/<int:pk>/file.zip", snapshot_views.snapshot_file, name="snapshot_file"),
    path(
        "snapshots/<int:pk>/methods.<methods_form:document>",
        snapshot_views.snapshot_methods,
        name="snapshot_methods",
    ),
    path("data/", data_views.data, name="data"),
    path("data/load/<slug:kind>/", data_views.new_import, name="new_import"),
    path("data/imports/<int:pk>/", data_views.import_attempt, name="import_attempt"),
    path("data/imports/<int:pk>/commit/", data_views.commit_import, name="commit_import"),
    path("data/imports/<int:pk>/discard/", data_views.discard_import, name="discard_import"),
    path("data/imports/<int:pk>/problems.csv", data_views.import_problems, name="import_problems"),
    path("data/exports/new/", data_views.new_export, name="new_export"),
    path("data/exports/<int:pk>/file/", data_views.export_file, name="export_file"),
    path("people/", people_views.people, name="people"),
    path("people/give/", people_views.give, name="give_role"),
    path("people/take/", people_views.take, name="take_role"),
    path("people/invite/", people_views.invite, name="invite"),
    path("people/invitations/<int:pk>/revoke/", people_views.revoke, name="revoke_invitation"),
    path("inbox/", work_views.inbox, name="inbox"),
    path("inbox/<str:public_id>/answer/", work_views.answer, name="answer"),
    path("inbox/jobs/<int:pk>/read/", jobs_views.read_notice, name="read_notice"),
    path("inbox/jobs/<int:pk>/read-all/", jobs_views.read_notices, name="read_notices"),
    path("jobs/", jobs_views.jobs, name="jobs"),
    path("jobs/new/", jobs_views.new_job, name="new_job"),
    path("jobs/<int:pk>/", jobs_views.job, name="job"),
    path("jobs/<int:pk>/cancel/", jobs_views.cancel_job, name="cancel_job"),
    path("jobs/<int:pk>/pause/", jobs_views.pause_job, name="pause_job"),
    path("jobs/<int:pk>/resume/", jobs_views.resume_job, name="resume_job"),
    path("jobs/<int:pk>/retry/", jobs_views.retry_job, name="retry_job"),
    path("prompts/", prompt_views.prompts, name="prompts"),
    path("prompts/new/", prompt_views.new_prompt, name="new_prompt"),
    path("prompts/import/", prompt_views.import_prompt, name="import_prompt"),
    path("prompts/judge/", prompt_views.prompt_judge, name="prompt_judge"),
    path("prompts/compare/", prompt_views.compare_prompts, name="compare_prompts"),
    path("prompts/try/", prompt_views.try_prompts, name="try_prompts"),
    path("prompts/trials/<int:pk>/", prompt_views.trial, name="trial"),
    path("prompts/read/<str:public_id>/", prompt_views.prompt, name="prompt"),
    path("labels/assignment/<int:pk>/", jobs_views.label, {"kind": "assignment"}, name="assignment_label"),
    path("labels/support/<int:pk>/", jobs_views.label, {"kind": "support"}, name="support_label"),
    path("labels/answer/<int:pk>/", jobs_views.labels_of_answer, name="answer_labels"),
    path("labels/nuggets/<int:pk>/", origin_views.nugget_list, name="list_origin"),
    path("labels/nugget/<int:pk>/", origin_views.nugget, name="nugget_origin"),
    path("labels/grade/<int:pk>/", origin_views.grade, name="grade_origin"),
    path("calls/<int:pk>/", origin_views.call, name="call"),
    path("reports/cost/", cost_views.cost, name="cost"),
    path("reports/cost/<slug:part>.<table:table>", cost_views.cost_table, name="cost_table"),
    path("reports/cost/<slug:part>.<picture:picture>", cost_views.cost_picture, name="cost_picture"),
]

urlpatterns = [
    path("", views.campaigns, name="campaigns"),
    path("campaigns/new/", making_views.new_campaign, name="new_campaign"),
    path("campaigns/<slug:slug>/", include(campaign_urls)),
    path("invitation/", invitation_views.invitation, name="invitation"),
    path("invitation/accept/", invitation_views.accept, name="accept_invitation"),
    path("invitation/<str:token>/", invitation_views.open_invitation, name="open_invitation"),
    path("your-data/", own_views.own_data, name="own_data"),
    path("accounts/people/<int:pk>/", account_views.account, name="account"),
    path("accounts/people/<int:pk>/close/", account_views.close, name="close_account"),
    path("accounts/people/<int:pk>/open/", account_views.reopen, name="open_account"),
    path("accounts/people/<int:pk>/factor/", account_views.drop_factor, name="drop_factor"),
    path("accounts/people/<int:pk>/erase/", account_views.erase, name="erase_account"),
]
