"""People. Custom from the first migration, because changing AUTH_USER_MODEL later is not possible."""

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
