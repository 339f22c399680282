"""A p-value is never shown as 0; files for programs keep its digits."""

import re

from reports.files import as_csv, as_json, as_latex, as_table
from reports.report import Column, ColumnKind
from reports.templatetags.reports import figure
from web.text import p_value

ROW = {"other": "beta", "p": 0.00001, "holm": 0.00049, "adjusted": 0.0005, "difference": 0.00001}


def test_a_small_one_is_below_the_least_that_is_shown() -> None:
    assert [p_value(p) for p in (0.0, 0.00049, 0.0005, 0.0499, 1.0)] == [
        *("< 0.001", "< 0.001", "0.001", "0.050", "1.000")
    ]
    assert p_value(0.00004, 4) == "< 0.0001"


def test_pages_tables_and_papers_show_it_so() -> None:
    assert Column("p", "p", ColumnKind.P).text(ROW) == "< 0.001"
    assert Column("p", "p", ColumnKind.P).text({"p": None}) == "\N{EN DASH}"
    assert figure(0.00001, "p") == "< 0.001"
    assert "&lt; 0.01" in str(figure(0.00001, "p", topics=3))
    assert re.split(" {2,}", as_table([ROW]).splitlines()[1]) == ["beta", "< 0.0001", "0.0005", "0.0005", "0.0000"]
    columns = dict.fromkeys(ROW, "x")
    assert r"beta & \textless{} 0.001 & \textless{} 0.001 & 0.001 & 0.000" in as_latex([ROW], columns)


def test_files_for_programs_keep_its_digits() -> None:
    assert "1e-05,0.00049,0.0005,1e-05" in as_csv([ROW])
    assert '"p": 1e-05' in as_json(ROW)
