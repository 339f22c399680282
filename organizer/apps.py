from importlib import import_module

from django.apps import AppConfig


class OrganizerConfig(AppConfig):
    name = "organizer"

    def ready(self) -> None:
        # Workers send the mails, and their room knows none above it: they are given a watcher to call.
        import_module("organizer.jobs.mails").offer()
