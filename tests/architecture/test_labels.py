"""Labels have the same words, keys, captions and glyphs in scripts and templates as in evaluation/domain/labels.py."""

import json
import re

import pytest

from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS, LabelSet
from tests.architecture.tree import ROOT

SCRIPT = (ROOT / "static/js/judge/words.js").read_text(encoding="utf-8")
KEYMAP = json.loads((ROOT / "static/js/desk/keymap.json").read_text(encoding="utf-8"))
RADIO = re.compile(r'value="(\w+)"> <span class="glyph"[^>]*>(.)</span>\s+(?:<span class="label-word">)?(\w+)')
CAPTIONS = re.compile(r"const WORDS = \{(.*?)\}", re.DOTALL)
SETS = {"assign": NUGGET_LABELS, "support": CITATION_LABELS}
TEMPLATES = {"assign": "judge_rows", "support": "judge_pair"}


@pytest.mark.parametrize("stage", SETS)
def test_scripts_call_labels_as_python_does(stage: str) -> None:
    labels = SETS[stage]
    listed = re.search(rf'{stage}: \["(\w+)", "(\w+)", "(\w+)"\]', SCRIPT)
    captions = CAPTIONS.search(SCRIPT)
    assert listed
    assert captions
    assert listed.groups() == labels.words
    assert {(word, degree.caption) for word, degree in labels.by_word.items()} <= {
        *re.findall(r'(\w+): "(.+?)"', captions[1])
    }
    assert re.findall(r'glyph: "(.)"', SCRIPT) == [degree.glyph for degree in labels.degrees]


@pytest.mark.parametrize("stage", SETS)
def test_desks_draw_labels_as_python_does(stage: str) -> None:
    page = (ROOT / f"templates/assessor/{TEMPLATES[stage]}.html").read_text(encoding="utf-8")
    assert RADIO.findall(page) == [(degree.word, degree.glyph, degree.caption) for degree in SETS[stage].degrees]


@pytest.mark.parametrize("labels", SETS.values(), ids=SETS)
def test_labels_have_the_keys_of_the_desks(labels: LabelSet) -> None:
    keys = {action["id"]: action["keys"] for action in KEYMAP["actions"]}
    wanted = ["label-full", "label-partial", "label-none", "cant-judge"]
    assert [keys[name] for name in wanted] == [[degree.key] for degree in labels.by_word.values()]


@pytest.mark.parametrize("labels", SETS.values(), ids=SETS)
def test_axes_of_reports_are_in_the_order_of_codes(labels: LabelSet) -> None:
    assert [labels.by_word[word].code for word in labels.scale] == [0, 1, 2]
