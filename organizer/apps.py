from importlib import import_module

from django.apps import AppConfig


class OrganizerConfig(AppConfig):
    name = "organizer"

    def ready(self) -> None:
        """Have the workers send mails about jobs."""
        import_module("organizer.job_mails").offer()
