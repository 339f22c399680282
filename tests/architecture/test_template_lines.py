"""Templates are read as code is: no line is longer than a screen."""

from django.conf import settings

LONGEST = 200


def test_no_template_line_is_longer_than_200_characters() -> None:
    pages = [*settings.BASE_DIR.glob("templates/**/*.html")]
    assert pages
    assert [
        f"{page.relative_to(settings.BASE_DIR)}:{number}"
        for page in pages
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if len(line) > LONGEST
    ] == []
