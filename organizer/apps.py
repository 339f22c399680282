from importlib import import_module

from django.apps import AppConfig


class OrganizerConfig(AppConfig):
    name = "organizer"

    def ready(self) -> None:
        import_module("organizer.jobs.mails").offer()
