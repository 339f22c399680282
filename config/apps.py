from importlib import import_module

from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles.apps import StaticFilesConfig


class AssayAdminConfig(AdminConfig):
    """Django's admin with our own rule of who may open it."""

    default_site = "config.administration.AssayAdmin"

    def ready(self) -> None:
        """Register the deployment checks."""
        super().ready()
        import_module("config.checks")


class AssayStaticFilesConfig(StaticFilesConfig):
    """Without what packages bring and no page of ours shows: compressing it would take longer than all the rest."""

    ignore_patterns = [
        *StaticFilesConfig.ignore_patterns,
        "rest_framework",
        "drf_spectacular_sidecar/redoc",
        "*swagger-ui-standalone-preset*",
        "*swagger-ui-es-*",
    ]
