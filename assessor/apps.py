from importlib import import_module

from django.apps import AppConfig, apps


class AssessorConfig(AppConfig):
    name = "assessor"

    def ready(self) -> None:
        """Have imports refuse to replace what labels in the making hang on."""
        register = import_module("evaluation.services.importing.hanging").register
        register(apps.get_model("evaluation.WorkingAssignment"), answer="answer", wording="nugget_version")
        register(apps.get_model("evaluation.WorkingSupport"), answer="sentence__answer", segment="segment")
