"""A name is found in any value of a row, wherever it stands in a text and in whatever capitals."""

from collections.abc import Callable

from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation.campaigns.pseudonyms import Hiding

WORD = st.text(st.characters(codec="latin-1", categories=["L", "Nd"]), min_size=1, max_size=8)
AROUND = st.text(st.characters(codec="ascii", exclude_categories=["L", "Nd", "Cc"], exclude_characters="_"))


@given(WORD, AROUND, AROUND, st.sampled_from([str, str.lower, str.upper]))
def test_a_name_leaves_no_value_of_a_row(
    name: str, before: str, after: str, written: Callable[[str], str]
) -> None:
    spelled = written(name)
    assume(spelled.casefold() == name.casefold() and len(spelled) == len(name))
    typed, expected = f"{before}{spelled}{after}", f"{before}person-1{after}"
    hiding = Hiding({name: "person-1"}, account=lambda key: f"person-{key}", kept={"text"})
    row = {"note": [typed, {"why": typed}], "text": typed, "user": spelled, "actor": 7, "labels": {spelled: True}}
    assert hiding.row(row) == {
        "note": [expected, {"why": expected}],
        "text": typed,
        "user": "person-1",
        "actor": "person-7",
        "labels": {"person-1": True},
    }


def test_a_short_name_is_hidden_whole_and_not_within_a_text() -> None:
    hiding = Hiding({"al": "person-1"}, shortest=3)
    assert (hiding.text("AL"), hiding.text("al is here")) == ("person-1", "al is here")


def test_an_account_with_another_name_by_now_is_somebody() -> None:
    assert Hiding({"ann": "person-1"}).row({"actor": "anna"}) == {"actor": "person"}
