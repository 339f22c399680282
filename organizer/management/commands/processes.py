"""Processes of the Procfile that `make run` starts, and the port."""

import os
from typing import Any

from evaluation.management.base import AssayCommand
from llmjobs.client import endpoint_from_environment

DEFAULT_PORT = "8000"


class Command(AssayCommand):
    help = (
        "Print the port and the processes to start: the simulated LLM is one where no LLM endpoint is configured."
    )
    example = "manage.py processes"
    audited = ""

    def act(self, options: dict[str, Any]) -> None:
        processes = "web worker" if endpoint_from_environment() else "web worker llm"
        # Said here, because honcho has a port of its own where none is given.
        self.stdout.write(f"--port {os.environ.get('PORT') or DEFAULT_PORT} {processes}")
