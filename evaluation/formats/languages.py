"""Languages as BCP 47 tags: one spelling for files, forms and pages, and who reads which."""

import re
from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

TAG: Final = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?(?:-[a-z0-9]{1,8})*", re.ASCII)
LONGEST: Final = 35
EXPECTED: Final = "a BCP 47 language tag such as en or pt-BR"

PAIRS: Final = (
    "ara:ar arb:ar ces:cs chi:zh cmn:zh cze:cs dan:da deu:de dut:nl ell:el eng:en fas:fa fin:fi "
    "fra:fr fre:fr ger:de gre:el heb:he hin:hi hun:hu ita:it jpn:ja kor:ko nld:nl nor:no per:fa "
    "pes:fa pol:pl por:pt ron:ro rum:ro rus:ru som:so spa:es swa:sw swe:sv tur:tr ukr:uk urd:ur "
    "vie:vi zho:zh"
)
SHORTEST: Final = dict(pair.split(":") for pair in PAIRS.split())
"""Three letters that collections write, and the two that BCP 47 wants for the same language."""


def normalised(tag: str) -> str | None:
    """Return a tag in its canonical case, `ar-Arab-EG`; None for what is none."""
    subtags = tag.strip().replace("_", "-").lower()
    if len(subtags) > LONGEST or not TAG.fullmatch(subtags):
        return None
    language, *rest = subtags.split("-")
    return "-".join([SHORTEST.get(language, language), *_cased(rest)])


def _checked(value: str) -> str:
    tag = normalised(value) if value else ""
    if tag is None:
        details = {"expected": EXPECTED, "value": value}
        raise PydanticCustomError("language", "{expected}, found '{value}'", details)
    return tag


Language = Annotated[str, AfterValidator(_checked)]
"""A normalised tag, or an empty text."""


def _cased(subtags: list[str]) -> Iterable[str]:
    """Yield script as `Arab` and region as `EG`; what follows a single letter is an extension and stays small."""
    extended = False
    for subtag in subtags:
        extended = extended or len(subtag) == 1
        if extended:
            yield subtag
        elif len(subtag) == 4 and subtag.isalpha():
            yield subtag.title()
        else:
            yield subtag.upper() if len(subtag) == 2 else subtag


def reads(languages: str, tag: str) -> bool:
    """Say whether somebody who reads `languages`, tags with blanks between, reads a text in `tag`.

    Nothing on either side means any language. The script counts where both name one; the region never does.
    """
    return not languages or not tag or any(_same(language, tag) for language in languages.split())


def _same(code: str, other: str) -> bool:
    scripts = {script for script in (_script(code), _script(other)) if script}
    return code.partition("-")[0] == other.partition("-")[0] and len(scripts) < 2


def _script(tag: str) -> str:
    return next((subtag for subtag in tag.split("-")[1:2] if len(subtag) == 4 and subtag.isalpha()), "")
