from importlib import import_module

from django.apps import AppConfig


class LlmjobsConfig(AppConfig):
    name = "llmjobs"

    def ready(self) -> None:
        import_module("llmjobs.engine.loop").offer()
