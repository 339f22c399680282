"""Texts with values: English where they are kept, sent to programs or written to files; a page shows them translated.

A phrase is a string, the English one, and knows the message and the values that it was made of: `web.shown.shown` makes
the same of them in the language of whoever reads. Nothing here knows Django, so that rules and formats can say no in
whole sentences. `makemessages` finds messages by the names of the functions that take them (`web/management`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self


class Plural(NamedTuple):
    """A message that depends on a number."""

    one: str
    many: str
    number: int

    def __str__(self) -> str:
        return self.one if self.number == 1 else self.many


class Phrase(str):
    """A text with values in it: itself the English."""

    message: str | Plural
    values: Mapping[str, Any]

    def __new__(cls, message: str | Plural, values: Mapping[str, Any]) -> Self:
        made = super().__new__(cls, filled(str(message), values))
        made.message, made.values = message, values
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.message, self.values


def filled(message: str, values: Mapping[str, Any]) -> str:
    """Return a message with its values; one that takes none may hold a percent sign."""
    return message % values if values else message


def phrase(message: str | Plural, /, **values: Any) -> Phrase:
    """Return a message with its values filled in."""
    return Phrase(message, values)


def plural(one: str, many: str, number: int) -> Plural:
    """Return a message that depends on a number."""
    return Plural(one, many, number)


def noted(message: str) -> str:
    """Return a message as it is: it is translated where a page shows it."""
    return message


def word(code: str) -> Phrase:
    """Return a word of the vocabulary, such as a state, as a value of a phrase. It is marked elsewhere."""
    return Phrase(str(code), {})


def as_is(name: object) -> Phrase:
    """Return what is the same in every language, such as a name or the words of a file."""
    return phrase("%(name)s", name=name)


def together(parts: Iterable[str], between: str = " ") -> Phrase:
    """Return several texts as one, each of them translated for itself."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    return Phrase(between.join(f"%({name})s" for name in values), values)
