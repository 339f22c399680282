from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        """Register the deployment checks, and what listens to signing in."""
        import_module("accounts.checks")
        import_module("accounts.auditing")
        import_module("accounts.sessions")
