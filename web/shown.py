"""A text as a page shows it: in the language of whoever reads."""

from typing import Any

from django.utils.functional import lazy
from django.utils.translation import gettext, ngettext

from web.phrases import Phrase, Plural, filled


def shown(text: object) -> str:
    """Return a text, a phrase or a word of the vocabulary in the language of the page."""
    if isinstance(text, Phrase):
        return filled(_message(text.message), {name: _value(one) for name, one in text.values.items()})
    return gettext(str(text)) if text else ""


def _message(message: str | Plural) -> str:
    if isinstance(message, Plural):
        return ngettext(*message)
    return gettext(message) if message else ""


def _value(value: Any) -> Any:
    return shown(value) if isinstance(value, Phrase) else value


lazy_shown = lazy(shown, str)
"""The same where a module is loaded, before it is known who reads."""
