from django.apps import AppConfig
from django.db.models.signals import post_migrate

from evaluation.append_only import install_triggers
from evaluation.stages import STAGES
from web.words import add_words


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        for stage in STAGES.values():
            add_words({label.word: label.spoken for label in stage.labels.by_code.values()})
        post_migrate.connect(install_triggers, sender=self, dispatch_uid="evaluation.append_only")
