"""Answers to writes, kept for as long as a program may repeat its request."""

from django.conf import settings
from django.db import models


class IdempotencyKey(models.Model):
    """A write that a program gave a key to and that was done: what was sent, and the answer.

    It is written in the transaction of the effects, so that there is never one without the other.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    sent = models.CharField(max_length=64, help_text="the hash of method, address and body")
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        # Per user, since programs of two people may choose the same key. Each write drops what is old, by its age.
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once")]
        indexes = [models.Index(fields=["created_at"], name="idempotency_key_age")]

    def __str__(self) -> str:
        return f"{self.key} of {self.user}"
