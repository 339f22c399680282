from threading import Event

from django.apps import AppConfig
from django.utils.module_loading import import_string

from jobs import lanes

JOB_KIND = "llm"


class LlmjobsConfig(AppConfig):
    name = "llmjobs"

    def ready(self) -> None:
        lanes.register(JOB_KIND, _run)


def _run(worker: str, stopping: Event) -> None:
    # By name: only a worker needs the engine and all that it imports.
    import_string("llmjobs.engine.loop.run")(worker, stopping)
