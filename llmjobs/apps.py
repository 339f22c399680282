from importlib import import_module

from django.apps import AppConfig


class LlmjobsConfig(AppConfig):
    name = "llmjobs"

    def ready(self) -> None:
        """Offer the engine to the workers."""
        import_module("llmjobs.engine").offer()
