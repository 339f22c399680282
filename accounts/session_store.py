"""Sessions in the database under a hash of their key: whoever reads the table or a backup of it opens no account."""

from hashlib import sha256

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.base_session import AbstractBaseSession
from django.core.exceptions import SuspiciousOperation
from django.utils.timezone import now

LONGEST = 40  # of Django's column: 160 of the hash's bits, and a key has no more


def hashed(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:LONGEST]


class SessionStore(DatabaseStore):
    """Django's own store, but for the column of the key. Nothing here is asynchronous."""

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        try:
            return self.model.objects.get(session_key=hashed(self.session_key or ""), expire_date__gt=now())
        except (self.model.DoesNotExist, SuspiciousOperation):
            self._session_key = None
            return None

    def exists(self, session_key: str) -> bool:
        return super().exists(hashed(session_key))

    def create_model_instance(self, data: dict[str, object]) -> AbstractBaseSession:
        row = super().create_model_instance(data)
        row.session_key = hashed(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            super().delete(hashed(key))
