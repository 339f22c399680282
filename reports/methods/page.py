"""The methods page: paragraphs that paste into a paper, then the tables of the report in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from assessor.rules.clock import RULE_VERSION
from evaluation.models import Campaign, Protocol
from evaluation.stages import STAGES, stage_of
from evaluation.terms import Condition, NuggetSearch, Origin, PassageOrder, SupportCondition
from reports.files import Row, escaped
from reports.methods.document import (
    CONTENT_TYPES,
    WRITERS,
    MethodsForm,
    MethodsReport,
    MethodsSection,
    code_and_names,
)
from reports.methods.report import (
    AGREED,
    CHECKS,
    ENDS,
    JUDGES,
    SECOND_LOOKS,
    TABLES_OF,
    TAUS,
    TIMES,
    WORK,
    makes_lists,
    methods_report,
    people_who_practised,
    steps_of_llms,
)
from reports.metrics.agreement import ALL_TOPIC_RUN, RUN_LEVEL, TOPIC_AVERAGE
from reports.metrics.registry import BY_NAME
from reports.report import counted
from reports.views import get_campaign
from web.text import plural

OVER = {
    RUN_LEVEL: ("over", "run"),
    TOPIC_AVERAGE: ("averaged over", "topic"),
    ALL_TOPIC_RUN: ("over", "answer"),
}
CITATIONS = {
    SupportCondition.LLM: "citations judged by an LLM",
    SupportCondition.SCRATCH: "citations judged by people, unaided",
    SupportCondition.POST_EDIT: "citations judged by people who saw the LLM's labels",
}


def page_sections(report: MethodsReport) -> list[MethodsSection]:
    *parts, versions = report.sections
    [programs] = versions.tables
    rest = [row for row in programs.rows if not str(row["what"]).startswith(TABLES_OF)]
    return [*parts, replace(versions, tables=[replace(programs, rows=rest)])]


def prose(campaign: Campaign, report: MethodsReport) -> list[str]:
    sections = {section.title: section for section in report.sections}
    drawn = [text for title in (CHECKS, SECOND_LOOKS) if title in sections for text in sections[title].sentences]
    # The first sentence counts the people, which the paragraph says in more words.
    loaded_from_files = sections["Assessors and judges"].sentences[1:]
    paragraphs = [
        " ".join([*sections["Protocol"].sentences, *sections["Topics, runs and passages"].sentences]),
        " ".join(_judging(campaign.protocol, people_who_practised(campaign))),
        " ".join(_nuggets(campaign)),
        " ".join([*_people(report), *loaded_from_files]),
        _times(report),
        *_agreement(report),
        " ".join(sections["Agreement"].sentences),
        *drawn,
        " ".join(sections["Versions"].sentences),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def _rows(report: MethodsReport, columns: Mapping[str, str]) -> list[Row]:
    tables = (table for section in report.sections for table in section.tables)
    return [row for table in tables if table.columns is columns for row in table.rows]


def _first(number: int, noun: str) -> str:
    return f"the first {noun} is" if number == 1 else f"the first {number:,} {noun}s are"


def _judging(protocol: Protocol, practised: int) -> Iterator[str]:
    depth, citations, people = protocol.pool_depth, protocol.first_citations, protocol.overlap
    yield (
        f"Of each group and task {_first(depth, 'run')} judged, by priority." if depth else "All runs are judged."
    )
    yield f"Of each sentence {_first(citations, 'citation') if citations else 'every citation is'} judged."
    yield (
        f"A topic is judged by at most {people:,} {plural(people, 'assessor')}."
        if people
        else "A topic is judged by one assessor, and by more where somebody asks for it."
    )
    yield (
        "Assessors who label answers see which nuggets are vital."
        if protocol.show_importance
        else "The importance of nuggets is hidden from assessors who label answers."
    )
    if protocol.identical_once:
        yield "Answers with the very same text are judged once."
    if practised:
        yield f"{practised:,} {plural(practised, 'assessor')} practised on known items before judging."
    if protocol.nugget_sweep:
        yield "At the end of a topic they can go through the labels of each nugget once more."
    limits = (
        (protocol.answer_word_limit, "words"),
        (protocol.reference_limit, "references"),
        (protocol.citation_limit, "citations in a sentence"),
    )
    if texts := [f"{most:,} {noun}" for most, noun in limits if most]:
        yield f"Answers of more than {' or '.join(texts)} are reported."
    if protocol.topic_limit:
        yield "Answers of more characters than their topic allows are reported."


def _nuggets(campaign: Campaign) -> Iterator[str]:
    protocol = campaign.protocol
    grades = f"of grade {protocol.grade_threshold} and above, on a scale that ends at {protocol.relevance_max}"
    by_grade = protocol.passage_order == PassageOrder.RANK
    order = "the best graded first" if by_grade else "in an order that is shuffled by topic"
    if makes_lists(campaign):
        yield f"Nuggets come from the passages {grades}, read {order}."
    if protocol.group_overlaps:
        yield "Overlapping passages of a document stand together, and what repeats is grey."
    for stage in reversed(STAGES.values()):
        if stage.cap and (most := getattr(protocol, stage.cap)):
            yield f"A list from {stage.words} has at most {most:,} nuggets."
    if protocol.nugget_search != NuggetSearch.NONE:
        is_edited_only = protocol.nugget_search == NuggetSearch.EDITED
        where = "Where drafts are edited, passages" if is_edited_only else "Passages"
        yield f"{where} can be searched for a nugget's own words by one key."
    steps = steps_of_llms(campaign)
    if steps & {Origin.AUTO, Origin.DRAFT}:
        keeps = f" and keeps {protocol.nugget_cap:,}" if Origin.AUTO in steps else ""
        yield (
            f"An LLM reads {protocol.window_size:,} passages a call, and lets its list grow to "
            f"{protocol.draft_cap:,} nuggets{keeps}."
        )
    if "labels" in steps:
        yield f"An LLM labels at most {protocol.batch_size:,} nuggets of an answer in a call."


def _people(report: MethodsReport) -> Iterator[str]:
    rows = _rows(report, WORK)
    people = len({row["assessor"] for row in rows})
    tasks, submitted, second = (sum(row[name] for row in rows) for name in ("tasks", "submitted", "second"))
    if people:
        yield f"{people:,} {plural(people, 'assessor')} submitted {submitted:,} of {tasks:,} {plural(tasks, 'task')}."
    if second:
        yield f"{second:,} of the tasks {plural(second, 'is a second opinion', 'are second opinions')}."
    models = {row["judge"]: row["model"] for row in _rows(report, JUDGES) if row["kind"] == "LLM"}
    llms = [f"{judge} ({model})" if model not in ("", judge) else judge for judge, model in models.items()]
    if llms:
        yield f"Automatic labels and lists are by {listed(llms)}."


def _times(report: MethodsReport) -> str:
    medians = [
        f"{row['median_s'] / 60:.0f} min in {stage_of(row['stage']).words} ({row['topics']:,})"
        for row in _rows(report, TIMES)
        if row["median_s"] is not None
    ]
    if not medians:
        return "No time of judging is known."
    text = f"The median active time of a topic, with the number of topics, is {listed(medians)}."
    return f"{text} Only first submissions count, and idle time is left out by rule {RULE_VERSION}."


def listed(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


class _NamedConditions:
    """Conditions of a text: in words with the code where they come first, then those of nuggets by their code."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __call__(self, side: str) -> str:
        code, names = code_and_names(side)
        return f"{self._in_words(code)} by {names}" if names else self._in_words(code)

    def _in_words(self, code: str) -> str:
        is_first = code not in self.seen
        self.seen.add(code)
        if code in list(SupportCondition):
            text = CITATIONS[SupportCondition(code)]
            return f"{text} ({code})" if is_first else text
        nuggets, labels = Condition(code).words.split(", ")
        return f"{nuggets[:1].lower()}{nuggets[1:]} with {labels} ({code})" if is_first else code


def _agreement(report: MethodsReport) -> list[str]:
    side = _NamedConditions()
    taus = [row for row in _rows(report, TAUS) if row["tau_b"] is not None]
    ranked = []
    for (x, y, score), rows in groupby(taus, key=lambda row: (row["x"], row["y"], row["score"])):
        levels = list(rows)
        figures = [
            f"{_figure(row['tau_b'], row)} {over} {counted(row['n'], noun)}{_without_tau(row)}"
            for row in levels
            for over, noun in (OVER[row["level"]],)
        ]
        of_score = f"Kendall's tau-b ({BY_NAME[score].spoken})"
        topics = counted(levels[0]["topics"], "common topic")
        ranked.append(f"{of_score} of {side(x)} and {side(y)} is {listed(figures)}, for their {topics}.")
    ends = {(row["x"], row["y"], row["figure"]): row for row in _rows(report, ENDS)}
    same = []
    for row in _rows(report, AGREED):
        x, y = row["x"], row["y"]
        share = f"{100 * row['agreement']:.1f} % of {row['pairs']:,} pairs"
        kappa = row["kappa"]
        text = "undefined" if kappa is None else _figure(kappa, ends.get((x, y, "kappa"), {}))
        same.append(f"The labels of {side(x)} and {side(y)} agree in {share}; Cohen's kappa is {text}.")
    return [" ".join(ranked), " ".join(same)]


def _without_tau(row: Row) -> str:
    undefined = row["undefined_topics"]
    return f" ({undefined:,} more have none)" if undefined else ""


def _figure(value: float, ends: Mapping[str, Any]) -> str:
    low, high = ends.get("low"), ends.get("high")
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f} to {high:.3f})"


@require_safe
def methods(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    report = methods_report(campaign)
    paragraphs = prose(campaign, report)
    context = {
        "campaign": campaign,
        "report": {"sections": page_sections(report)},
        "prose": paragraphs,
        "prose_text": "\n\n".join(paragraphs),
        "prose_latex": "\n\n".join(map(escaped, paragraphs)),
        "forms": list(MethodsForm),
    }
    return render(request, "reports/methods.html", context)


@require_safe
def methods_file(request: UserRequest, slug: str, document: MethodsForm) -> HttpResponse:
    report = methods_report(get_campaign(request, slug))
    response = HttpResponse(WRITERS[document](report), content_type=CONTENT_TYPES[document])
    response["Content-Disposition"] = f'attachment; filename="{slug}-methods.{document}"'
    return response
