"""Labels on pages are marks, not texts of marks."""

from evaluation.labels import NUGGET_LABELS
from evaluation.templatetags.labels import label, label_key


def test_the_key_shows_every_label_and_the_missing_one_as_pages_do() -> None:
    marks = [label(code) for code in (*NUGGET_LABELS.by_code, None)]
    assert label_key() == f'<p class="key small">{" ".join(marks)}</p>'
    assert "&lt;" not in label_key()
