"""Golden documents as they are kept: small texts together in one file for each group, of large ones the SHA-256.

In a file a line `===== NAME` stands before each document. `sums.txt` has the large ones, with their sizes, and all of
the study, whose data stay outside the repository.
"""

import os
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path

Documents = Iterator[tuple[str, str, bytes]]
"""Group, name and bytes of each."""
Group = Mapping[str, bytes]
"""Documents by name."""

FILES = Path(__file__).parent / "files"
SUMS = Path(__file__).parent / "sums.txt"
RENEW = "RENEW_GOLDEN_FILES"
LARGEST = 12_000
STUDY = "list-qa"
MARK = "===== "
LINES_SHOWN = 80
DIGITS = 12
FLOAT = re.compile(rb"(?<![\w.])-?(\d+(?:\.\d+)?)([eE][-+]?\d+)?(?![\w.])")
HOW = "Where that is meant: `python -m tests.golden --renew`, and read what `git diff tests/golden` shows."


def differences(name: str, made: Group) -> str:
    """Return how a group differs from what is kept of it, for people to read; '' where it is the same.

    With `--renew` it is kept as it is made, but for the last digits of floats.
    """
    made = {name: as_kept(made[name]) for name in sorted(made)}
    if os.environ.get(RENEW):
        _keep(name, made)
    texts, sums = _kept_texts(name), _kept_sums(name)
    there = kept_names(name)
    lines = [f"{title}: no golden document is kept of it" for title in made if title not in there]
    lines += [f"{title}: kept, but nothing makes it any more" for title in sorted(there - made.keys())]
    for title in made.keys() & texts.keys():
        lines += _diff(title, texts[title], made[title].decode())
    lines += [
        f"{title}: was {sums[title]}, is {_sum(made[title])}"
        for title in made.keys() & sums.keys()
        if sums[title] != _sum(made[title])
    ]
    return "\n".join([f"Golden documents of {name}:", *lines, HOW]) if lines else ""


def as_kept(document: bytes) -> bytes:
    return FLOAT.sub(_without_last_digits, document)


def _without_last_digits(number: re.Match[bytes]) -> bytes:
    # They are the processor's: each kind of it adds in an order of its own.
    mantissa, exponent = number.groups()
    value = float(number[0])
    if not exponent and (b"." not in mantissa or len(mantissa.strip(b"0.")) <= DIGITS):
        return b"0.0" if number[0] == b"-0.0" else number[0]
    return b"0.0" if abs(value) < 10**-DIGITS else repr(float(f"{value:.{DIGITS}g}")).encode()


def _diff(name: str, kept: str, made: str) -> list[str]:
    lines = list(
        unified_diff(kept.split("\n"), made.split("\n"), f"{name} (kept)", f"{name} (made)", lineterm="", n=1)
    )
    left_out = len(lines) - LINES_SHOWN
    return [*lines[:LINES_SHOWN], f"... and {left_out:,} lines more"] if left_out > 0 else lines


def _keep(name: str, made: Group) -> None:
    """Write a group's small texts into its file, and the sums of the others among those of all groups."""
    of_study = name.startswith(f"{STUDY}/")
    small = {} if of_study else {title: body.decode() for title, body in made.items() if _is_small(body)}
    path = FILES / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{MARK}{title}\n{body}\n" for title, body in small.items())
    path.write_text(text, encoding="utf-8", newline="") if small else path.unlink(missing_ok=True)
    others = [line for line in _lines_of_sums() if line.split("\t")[0] != name]
    mine = [f"{name}\t{title}\t{_sum(body)}" for title, body in made.items() if title not in small]
    SUMS.write_text("".join(f"{line}\n" for line in sorted(others + mine)), encoding="utf-8", newline="")


def _is_small(body: bytes) -> bool:
    """Whether a document is kept as a text: a line end of another kind than ours would not survive an editor."""
    return len(body) <= LARGEST and b"\r" not in body and f"\n{MARK}".encode() not in body


def _sum(body: bytes) -> str:
    return f"{sha256(body).hexdigest()}, {len(body):,} bytes"


def _kept_texts(name: str) -> dict[str, str]:
    path = FILES / f"{name}.txt"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        parts = f"\n{file.read()}".split(f"\n{MARK}")[1:]
    # Each part ends with the newline that the next mark follows; the last one's is still there.
    parts[-1] = parts[-1].removesuffix("\n")
    return dict(part.split("\n", 1) for part in parts)


def _kept_sums(name: str) -> dict[str, str]:
    rows = [line.split("\t") for line in _lines_of_sums()]
    return {title: digest for group, title, digest in rows if group == name}


def _lines_of_sums() -> list[str]:
    return SUMS.read_text(encoding="utf-8").splitlines() if SUMS.is_file() else []


def kept_names(group: str) -> set[str]:
    return {*_kept_texts(group), *_kept_sums(group)}


def kept_groups() -> set[str]:
    in_files = {str(path.relative_to(FILES).with_suffix("")) for path in FILES.rglob("*.txt")}
    return in_files | {line.split("\t")[0] for line in _lines_of_sums()}
