from importlib import import_module
from typing import cast

from django.apps import apps
from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles.apps import StaticFilesConfig

# What packages bring and no page of ours shows: to compress it would take longer than all the rest.
NOT_COLLECTED = ("rest_framework",)


class AssayAdminConfig(AdminConfig):
    """Django's admin with our own rule of who may open it."""

    default_site = "config.adapters.AssayAdmin"

    def ready(self) -> None:
        super().ready()
        import_module("config.checks")
        static = cast(StaticFilesConfig, apps.get_app_config("staticfiles"))
        static.ignore_patterns = [*static.ignore_patterns, *NOT_COLLECTED]
