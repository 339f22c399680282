"""The dashboard's addresses, nested by noun."""

from django.urls import include, path

from organizer import jobs_views, views

app_name = "organizer"

campaign_urls = [
    path("", views.campaign, name="campaign"),
    path("topics/", views.topics, name="topics"),
    path("topics/<str:public_id>/", views.topic, name="topic"),
    path("runs/", views.runs, name="runs"),
    path("runs/<int:pk>/", views.run, name="run"),
    path("segments/<str:public_id>/", views.segment, name="segment"),
    path("findings/", views.findings, name="findings"),
    path("jobs/", jobs_views.jobs, name="jobs"),
    path("jobs/new/", jobs_views.new_job, name="new_job"),
    path("jobs/<int:pk>/", jobs_views.job, name="job"),
    path("jobs/<int:pk>/cancel/", jobs_views.cancel_job, name="cancel_job"),
    path("jobs/<int:pk>/retry/", jobs_views.retry_job, name="retry_job"),
    path("labels/assignment/<int:pk>/", jobs_views.label, {"kind": "assignment"}, name="assignment_label"),
    path("labels/support/<int:pk>/", jobs_views.label, {"kind": "support"}, name="support_label"),
    path("labels/answer/<int:pk>/", jobs_views.labels_of_answer, name="answer_labels"),
]

urlpatterns = [
    path("", views.campaigns, name="campaigns"),
    path("campaigns/<slug:slug>/", include(campaign_urls)),
]
