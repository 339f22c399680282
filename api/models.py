"""Answers to writes, kept for as long as a program may repeat its request."""

from django.conf import settings
from django.db import models


class IdempotencyKey(models.Model):
    """A write that a program gave a key to: what it sent, and the answer once it was done.

    `attempt` goes up with every request that takes the write over from one that died. The answer is written in the
    transaction of the effects and only by the attempt that holds the key, so that there is never one without the other.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    sent = models.CharField(max_length=64, help_text="the hash of method, address and body")
    attempt = models.PositiveIntegerField(default=1)
    begun_at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, help_text="empty: it is being done")
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        # Per user, since programs of two people may choose the same key. Each write drops what is old, by its age.
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_key_age")]

    def __str__(self) -> str:
        return f"{self.key} of {self.user}"
