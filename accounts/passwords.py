"""Rule for passwords beside Django's."""

from django.core.exceptions import ValidationError

from accounts.models import User


class RepetitionValidator:
    """Refuses a short piece that is repeated: it is guessed as soon as the piece is."""

    def __init__(self, min_length: int) -> None:
        self.min_length = min_length

    def validate(self, password: str, user: User | None = None) -> None:
        text = password.casefold()
        period = (text + text).find(text, 1)
        if 0 < period < min(len(text), self.min_length):
            raise ValidationError("This password repeats one short piece.", code="password_repeats")

    def get_help_text(self) -> str:
        return "It may not repeat one short piece."
