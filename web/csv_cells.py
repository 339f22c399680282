"""CSV that a spreadsheet shows as text and never runs as a formula."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: str) -> str:
    """Return a cell with an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value
