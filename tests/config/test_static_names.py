"""Static files get names of their content, as `make run` and the image do, and style sheets what they import."""

from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django.fixtures import Settings

LARGE_KINDS = ("js", "css", "json", "svg", "txt", "html", "md")  # left uncompressed here: that takes seconds


@pytest.fixture
def collected(settings: Settings, tmp_path: Path) -> Path:
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_SKIP_COMPRESS_EXTENSIONS = LARGE_KINDS
    hashed = {"BACKEND": "config.apps.HashedModulesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": hashed}
    call_command("collectstatic", interactive=False, verbosity=0)
    return tmp_path


def test_every_script_gets_a_name_of_its_content(collected: Path) -> None:
    for desk in ("nuggets", "judge"):
        assert len(list(collected.glob(f"js/{desk}/main.*.js"))) == 1


def test_a_page_waits_for_no_style_sheet_of_a_style_sheet(collected: Path) -> None:
    """In a chain of imports the next one is asked for only when the one before is there."""
    (desk,) = collected.glob("css/judge-desk.*.css")
    styles = desk.read_text("utf-8")
    for own in ("desk", "judge"):
        (part,) = collected.glob(f"css/{own}.*.css")
        assert part.read_text("utf-8") in styles
    assert [sheet.name for sheet in collected.glob("css/*.*.css") if "@import" in sheet.read_text("utf-8")] == []
    (fonts,) = collected.glob("css/fonts.*.css")
    (site,) = collected.glob("css/site.*.css")
    assert f"@layer tokens {{\n{fonts.read_text('utf-8')}}}" in site.read_text("utf-8")
