"""Nuggets: how often each is found and by which runs, vital against okay, drafts against final lists."""

from collections.abc import Sequence

import numpy as np

from evaluation.domain.conditions import NuggetCondition
from evaluation.domain.lineage import Derivation
from evaluation.errors import Refused
from evaluation.labels import NUGGET_LABELS
from evaluation.models import Campaign
from reports import charts, needs
from reports.cache import cached_report
from reports.forms import NuggetsForm
from reports.frames import assignment_sheet, nugget_texts, rows_of, tagged
from reports.metrics.arrays import Booleans, defined
from reports.metrics.descriptives import STEPS, NuggetFindings, group_of, nugget_findings, share_counts
from reports.metrics.edits import EDIT_CLASSES
from reports.metrics.label_matrix import FULL, OKAY, UNKNOWN, VITAL, AssignmentSheet
from reports.nuggets.descriptives import chosen_topics, derived_by_topic, edit_report, edits_of
from reports.registry import report
from reports.report import (
    NUGGET_LABEL,
    OVERVIEW,
    Chart,
    ColumnKind,
    ReportContent,
    Row,
    Rows,
    Section,
    choice_text,
    columns,
    counted,
    isolated,
    of_kind,
    sentences,
    tag_text,
    topics_with_nuggets,
)
from web.consistent_read import consistent_read
from web.words import word_of

IMPORTANCES = {"vital": VITAL, "okay": OKAY, "unknown": UNKNOWN}
WORDS = {code: word for word, code in IMPORTANCES.items()}
GROUP_COLUMNS = columns(
    ("importance", "Importance"),
    *of_kind(ColumnKind.COUNT, nuggets="Nuggets", judged="Judged"),
    *of_kind(ColumnKind.SHARE, share="Found in full", partial="In part"),
    *of_kind(ColumnKind.COUNT, nobody="By nobody", everybody="By everybody"),
    primary="share",
)
NUGGET_COLUMNS = columns(
    ("topic_id", "Topic", ColumnKind.TOPIC),
    ("nugget", "Nugget"),
    ("importance", "Importance"),
    ("share", "Found in full", ColumnKind.SHARE),
    *of_kind(ColumnKind.COUNT, **NUGGET_LABELS.headings, unjudged="Unjudged"),
    ("runs", "Found in full by", ColumnKind.NAMES),
    primary="share",
    screen="unjudged runs",
)


@report(
    "nuggets",
    title="Nuggets",
    form=NuggetsForm,
    text="How often each nugget is found, and by which runs.",
    menu="Results",
    order=70,
    needs=(needs.NUGGETS,),
)
def nuggets_page(form: NuggetsForm) -> ReportContent:
    return _content(form.resolve(), form.chosen["tag"], (form.chosen["importance"], form.chosen["found"]))


@cached_report(size=16)
def _content(choice: NuggetCondition, tag: str, limits: tuple[str, str]) -> ReportContent:
    with consistent_read():
        sheet, texts = assignment_sheet(choice), nugget_texts(choice)
        in_tag = rows_of(sheet.topic_ids, tagged(choice.campaign, tag))[sheet.nugget_topic]
        edits = _edits(choice.campaign, tag)
    findings = nugget_findings(sheet)
    sections = (_overview(sheet, findings, in_tag), _nuggets(sheet, findings, texts, in_tag, limits), *edits)
    listed = sheet.scorable & rows_of(sheet.topic_ids, tagged(choice.campaign, tag))
    facts = sentences(
        choice_text(choice),
        topics_with_nuggets(int(listed.sum())),
        tag_text(tag),
        "Shares are of the submitted answers with a label of the nugget; missing answers and unjudged or failed "
        "labels are left out and counted.",
    )
    return ReportContent(facts, sections)


def _overview(sheet: AssignmentSheet, findings: NuggetFindings, mask: Booleans) -> Section:
    rows, bars = [], []
    for word, code in IMPORTANCES.items():
        nuggets = mask & (sheet.importance == code)
        if not nuggets.any():  # most campaigns have no nugget of unknown importance
            continue
        rows.append({"importance": word} | group_of(findings, nuggets))
        counts = share_counts(findings, nuggets)
        bars += [
            {"bin": step, "part": word, "share": count / counts.sum()}
            for step, count in zip(STEPS, counts.tolist(), strict=True)
            if counts.sum()  # none of them is judged yet: no bar, and no share of nothing
        ]
    parts = list(dict.fromkeys(bar["part"] for bar in bars))
    titles = ("found in full by this share of the runs", "share of nuggets")
    chart = Chart(
        alt=f"How many runs find {' and '.join(parts)} nuggets in full, by nugget labels, as bars.",
        draw=lambda palette: charts.side_by_side(palette, bars, parts, titles),
        note="Judged nuggets by the share of runs that have them in full.",
        # The page's own list of nuggets tells apart those of no run, of some and of all.
        links={f"{bar['bin']}, {bar['part']}": _nuggets_link(bar["bin"], bar["part"]) for bar in bars},
    )
    return Section(
        name=OVERVIEW,
        title="Vital against okay",
        labels=NUGGET_LABEL,
        columns=GROUP_COLUMNS,
        rows=rows,
        note="By nobody: no judged answer has it, not even in part. By everybody: every judged answer has it in full.",
        chart=chart if bars else None,
        topics=len(np.unique(sheet.nugget_topic[mask])),
    )


def _nuggets_link(step: str, importance: str) -> str:
    return f"?importance={importance}&found={step if step in ('nobody', 'everybody') else 'some'}#nuggets"


def _nuggets(
    sheet: AssignmentSheet,
    findings: NuggetFindings,
    texts: Sequence[str],
    in_tag: Booleans,
    limits: tuple[str, str],
) -> Section:
    mask = in_tag & _within(sheet, findings, limits)
    runs = np.array(sheet.run_ids, dtype=object)
    has = (sheet.labels == FULL) & sheet.answered[sheet.nugget_topic]
    places, labels = np.flatnonzero(mask).tolist(), dict(zip(NUGGET_LABELS.scale, findings.labels, strict=True))

    def row_at(at: int) -> Row:
        place = places[at]
        return {
            "topic_id": sheet.topic_ids[sheet.nugget_topic[place]],
            "nugget": texts[place],
            "importance": WORDS[int(sheet.importance[place])],
            "share": defined(findings.share[place]),
            **{word: int(labels[word][place]) for word in NUGGET_LABELS.words},
            "unjudged": int(findings.unjudged[place]),
            "runs": " ".join(runs[np.unique(sheet.column_run[has[place]])]),
        }

    count = len(places)
    return Section("nuggets", counted(count, "nugget"), NUGGET_COLUMNS, Rows(count, row_at), labels=NUGGET_LABEL)


def _within(sheet: AssignmentSheet, findings: NuggetFindings, limits: tuple[str, str]) -> Booleans:
    importance, finders = limits
    mask: Booleans = np.ones(len(sheet.importance), dtype=np.bool_)
    if importance:
        mask &= sheet.importance == IMPORTANCES[importance]
    by_finders = {"nobody": findings.nobody, "everybody": findings.everybody}
    by_finders["some"] = (findings.judged > 0) & ~findings.nobody & ~findings.everybody
    return mask & by_finders[finders] if finders else mask


def _edits(campaign: Campaign, tag: str) -> list[Section]:
    """Return the sections of edits; one section with the reason where they cannot be told."""
    topics = chosen_topics(campaign, tag)
    try:
        report, by_topic = edit_report(campaign, topics=topics), derived_by_topic(campaign, topics)
    except Refused as refused:
        return [Section("edits", "Drafts against final lists", (), [], note=refused.message)]
    note = f"{isolated(report.nuggets)} against {isolated(report.drafts)}, {counted(report.topics, 'topic')}."
    if report.inferred:  # matched texts know no splits and no merges, so the reader has to know
        note += " Some lists have no recorded lineage: their texts were matched."
    rows = [row | {"edit": word_of(row["edit"])} for row in report.rows]
    bars = [{"name": row["edit"], "part": "topics", "share": row["share"]} for row in rows if row["share"]]
    chart = Chart(
        alt="Share of topics that show each kind of edit.",
        draw=lambda palette: charts.stacked(palette, bars, ["topics"], "share of topics"),
    )
    edit_columns = columns(
        ("edit", "Edit"),
        ("topics", "Topics", ColumnKind.COUNT),
        *of_kind(ColumnKind.SHARE, share="Share of topics", authors_share="By the authors' own flags"),
    )
    incidence = Section(
        name="edits",
        title="Drafts against final lists",
        columns=edit_columns,
        rows=rows,
        note=note,
        chart=chart if bars else None,
        topics=report.topics,
    )
    return [incidence, _edited_topics(by_topic)]


def _edited_topics(by_topic: Sequence[tuple[str, Derivation]]) -> Section:
    rows = [
        {
            "topic_id": topic_id,
            "drafts": len(derivation.drafts),
            "nuggets": len(derivation.nuggets),
            "edits": ", ".join(word_of(name) for name in EDIT_CLASSES if name in edits.classes),
            "lineage": "inferred" if edits.inferred else "recorded",
        }
        for topic_id, derivation in by_topic
        for edits in (edits_of(derivation),)
    ]
    topic_columns = columns(
        ("topic_id", "Topic", ColumnKind.TOPIC),
        *of_kind(ColumnKind.COUNT, drafts="Drafts", nuggets="Final"),
        ("edits", "Edits"),
        ("lineage", "Lineage"),
    )
    return Section("edited-topics", "Edits topic by topic", topic_columns, rows)
