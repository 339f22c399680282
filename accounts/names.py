"""User names: compared without regard to case, and of one script, so that none passes for another's."""

import re
import unicodedata

from django.core.exceptions import ValidationError

from web.text import trimmed

# Writing systems of more than one script, and what Unicode's names of their letters begin with.
MIXED_SYSTEMS = (
    frozenset({"CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"CJK", "HANGUL"}),
    frozenset({"CJK", "BOPOMOFO"}),
)
FIRST_WORD = re.compile("[A-Z]+")


def canonical_name(name: str) -> str:
    """Equal for two names that a person would take for the same."""
    return unicodedata.normalize("NFKC", trimmed(name)).casefold()


def look_alike(name: str) -> str:
    """Equal for two names of which one passes for the other: accents, and marks at their ends, are nothing."""
    letters = unicodedata.normalize("NFKD", canonical_name(name))
    seen = "".join(letter for letter in letters if not unicodedata.combining(letter)).strip(" .-_+@")
    return seen or canonical_name(name)


def validate_one_script(name: str) -> None:
    # Among the letters are some that nobody sees, such as the filler of Hangul.
    if trimmed(name) != name:
        raise ValidationError("Use letters that can be seen.", code="unseen")
    scripts = {_script(letter) for letter in unicodedata.normalize("NFKC", name) if not letter.isascii()}
    if any(letter.isascii() and letter.isalpha() for letter in name):
        scripts.add("LATIN")
    if len(scripts) > 1 and not any(scripts <= system for system in MIXED_SYSTEMS):
        raise ValidationError("Use letters of one script only.", code="several_scripts")


def _script(letter: str) -> str:
    """Script of a letter, by the first word of its Unicode name: the standard library has no other table of scripts."""
    word = FIRST_WORD.match(unicodedata.name(letter, ""))
    return word[0] if word else ""
