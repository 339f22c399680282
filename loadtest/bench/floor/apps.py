"""Our accounts as the bare application has them: their tables, without what listens to the sign-in."""

from allauth.account.apps import AccountConfig
from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"


class SignInConfig(AccountConfig):  # type: ignore[misc]  # without types
    """The sign-in's tables, which our code asks for, without the middleware that it would insist on."""

    def ready(self) -> None:
        pass
