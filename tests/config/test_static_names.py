"""Static files get names of their content, as `make run` and the image do."""

from pathlib import Path

from django.core.management import call_command
from pytest_django.fixtures import Settings

LARGE_KINDS = ("js", "css", "json", "svg", "txt", "html", "md")  # left uncompressed here: that takes seconds


def test_every_script_gets_a_name_of_its_content(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_SKIP_COMPRESS_EXTENSIONS = LARGE_KINDS
    hashed = {"BACKEND": "config.apps.HashedModulesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": hashed}
    call_command("collectstatic", interactive=False, verbosity=0)
    for desk in ("nuggets", "judge"):
        assert len(list(tmp_path.glob(f"js/{desk}/main.*.js"))) == 1
