"""Descriptives: nugget sets, labels and edits in figures, and their page."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from django import forms
from django.http import QueryDict

from evaluation.domain.conditions import NuggetCondition, judges_of, nugget_sets_of, only_set, whole
from evaluation.domain.lineage import Derivation, Wording, derivations
from evaluation.domain.shares import Topics
from evaluation.errors import Refused
from evaluation.labels import NUGGET_LABELS
from evaluation.models import Campaign, ListedNugget, NuggetList, NuggetSet
from evaluation.terms import Condition, JudgeKind, Origin
from reports import charts, needs
from reports.cache import cached_report
from reports.document import NUGGETS, Document
from reports.forms import ALL, ChoicesForm, name_options, tag_field
from reports.frames import assignment_sheet, rows_of
from reports.metrics.arrays import share
from reports.metrics.descriptives import label_shares, nugget_statistics, word_count
from reports.metrics.edits import EDIT_CLASSES, NuggetText, TopicEdits, topic_edits
from reports.metrics.label_matrix import AssignmentSheet
from reports.registry import Choices, document, report
from reports.report import (
    NUGGET_LABEL,
    OVERVIEW,
    Chart,
    ColumnKind,
    ReportContent,
    Row,
    Section,
    columns,
    counted,
    isolated,
    of_kind,
    sentences,
    tag_text,
)
from web.consistent_read import consistent_read

AUTHORS_FLAGS = "edit_meta"
STATISTICS = ("topics", "nuggets_per_topic", "words_per_nugget", "vital", "okay", "unknown")
Edited = list[tuple[Topics, NuggetSet, NuggetSet]]
"""Topics of each edited set, the set, and its drafts."""
MOST_BARS = 30
SPOKEN = {label.word: label.spoken for label in NUGGET_LABELS.degrees}
DESCRIPTIVES_COLUMNS = columns(
    ("name", "Condition or set", ColumnKind.CONDITION),
    ("nuggets", "Nugget set"),
    ("judge", "Labels by"),
    ("topics", "Topics", ColumnKind.COUNT),
    *of_kind(ColumnKind.MEAN, nuggets_per_topic="Nuggets per topic", words_per_nugget="Words per nugget"),
    *of_kind(ColumnKind.SHARE, vital="Vital", okay="Okay", unknown="Unknown"),
    *of_kind(ColumnKind.SHARE, **{word: NUGGET_LABELS.headings[word] for word in NUGGET_LABELS.scale}),
    ("labels", "Labels", ColumnKind.COUNT),
    screen="nuggets judge unknown labels",
)


def descriptives(campaign: Campaign, topics: Topics = None) -> list[dict[str, Any]]:
    """Describe every nugget set, then every condition, a set and a judge's labels of it; in some topics, or all."""
    sets, judged = [], []
    for nugget_set in sets_with_lists(campaign):
        statistics = _statistics(campaign, nugget_set, topics)
        no_labels = dict.fromkeys((*NUGGET_LABELS.scale, "labels"))
        sets.append({"condition": "", "nuggets": nugget_set.name, "judge": ""} | statistics | no_labels)
        for judge in judges_of(nugget_set) if nugget_set.origin != Origin.DRAFT else ():
            condition = Condition.of(Origin(nugget_set.origin), JudgeKind(judge.kind))
            choice = whole(campaign, condition, nugget_set, judge)
            labels, shares = label_shares(_sheet(choice, topics).labels)
            head = {"condition": condition, "nuggets": nugget_set.name, "judge": judge.name}
            by_label = dict(zip(NUGGET_LABELS.scale, shares, strict=True))
            judged.append(head | statistics | by_label | {"labels": labels})
    return [*sets, *judged]


def sets_with_lists(campaign: Campaign) -> list[NuggetSet]:
    return list(campaign.nugget_sets.filter(pk__in=_with_lists(campaign)).select_related("judge"))


def _with_lists(campaign: Campaign) -> set[int]:
    """Return the keys of the sets that have a submitted list: a task's set is empty until then."""
    lists = NuggetList.objects.filter(nugget_set__campaign=campaign, submitted=True)
    return set(lists.values_list("nugget_set", flat=True).distinct())


def _sheet(choice: NuggetCondition, topics: Topics) -> AssignmentSheet:
    sheet = assignment_sheet(choice)
    if topics is None:
        return sheet
    names = choice.campaign.topics.filter(pk__in=topics).values_list("topic_id", flat=True)
    return sheet.of_topics(rows_of(sheet.topic_ids, frozenset(names)))


def _lists_in(nugget_set: NuggetSet, topics: Topics) -> list[list[NuggetText]]:
    return [listed for topic, listed in lists_of(nugget_set).items() if topics is None or topic in topics]


def _statistics(campaign: Campaign, nugget_set: NuggetSet, topics: Topics) -> dict[str, float | None]:
    # Any condition will do: without a judge the sheet has the set's nuggets and no label.
    sheet = _sheet(whole(campaign, Condition.AA, nugget_set, None), topics)
    texts = [nugget.text for listed in _lists_in(nugget_set, topics) for nugget in listed]
    words = np.array([word_count(text) for text in texts], dtype=np.int32)
    return nugget_statistics(sheet.listed, sheet.nugget_topic, sheet.importance, words)


def lists_of(nugget_set: NuggetSet) -> dict[int, list[NuggetText]]:
    """Return the newest submitted list of each topic, by the topic's primary key; empty lists too."""
    lists = NuggetList.objects.newest_submitted().filter(nugget_set=nugget_set).order_by("pk")
    newest = dict(lists.values_list("topic__pk", "pk"))
    # What is in no score is in no statistics either.
    items = ListedNugget.objects.filter(nugget_list__in=lists).counted_by(nugget_set.campaign.protocol.scoring)
    items = items.order_by("nugget_list", "position")
    texts: dict[int, list[NuggetText]] = defaultdict(list)
    for pk, text, importance in items.values_list("nugget_list", "nugget_version__text", "importance"):
        texts[pk].append(NuggetText(text, importance))
    return {topic: texts[pk] for topic, pk in newest.items()}


@dataclass(frozen=True, slots=True)
class EditReport:
    """Edits of the drafts. `inferred`: of some topic no lineage was recorded, so texts were matched.

    `rows`: the topics that show each class, as a share too, ours and as the authors' own flags say.
    """

    nuggets: str
    drafts: str
    topics: int
    inferred: bool
    rows: tuple[dict[str, Any], ...]


def edit_report(campaign: Campaign, *, nuggets: str = "", drafts: str = "", topics: Topics = None) -> EditReport:
    """Classify the edits of edited lists against their drafts: of the set named, the default of E/M, or the only one.

    If people share the topics, each topic's list is by the person who was handed it. `topics`: only these.
    Raises `Refused` where several sets fit, or none.
    """
    edited = _edited(campaign, nuggets, drafts)
    edits = [edits_of(derivation) for derivation in _derived(edited, topics)]
    authors = [flags for _, edited_set, _ in edited for flags in _authors_flags(edited_set, topics)]
    counts = Counter(name for edit in edits for name in edit.classes)
    return EditReport(
        nuggets=", ".join(edited_set.name for _, edited_set, _ in edited),
        drafts=", ".join(dict.fromkeys(draft_set.name for _, _, draft_set in edited)),
        topics=len(edits),
        inferred=any(edit.inferred for edit in edits),
        rows=tuple(
            {"edit": name, "topics": counts[name], "share": share(counts[name], len(edits))}
            | {"authors_share": _authors_share(name, authors)}
            for name in EDIT_CLASSES
        ),
    )


def derived_by_topic(campaign: Campaign, topics: Topics) -> list[tuple[str, Derivation]]:
    """Return each topic's drafts and edited list, in the order of topics. Raises `Refused` as `edit_report` does."""
    by_topic = {derivation.topic: derivation for derivation in _derived(_edited(campaign, "", ""), topics)}
    names = campaign.topics.filter(pk__in=by_topic).values_list("pk", "topic_id")
    return [(name, by_topic[pk]) for pk, name in names]


def _edited(campaign: Campaign, nuggets: str, drafts: str) -> Edited:
    """Return the edited sets that E/M means. Raises `Refused` where several sets fit, or none."""
    edited = nugget_sets_of(campaign, Condition.EM, nuggets=nuggets, among=_with_lists(campaign))
    if not edited:
        raise Refused("no_such_set", "There is no edited nugget set.")
    # Lists may come from files that record no drafts: then the set has to be named, or be the only one.
    return [
        (topics, edited_set, (None if drafts else edited_set.drafts) or _drafts(campaign, drafts))
        for edited_set, topics in edited
    ]


def _derived(edited: Edited, topics: Topics) -> list[Derivation]:
    # Of people who share the topics each one's list counts only where the topic was handed to them.
    return [
        derivation
        for own, edited_set, draft_set in edited
        for derivation in derivations(edited_set, draft_set)
        if (own is None or derivation.topic in own) and (topics is None or derivation.topic in topics)
    ]


def edits_of(derivation: Derivation) -> TopicEdits:
    return topic_edits(_texts(derivation.drafts), _texts(derivation.nuggets), derivation.parents)


def _texts(wordings: Sequence[Wording]) -> list[NuggetText]:
    return [NuggetText(wording.text, wording.importance) for wording in wordings]


def _drafts(campaign: Campaign, name: str) -> NuggetSet:
    sets = campaign.nugget_sets.filter(origin__in=[Origin.DRAFT, Origin.AUTO], pk__in=_with_lists(campaign))
    drafts = only_set(list(sets.filter(name=name) if name else sets), "the edited lists", "drafts")
    if not drafts:
        name_text = f" {name}" if name else ""
        raise Refused("no_such_set", f"There is no draft or auto nugget set{name_text}.")
    return drafts


def _authors_flags(nugget_set: NuggetSet, topics: Topics) -> list[set[str]]:
    """Return, per topic whose file carries the authors' own flags, the classes they reported."""
    lists = NuggetList.objects.filter(nugget_set=nugget_set, submitted=True)
    lists = lists if topics is None else lists.filter(topic__in=topics)
    extras = lists.values_list("extra", flat=True)
    # A list comes from a file, whose other keys are kept as they are: the flags may be of any form.
    flags = [extra[AUTHORS_FLAGS] for extra in extras if isinstance(extra.get(AUTHORS_FLAGS), dict)]
    return [{name for name, flag in flagged.items() if flag} or {"no_edit"} for flagged in flags]


def _authors_share(name: str, authors: list[set[str]]) -> float | None:
    # A class that the authors flagged nowhere may be one that they had no flag for: no share, and not 0.
    is_flagged = name == "no_edit" or any(name in flags for flags in authors)
    return share(sum(name in flags for flags in authors), len(authors)) if is_flagged else None


def descriptive_rows(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the rows as files have them: the number of labels is on the page alone."""
    rows = []
    for row in descriptives(campaign):
        condition, nuggets, judge = (row[name] for name in ("condition", "nuggets", "judge"))
        head = {"condition": condition, "judge": judge, "set": nuggets} if condition else {"nuggets": nuggets}
        rows.append(head | _without(row, {"condition", "nuggets", "judge", "labels"}))
    return rows


def _without(row: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


class DescriptivesForm(ChoicesForm):
    tag = tag_field()
    listed_in = forms.ChoiceField(required=False, label="Only topics of")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query, campaign)
        self.offer("listed_in", name_options(campaign.nugget_sets.values_list("name", flat=True), ALL))


@report(
    "descriptives",
    title="Descriptives",
    form=DescriptivesForm,
    menu="Results",
    order=100,
    needs=(needs.NUGGETS_OR_DRAFTS,),
)
def descriptives_page(form: DescriptivesForm) -> ReportContent:
    return _content(form.campaign, form.chosen["tag"], form.chosen["listed_in"])


@document("descriptives", "Nugget sets and labels in figures.")
def descriptives_document(campaign: Campaign, _choices: Choices) -> Document:
    rows = descriptive_rows(campaign)
    return Document({"rows": rows}, rows, "Shares are fractions; labels are those that were given.")


@document(
    "edits",
    "What assessors did to the drafts.",
    [
        replace(NUGGETS, text="the edited set, where several fit"),
        replace(NUGGETS, name="drafts", text="what it was made from, where not recorded"),
    ],
)
def edits_document(campaign: Campaign, choices: Choices) -> Document:
    edits = edit_report(campaign, nuggets=choices["nuggets"], drafts=choices["drafts"])
    content = asdict(edits)
    how = "inferred from the texts" if edits.inferred else "from the recorded lineage"
    text = f"{edits.nuggets} against {edits.drafts}, {edits.topics} topics, {how}."
    return Document(content, content["rows"], text)


@cached_report(size=16)
def _content(campaign: Campaign, tag: str, listed_in: str) -> ReportContent:
    with consistent_read():
        topics = chosen_topics(campaign, tag, listed_in)
        rows = descriptives(campaign, topics)
        lists = [(nugget_set.name, _lists_in(nugget_set, topics)) for nugget_set in sets_with_lists(campaign)]
    all_topics = campaign.topics.count() if topics is None else len(topics)
    facts = sentences(
        f"{counted(all_topics, 'topic')}.",
        tag_text(tag),
        f"Only topics for which {isolated(listed_in)} has a list." if listed_in else "",
        "Nuggets per topic count empty lists; words and importance are over nuggets, labels over those given.",
    )
    per_topic = [(name, [len(listed) for listed in own]) for name, own in lists]
    words = [(name, [word_count(nugget.text) for listed in own for nugget in listed]) for name, own in lists]
    sections = (
        _overview(rows),
        _distribution("sizes", "Nuggets per topic", "topics", per_topic),
        _distribution("words", "Words per nugget", "nuggets", words),
    )
    return ReportContent(facts, sections)


def chosen_topics(campaign: Campaign, tag: str, listed_in: str = "") -> Topics:
    """Return the primary keys of the topics with a tag that a set has a submitted list for; None for all."""
    if not tag and not listed_in:
        return None
    topics = campaign.topics.filter(tags__name=tag) if tag else campaign.topics.all()
    if listed_in:
        lists = NuggetList.objects.newest_submitted().filter(
            nugget_set__campaign=campaign, nugget_set__name=listed_in
        )
        topics = topics.filter(pk__in=lists.values("topic"))
    return frozenset(topics.values_list("pk", flat=True))


def _overview(rows: list[dict[str, Any]]) -> Section:
    table_rows = [{"name": row["condition"] or row["nuggets"]} | _without(row, {"condition"}) for row in rows]
    return Section(
        name=OVERVIEW,
        title="Nugget sets and conditions",
        labels=NUGGET_LABEL,
        columns=DESCRIPTIVES_COLUMNS,
        rows=table_rows,
        note="Every nugget set, then every condition in which somebody has judged.",
        chart=_label_chart([row for row in table_rows if row["labels"]]),
        topics="topics",
    )


def labels_alt(labels: str, conditions: int) -> str:
    return f"Shares of {labels} in {counted(conditions, 'condition')}."


def _label_chart(rows: list[dict[str, Any]]) -> Chart | None:
    if not rows:
        return None
    names = [f"{row['name']} by {row['judge']}" for row in rows]
    bars = [
        # A judge may label several lists of a condition: bars of one name would lie on each other.
        {"name": name if names.count(name) == 1 else f"{name} of {row['nuggets']}"}
        | {"part": spoken, "share": row[word]}
        for row, name in zip(rows, names, strict=True)
        for word, spoken in SPOKEN.items()
    ]
    return Chart(
        alt=labels_alt("nugget labels", len(rows)),
        draw=lambda palette: charts.stacked(palette, bars, list(SPOKEN.values()), "share of nugget labels"),
        note="Nugget labels by condition.",
    )


def _distribution(name: str, title: str, of: str, series: list[tuple[str, list[int]]]) -> Section:
    bars = histogram_rows(series)
    chart = Chart(
        alt=f"{title} of {counted(len(series), 'nugget set')}, as histograms.",
        draw=lambda palette: charts.histograms(palette, bars, title.lower(), of),
    )
    return Section(
        name=name,
        title=title,
        columns=columns(("nuggets", "Nugget set"), *SPREAD_COLUMNS),
        rows=[spread_row({"nuggets": nuggets}, counts) for nuggets, counts in series],
        chart=chart if bars else None,
        # Words rest on nuggets, of which there is no fewest: only the first table greys a figure of few topics.
        topics="n" if of == "topics" else None,
    )


def spread_row(name: dict[str, Any], values: Sequence[float]) -> Row:
    """Return a distribution as a row: n, mean, quartiles and ends; None where there is nothing."""
    keys = ("min", "q1", "median", "q3", "max")
    quantiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist() if len(values) else [None] * len(keys)
    mean = float(np.mean(values)) if len(values) else None
    return name | {"n": len(values), "mean": mean} | dict(zip(keys, quantiles, strict=True))


SPREAD_COLUMNS: Final = (
    ("n", "n", ColumnKind.COUNT),
    ("mean", "Mean", ColumnKind.MEAN),
    *of_kind(ColumnKind.DECIMAL, min="Min", q1="q1", median="Median", q3="q3", max="Max"),
)


def histogram_rows(series: Iterable[tuple[str, Sequence[int]]]) -> list[dict[str, Any]]:
    """Return whole numbers counted into bars of one width for all series, at most `MOST_BARS` of them."""
    arrays = [(name, np.array(values)) for name, values in series if len(values)]
    if not arrays:
        return []
    highest = max(int(values.max()) for _, values in arrays)
    # Rounded up, and the same for all series: bars of two widths cannot be compared by their height.
    step = -(-(highest + 1) // MOST_BARS)
    rows = []
    for name, values in arrays:
        starts, counts = np.unique(values // step * step, return_counts=True)
        rows += [
            {"name": name, "value": start, "end": start + step, "count": count, "step": step}
            for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        ]
    return rows
