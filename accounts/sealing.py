"""Texts that lie encrypted in the database, with a key that comes from `SECRET_KEY`."""

from base64 import urlsafe_b64encode
from hashlib import sha256

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


def seal(purpose: str, text: str) -> str:
    """Encrypt with the key in force. Each purpose has a key of its own."""
    return _locks(purpose).encrypt(text.encode()).decode()


def unseal(purpose: str, sealed: str) -> str:
    """Decrypt with the current key or an earlier one. Raises `InvalidToken`."""
    return _locks(purpose).decrypt(sealed.encode()).decode()


def _locks(purpose: str) -> MultiFernet:
    keys = [str(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    return MultiFernet([Fernet(urlsafe_b64encode(sha256(f"{purpose} {key}".encode()).digest())) for key in keys])


__all__ = ["InvalidToken", "seal", "unseal"]
