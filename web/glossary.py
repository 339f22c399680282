"""The page of all terms."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from web.text import trimmed
from web.words import terms


@require_safe
def glossary(request: HttpRequest) -> HttpResponse:
    words = trimmed(request.GET.get("words", "")).casefold()
    entries = [
        term for term in terms().values() if words in f"{term.word} {term.code} {term.definition}".casefold()
    ]
    return render(request, "glossary.html", {"terms": entries, "words": words})
