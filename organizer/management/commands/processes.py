"""Which of the Procfile's processes `make run` starts."""

from typing import Any

from evaluation.management.base import AssayCommand
from llmjobs.client import endpoint_from_environment


class Command(AssayCommand):
    help = "Print the processes to start: the simulated LLM is one where no LLM endpoint is configured."
    example = "manage.py processes"
    audited = ""

    def act(self, options: dict[str, Any]) -> None:
        self.stdout.write("web worker" if endpoint_from_environment() else "web worker llm")
