"""Places in a list, as an opaque word of an address: nobody can read a key off it, or make one up."""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256

from django.conf import settings

SIZE = 8
DIRECTIONS = (b"<", b">")


@dataclass(frozen=True, slots=True)
class Cursor:
    """Before or after which key a page stands."""

    after: bool
    key: int


def seal(collection: str, cursor: Cursor) -> str:
    """Return the cursor as a word. The same place is always the same word, so that a page's ETag stays."""
    plain = DIRECTIONS[cursor.after] + cursor.key.to_bytes(SIZE, "big")
    mark = _digest(b"mark", collection, plain)[:SIZE]
    return urlsafe_b64encode(mark + _mixed(plain, mark, collection)).rstrip(b"=").decode()


def unseal(collection: str, word: str) -> Cursor:
    """Return the cursor of a word. Raises ValueError for what was not sealed here for this collection."""
    raw = urlsafe_b64decode(word.encode("ascii") + b"=" * (-len(word) % 4))
    mark, mixed = raw[:SIZE], raw[SIZE:]
    plain = _mixed(mixed, mark, collection)
    if len(plain) != SIZE + 1 or not hmac.compare_digest(mark, _digest(b"mark", collection, plain)[:SIZE]):
        raise ValueError("no cursor of this list")
    return Cursor(plain[:1] == DIRECTIONS[True], int.from_bytes(plain[1:], "big"))


def _mixed(text: bytes, mark: bytes, collection: str) -> bytes:
    pad = _digest(b"pad", collection, mark)
    return bytes(one ^ other for one, other in zip(text, pad, strict=False))


def _digest(what: bytes, collection: str, payload: bytes) -> bytes:
    key = b"api.cursors:" + what + b":" + collection.encode()
    return hmac.new(settings.SECRET_KEY.encode() + key, payload, sha256).digest()
