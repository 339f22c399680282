"""How static files are named in production."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModulesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Hash the imports between our JavaScript modules too, so that a release never mixes old modules with new ones.

    Only ours: django-htmx carries files that import what it does not have.
    """

    _, _imports = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns
    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", _imports))
