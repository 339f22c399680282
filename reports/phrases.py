"""Texts of the report pages: English where they are kept and in files, in the reader's language on the page.

What a report comes to is kept for everybody, and the same texts stand in its files, which are a paper's English. So a
text is marked (`gettext_noop`) where it is made and translated by the template, by the filter `in_words`.
"""

from collections.abc import Mapping
from typing import Any, Self

from django.utils.functional import Promise
from django.utils.translation import gettext, override


class Phrase(str):
    """A text with values in it. It is itself the English; `shown` is the same in the language of whoever reads."""

    message: str | Promise
    values: Mapping[str, Any]

    def __new__(cls, message: str | Promise, values: Mapping[str, Any]) -> Self:
        with override("en"):
            made = super().__new__(cls, str(message) % values)
        made.message, made.values = message, values
        return made

    @property
    def shown(self) -> str:
        """The text in the language of the page; a phrase among its values too."""
        values = {name: one.shown if isinstance(one, Phrase) else one for name, one in self.values.items()}
        return shown(self.message) % values


def phrase(message: str | Promise, /, **values: Any) -> Phrase:
    """Return a marked text, or one of `ngettext_lazy`, with its values filled in."""
    return Phrase(message, values)


def as_is(name: str) -> Phrase:
    """Return a name that is the same in every language, such as a score's."""
    return phrase("%(name)s", name=name)


def shown(text: str | Promise) -> str:
    """Return a text in the language of the page."""
    if isinstance(text, Phrase):
        return text.shown
    return str(text) if isinstance(text, Promise) else gettext(text)
