"""When the room is loaded, scores have their terms in the glossary."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "reports"

    def ready(self) -> None:
        from reports.metrics.registry import SCORES, Profile  # noqa: PLC0415  # NumPy, once Django is there
        from web.words import Term, add_terms  # noqa: PLC0415

        add_terms(
            Term(
                key=score.term,
                word=score.words.lower() if score.profile is Profile.CITATIONS else score.words,
                code=score.name,
                definition=score.definition,
                used=score.used,
            )
            for score in SCORES
            if score.definition
        )
