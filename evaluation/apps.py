from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from evaluation.append_only import install_triggers


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        """Have triggers put back after every migrate and flush, and have imports count labels in the making."""
        post_migrate.connect(install_triggers, sender=self, dispatch_uid="evaluation.append_only")
        register = import_module("evaluation.imports.dependents").register
        register(self.get_model("WorkingAssignment"), answer="answer", wording="nugget_version")
        register(self.get_model("WorkingSupport"), answer="sentence__answer", segment="segment")
