"""The base of every way to say no. It stands below the domain, so that the middleware can know it."""

from typing import Any

from web.phrases import Phrase, Plural


class Refusal(Exception):
    """An act that the rules do not allow, with a code for programs and a message for people.

    The message is English; a page shows it by `web.shown`.
    """

    def __init__(self, code: str, message: str | Plural, /, **values: Any) -> None:
        self.code = code
        self.message = message if isinstance(message, Phrase) else Phrase(message, values)
        super().__init__(self.message)
