"""Django's admin and static files, as this installation sets them up."""

from importlib import import_module
from typing import cast

from django.apps import apps
from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage

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


class HashedModulesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Hash the imports between our JavaScript modules too, so that a release never mixes old modules with new ones."""

    _, _imports = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns
    # Only ours: django-htmx carries files that import what it does not have.
    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", _imports))
    # A module's name is final when those of its imports are, so a pass is needed for each level of the imports.
    # Django's own 5 are too few. Passes end as soon as no name changes; only a circle of imports takes all.
    max_post_process_passes = 40
