from importlib import import_module

from django.apps import AppConfig


class AssessorConfig(AppConfig):
    name = "assessor"

    def ready(self) -> None:
        """Have imports count labels in the making."""
        register = import_module("evaluation.imports.dependents").register
        register(self.get_model("WorkingAssignment"), answer="answer", wording="nugget_version")
        register(self.get_model("WorkingJudgment"), answer="answer", segment="segment")
        register(self.get_model("WorkingSupport"), answer="sentence__answer", segment="segment")
