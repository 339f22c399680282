from django.apps import AppConfig


class LlmjobsConfig(AppConfig):
    name = "llmjobs"
