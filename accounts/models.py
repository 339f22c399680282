"""People. Custom from the first migration, because changing AUTH_USER_MODEL later is not possible."""

from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.timezone import now

from accounts.names import look_alike, validate_one_script

NOTICE_VERSION = 2
"""Goes up when templates/accounts/notice.html says something new; everybody is then asked to read it again."""
NAME_TAKEN = "A user with that username already exists."


class AccountManager(UserManager["User"]):
    """Finds accounts by their name in any case, as signing in does."""

    use_in_migrations = False

    def get_by_natural_key(self, username: str | None) -> "User":
        """Account of a name; `createsuperuser` asks it whether a name is free."""
        return self.get(username__iexact=username)


class User(AbstractUser):
    """A person who can sign in. Campaign memberships hold the rights."""

    # Django's own field, but that its letters are of one script.
    username = models.CharField(
        "username",
        max_length=150,
        unique=True,
        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
        validators=[UnicodeUsernameValidator(), validate_one_script],
        error_messages={"unique": NAME_TAKEN},
    )
    demo = models.BooleanField(default=False, editable=False, help_text="made by the demo, with a known password")
    desk_settings = models.JSONField(default=dict, blank=True, help_text="read it through accounts.desk_settings")

    # Part of what a session is checked by: raising it ends every session of the account at once.
    session_epoch = models.PositiveIntegerField(default=0, editable=False)
    notice_version = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="the notice of what is recorded that was read last"
    )
    notice_at = models.DateTimeField(null=True, editable=False)
    erased_at = models.DateTimeField(null=True, editable=False, help_text="when the person was taken out of it")

    objects: ClassVar[UserManager[Self]] = AccountManager()  # type: ignore[assignment]

    class Meta(AbstractUser.Meta):
        constraints: ClassVar[list[Any]] = [
            models.UniqueConstraint(
                Lower("username"), name="username_once_in_any_case", violation_error_message=NAME_TAKEN
            ),
        ]

    def clean(self) -> None:
        """Bring the name into its normal form. Raises `ValidationError` where another account has it in any case."""
        super().clean()
        if self.username and self.has_taken_name():
            raise ValidationError({"username": NAME_TAKEN})

    def has_taken_name(self) -> bool:
        # Compared here: SQLite knows the case of ASCII letters only.
        others = User.objects.exclude(pk=self.pk).values_list("username", flat=True)
        return look_alike(self.username) in map(look_alike, others)

    @property
    def name(self) -> str:
        return self.get_full_name() or self.username

    @property
    def has_read_notice(self) -> bool:
        return self.notice_version >= NOTICE_VERSION

    def acknowledge_notice(self) -> None:
        # In one statement and for older versions only: the first moment stays on a second reading.
        unread = User.objects.filter(pk=self.pk, notice_version__lt=NOTICE_VERSION)
        unread.update(notice_version=NOTICE_VERSION, notice_at=now())
        self.refresh_from_db(fields=["notice_version", "notice_at"])

    def get_session_auth_hash(self) -> str:
        """Hash in the sessions of this account; it changes with the password and with a raised epoch."""
        secret = f"{self.password}{self.session_epoch}"
        return salted_hmac("accounts.session", secret, algorithm="sha256").hexdigest()


class ApiToken(models.Model):
    """A key to the API for a program. It opens only rows that its owner may see."""

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


class Invitation(models.Model):
    """A link by which one person gets one role in one campaign, once. Kept as a hash, like a token."""

    NAME_LENGTH = 200

    # Of a room above: this one knows no more of it than the foreign key.
    campaign = models.ForeignKey("evaluation.Campaign", on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=10)
    name = models.CharField(
        max_length=NAME_LENGTH, blank=True, help_text="as the inviter wrote it beside the address"
    )
    email = models.EmailField(blank=True, help_text="where the link was sent; empty: it was handed over")
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(accepted_at=None, accepted_by=None)
                | Q(accepted_at__isnull=False, accepted_by__isnull=False),
                name="invitation_accepted_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation of {self.email or 'whoever has the link'} as {self.role}"


class Cached(models.Model):
    """Counts of sign-in attempts without Redis, and what reports keep: the table of `accounts.caching.TableCache`."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "accounts_cached"

    def __str__(self) -> str:
        return self.cache_key
