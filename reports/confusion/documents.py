"""The confusion page as files."""

from dataclasses import asdict
from typing import Any

from reports.confusion.page import ConfusionPage, side_label
from reports.documents import confusion_document, confusion_rows
from reports.files import FileTable
from reports.quality.studies import StudyReport, agreement_rows, study_document


def confusion_table(page: ConfusionPage) -> FileTable:
    """Return the counts; as JSON with all figures. Raises ValueError for a page without a report."""
    if page.report is None or page.compared is None:
        raise ValueError(page.message)
    found = page.report.confusion
    rows = [
        row | {"total": total, "rate": rate}
        for row, total, rate in zip(
            confusion_rows(page.report), found.counts.sum(axis=1).tolist(), found.row_rates, strict=True
        )
    ]
    headings = {"rows": f"{page.report.rows} / {page.report.columns}"}
    headings |= {label: label.replace("_", " ").capitalize() for label in page.report.labels}
    total = {"rows": "total", "total": found.pairs}
    total |= dict(zip(page.report.labels, found.counts.sum(axis=0).tolist(), strict=True))
    return FileTable(
        rows=rows,
        columns=headings | {"total": "Total", "rate": "Rate"},
        document=_document(page),
        closing=[total],
        comment=_comment(page),
    )


def study_table(report: StudyReport) -> FileTable:
    headings = {"judge": "Judge", "with": "With", "pairs": "Pairs", "agreement": "Agreement"}
    headings |= {"kappa": "Kappa", "kappa_linear": "Linear-weighted kappa"}
    return FileTable(
        agreement_rows(report), headings, study_document(report), comment=f"Study {report.study.name}"
    )


def _document(page: ConfusionPage) -> dict[str, Any]:
    if page.report is None or page.compared is None:
        raise ValueError(page.message)
    return confusion_document(page.report) | {
        "sides": {"rows": side_label(page.compared.rows), "columns": side_label(page.compared.columns)},
        "filters": filters(page),
        "left_out": page.report.confusion.left_out,
        "verdicts": [asdict(category) for category in page.categories],
    }


def filters(page: ConfusionPage) -> dict[str, str]:
    return {
        name: page.form.chosen[name]
        for name in ("topic", "run", "tag", "importance", "made")
        if page.form.chosen[name]
    }


def _comment(page: ConfusionPage) -> str:
    if page.report is None:
        return ""
    found = page.report.confusion
    kappas = f"kappa {_figure(found.kappa)}, linear-weighted {_figure(found.kappa_linear)}"
    sides = "; ".join(f"{name.lower()}: {side}" for name, side in page.sides)
    return f"{sides}; {found.pairs} pairs, agreement {_figure(found.agreement)}, {kappas}; filters {filters(page)}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
