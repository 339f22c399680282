import pytest

from reports.random_checks.page import score_axis


@pytest.mark.parametrize(
    ("values", "is_fraction", "ends", "zero", "half"),
    [
        ([0.5, None, 0.9], True, "0 to 1", 0, 50),
        ([0.5, -0.21], True, "\N{MINUS SIGN}0.3 to 1", 100 * 0.3 / 1.3, 100 * 0.8 / 1.3),
        ([-1.0], True, "\N{MINUS SIGN}1.0 to 1", 50, 75),
        ([2.0, 1.0], False, "0 to most", 0, 25),
        ([None], False, "0 to most", 0, 50),
    ],
)
def test_an_axis_has_room_for_scores_below_0(
    values: list[float | None], is_fraction: bool, ends: str, zero: float, half: float
) -> None:
    axis = score_axis(values, is_fraction=is_fraction)
    assert axis.ends == ends
    assert [axis.place(0), axis.place(0.5)] == pytest.approx([zero, half])
    assert axis.place(-100) == 0
    assert axis.place(100) == 100
