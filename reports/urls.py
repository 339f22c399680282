"""The reports' addresses. Everything chosen on a page is in its query string."""

from django.urls import path

from reports import views

app_name = "reports"

urlpatterns = [
    path("campaigns/<slug:slug>/agreement/", views.agreement, name="agreement"),
    path("campaigns/<slug:slug>/agreement/scatter.svg", views.scatter, name="scatter"),
]
