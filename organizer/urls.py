from django.urls import URLPattern

app_name = "organizer"
urlpatterns: list[URLPattern] = []
