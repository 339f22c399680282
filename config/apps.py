"""Django's admin and static files, as this installation sets them up."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, cast

from django.apps import apps
from django.contrib.admin.apps import AdminConfig
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Files of packages that no page of ours shows: to compress them would take longer than all the rest.
NOT_COLLECTED = ("rest_framework",)
STYLES = "css/"
IMPORTED_STYLES = re.compile(r'^@import "([\w-]+\.css)" layer\((\w+)\);$', re.MULTILINE)


class AssayAdminConfig(AdminConfig):
    default_site = "config.adapters.AssayAdmin"

    def ready(self) -> None:
        super().ready()
        import_module("config.checks")
        static = cast(StaticFilesConfig, apps.get_app_config("staticfiles"))
        static.ignore_patterns = [*static.ignore_patterns, *NOT_COLLECTED]


class HashedModulesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Hash the imports between our JavaScript modules too, so that a release never mixes old modules with new ones.

    Style sheets get what they import in its place: a telephone that asks for twenty of them paints 0.3 s later.
    """

    _, _imports = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns
    # Only ours: django-htmx carries files that import what it does not have.
    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", _imports))
    # A module's name is final when those of its imports are, so a pass is needed for each level of the imports.
    # Django's own 5 are too few. Passes end as soon as no name changes; only a circle of imports takes all.
    max_post_process_passes = 40

    def post_process(self, paths: dict[str, Any], dry_run: bool = False, **options: Any) -> Iterator[Any]:
        sheets = {} if dry_run else {name: self._joined(paths, name) for name in paths if name.startswith(STYLES)}
        for name, text in sheets.items():
            self.delete(name)
            self.save(name, ContentFile(text))
        yield from super().post_process(paths | {name: (self, name) for name in sheets}, dry_run, **options)

    def _joined(self, paths: dict[str, Any], name: str) -> str:
        """Return a style sheet of ours with those that it imports in their places, each in its layer."""
        storage, path = paths[name]
        with storage.open(path) as file:
            text = file.read().decode()
        return IMPORTED_STYLES.sub(
            lambda line: f"@layer {line[2]} {{\n{self._joined(paths, STYLES + line[1])}}}", text
        )
