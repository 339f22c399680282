"""People. Custom from the first migration, because changing AUTH_USER_MODEL later is not possible."""

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """Someone who can sign in. What they may do is in their campaign memberships."""

    demo = models.BooleanField(default=False, editable=False, help_text="made by the demo, with a known password")
    desk_settings = models.JSONField(default=dict, blank=True, help_text="read it through accounts.desk_settings")

    @property
    def name(self) -> str:
        """What screens call this person."""
        return self.get_full_name() or self.username


class ApiToken(models.Model):
    """A key to the API for a program of somebody's. It opens what they may see themselves, and no more."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100, help_text="what it is for")
    prefix = models.CharField(max_length=20, help_text="its beginning, by which its owner knows it")
    # Of 256 random bits: a plain hash cannot be guessed back, and one look into an index finds the row.
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user}"
