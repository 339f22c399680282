"""Fields of forms."""

from typing import Any

from django import forms

from web.text import trimmed


class TextField(forms.CharField):
    """Words or a text, without what nobody sees at its edges. Django's own strips spaces alone."""

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return trimmed(text) if self.strip else text
