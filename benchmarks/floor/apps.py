"""Our accounts as the bare application has them: their tables, without what listens to the sign-in."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
