"""Judges compared: which judge ranks runs as the truth does, and which two are told apart."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone

from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import JudgeKind
from reports import charts, needs
from reports.cache import cached_report
from reports.files import with_code
from reports.forms import (
    CONDITIONS,
    ChoicesForm,
    external_names,
    labelled_conditions,
    labelled_sets,
    name_options,
)
from reports.judges.documents import DEFAULT, WARN, JudgesRequest, facts, judges_document
from reports.judges.tables import judge_tables
from reports.metrics.rank_correlations import METHODS, CorrelationMethod
from reports.metrics.registry import BY_NAME, OF_NUGGETS, measure_words
from reports.profiles import score_choices
from reports.registry import report
from reports.report import (
    OVERVIEW,
    Chart,
    ColumnKind,
    Report,
    ReportContent,
    Row,
    Section,
    columns,
    counted,
    report_of,
)

TITLE = "Judges compared"
WORDS = {
    "kendall": "Kendall's tau-b",
    "spearman": "Spearman's rho",
    "pearson": "Pearson's r",
    "tauap": "tau-AP",
    "tauap_a": "tau-AP, the judge's ties",
    "tauap_b": "tau-AP, ties of both",
    "tau_gap": "tau-gap",
    "rbo": "RBO, rank-biased",
}


class JudgesForm(ChoicesForm):
    truth = forms.ChoiceField(label="Truth", required=False)
    truth_measure = forms.ChoiceField(label="Scored", required=False)
    correlation = forms.ChoiceField(label="Correlation", choices=[(name, WORDS[name]) for name in METHODS])
    top = forms.IntegerField(label="Only the best by truth", required=False, min_value=3, max_value=100_000)
    judge_measure = forms.ChoiceField(label="Judges scored by", required=False)
    missing_runs = forms.ChoiceField(
        label="Runs that one side lacks",
        choices=[(WARN, "are left out"), (DEFAULT, "score 0 where a judge lacks them")],
        initial=WARN,
    )
    needless = ("judge_measure", "truth_measure")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        tables = judge_tables(campaign)
        conditions = labelled_conditions(labelled_sets(campaign))
        people = [condition.value for condition in conditions if condition.judge_kind is JudgeKind.HUMAN]
        names = external_names(campaign)
        truth = next(iter([*people, *names]), "")
        super().__init__(query, campaign, {"truth": truth, "correlation": "kendall"})
        others = [("", "choose one"), *((code, words) for code, words in CONDITIONS if code in list(conditions))]
        self.offer("truth", name_options(names, *others))
        if (chosen := self.data.get("truth")) in names:
            own = [table.measure for table in tables if table.name == chosen]
            self.offer("truth_measure", [*([("", "choose one")] if len(own) > 1 else []), *_options(own)])
            if len(own) == 1:
                self.fields["truth_measure"].initial = own[0]
        else:
            self.offer("truth_measure", [("", "by the primary score"), *score_choices(OF_NUGGETS, sizes=False)])
        measures = sorted({table.measure for table in tables if table.name != chosen})
        self.offer("judge_measure", [("", "all"), *_options(measures)])


def _options(measures: Iterable[str]) -> list[tuple[str, str]]:
    return [(measure, measure_words(measure)) for measure in measures]


@report("judges", title=TITLE, form=JudgesForm, menu="Results", order=85, needs=(needs.TRUTH, needs.JUDGES))
def judges_page(campaign: Campaign, query: QueryDict) -> Report:
    form = JudgesForm(query, campaign)

    def content() -> ReportContent:
        chosen = form.chosen
        if not chosen["truth"]:
            raise Refused("no_truth", needs.TRUTH.lack.text)
        method = CorrelationMethod(chosen["correlation"], chosen["top"])
        measures = (chosen["judge_measure"],) if chosen["judge_measure"] else ()
        return _content(
            JudgesRequest(
                campaign, chosen["truth"], chosen["truth_measure"], measures, (method,), chosen["missing_runs"]
            )
        )

    return report_of(form, TITLE, query, content)


@cached_report(size=16)
def _content(request: JudgesRequest) -> ReportContent:
    content, [method] = judges_document(request), request.methods
    sections = [_overview(content, method), _differences(content, method)]
    return ReportContent(
        tuple(facts(_in_words(content))), tuple(section for section in sections if section.rows), timezone.now()
    )


def _in_words(content: Mapping[str, Any]) -> dict[str, Any]:
    judges = [
        row | {"judge": with_code(row["judge"]), "measure": _spoken(row["measure"])} for row in content["judges"]
    ]
    words = {"truth": with_code(content["truth"]), "truth_measure": _spoken(content["truth_measure"])}
    return {**content, **words, "judges": judges}


def _spoken(measure: str) -> str:
    return BY_NAME[measure].spoken if measure in BY_NAME else measure


def _overview(content: Mapping[str, Any], method: CorrelationMethod) -> Section:
    bars = [_bar(row, str(method)) for row in content["judges"] if row[str(method)] is not None]
    return Section(
        name=OVERVIEW,
        title="Judges",
        columns=columns(
            ("judge", "Judge", ColumnKind.CONDITION),
            *_filled(content, method="Method", model="Model"),
            ("measure", "Measure", ColumnKind.MEASURE),
            (str(method), _caption(method), ColumnKind.SCORE),
            ("runs", "Runs", ColumnKind.COUNT),
            ("topics", "Topics", ColumnKind.COUNT),
            *_filled(content, reason="Why none"),
            primary=str(method),
            screen="reason",
        ),
        rows=content["judges"],
        topics="topics",
        document=lambda: content,
        chart=Chart(
            alt=f"{counted(len(bars), 'judge')} by {_caption(method)} with the truth, with intervals.",
            draw=lambda palette: charts.ranking(bars, str(method), _caption(method), palette),
            shown=bool(bars),
        ),
    )


def _filled(content: Mapping[str, Any], **captions: str) -> list[tuple[str, str]]:
    """Return those columns that some judge has something in."""
    rows = content["judges"]
    return [(name, caption) for name, caption in captions.items() if any(row[name] for row in rows)]


def _bar(row: Row, method: str) -> dict[str, Any]:
    ends = row["intervals"][method]
    names = {"run_id": f"{with_code(row['judge'])}, {measure_words(row['measure'])}", "task": ""}
    return names | {method: row[method], "low": ends["low"], "high": ends["high"]}


def _differences(content: Mapping[str, Any], method: CorrelationMethod) -> Section:
    return Section(
        name="differences",
        title="Every two judges",
        columns=columns(
            ("judge", "Judge", ColumnKind.CONDITION),
            ("measure", "Measure", ColumnKind.MEASURE),
            ("other", "Less", ColumnKind.CONDITION),
            ("other_measure", "Its measure", ColumnKind.MEASURE),
            ("difference", f"Difference in {_caption(method)}", ColumnKind.SIGNED),
            ("p", "p", ColumnKind.P),
            ("verdict", "Verdict"),
        ),
        rows=content["differences"],
        note="Both judges are asked about the same draws of topics.",
    )


def _caption(method: CorrelationMethod) -> str:
    return WORDS[method.name] + (f", {method.top} best" if method.top else "")
