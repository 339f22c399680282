"""Names of static files in production."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModulesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Hash the imports between our JavaScript modules too, so that a release never mixes old modules with new ones."""

    _, _imports = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns
    # Only ours: django-htmx carries files that import what it does not have.
    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("js/*.js", _imports))
    # A module's name is final when those of its imports are, so a pass is needed for each level of the imports.
    # Django's own 5 are too few. Passes end as soon as no name changes; only a circle of imports takes all.
    max_post_process_passes = 40
