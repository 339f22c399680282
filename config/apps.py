from importlib import import_module

from django.contrib.admin.apps import AdminConfig


class AssayAdminConfig(AdminConfig):
    """Django's admin with our own rule of who may open it."""

    default_site = "config.administration.AssayAdmin"

    def ready(self) -> None:
        """Register the deployment checks."""
        super().ready()
        import_module("config.checks")
