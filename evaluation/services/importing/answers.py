"""Answers as texts, for imports that compare them."""

from django.db.models import QuerySet

from evaluation.models import Sentence
from evaluation.services.importing.base import BATCH


def answer_texts(answers: list[int]) -> dict[int, str]:
    """Return the whole text of each answer, its sentences joined by a space; an answer without any is ''."""
    parts: dict[int, list[str]] = {pk: [] for pk in answers}
    for start in range(0, len(answers), BATCH):
        sentences: QuerySet[Sentence] = Sentence.objects.filter(answer__in=answers[start : start + BATCH])
        for pk, text in sentences.order_by("answer", "index").values_list("answer", "text"):
            parts[pk].append(text)
    return {pk: " ".join(texts) for pk, texts in parts.items()}
