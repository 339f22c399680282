from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        """Register the deployment checks, and what the audit log hears of sign-ins."""
        import_module("accounts.checks")
        import_module("accounts.auditing")
