"""Base class of all refusals. It stands below the domain, so that the middleware can know it."""


class RuleRefusal(Exception):
    """An act that the rules do not allow, with a code for programs and a message for people."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)
