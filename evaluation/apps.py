from django.apps import AppConfig
from django.db.models.signals import post_migrate

from evaluation.append_only import install_triggers


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        post_migrate.connect(install_triggers, sender=self, dispatch_uid="evaluation.append_only")
