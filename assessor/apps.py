from django.apps import AppConfig


class AssessorConfig(AppConfig):
    name = "assessor"
