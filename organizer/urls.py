"""The dashboard's addresses, nested by noun."""

from django.urls import include, path

from organizer import views

app_name = "organizer"

campaign_urls = [
    path("", views.campaign, name="campaign"),
    path("topics/", views.topics, name="topics"),
    path("topics/<str:public_id>/", views.topic, name="topic"),
    path("runs/", views.runs, name="runs"),
    path("runs/<int:pk>/", views.run, name="run"),
    path("segments/<str:public_id>/", views.segment, name="segment"),
    path("findings/", views.findings, name="findings"),
]

urlpatterns = [
    path("", views.campaigns, name="campaigns"),
    path("campaigns/<slug:slug>/", include(campaign_urls)),
]
