"""The methods section of a paper, written from what is stored: how a campaign was judged, by whom, how far it agrees.

People stand as Assessor 1, 2 and so on, always: what is printed here is meant to be printed elsewhere.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any, Final

import django
import numpy as np
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from assessor.models import PracticeAnswer
from assessor.rules.clock import RULE_VERSION
from evaluation.battles import BattleLook
from evaluation.campaigns.pseudonyms import Hiding, Names, anonymous, without_people
from evaluation.domain.conditions import NuggetCondition, readings, readings_of_citations, told_apart
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    BattleSet,
    Campaign,
    Finding,
    Judge,
    ListedNugget,
    NuggetList,
    Qrel,
    Run,
    SampledBattle,
    Segment,
    SupportJudgment,
    Task,
    Verdict,
)
from evaluation.rules.places import words_in
from evaluation.rules.protocol import GUIDELINES, SETTINGS
from evaluation.terms import BattleShow, Condition, JudgeKind, Origin, SupportCondition, TaskState
from reports.agreement.figures import AgreementRequest, Scored, confuse_sides, correlate, correlation_rows
from reports.battles.verdicts import counting_verdicts, verdicts_by
from reports.confusion.paired_labels import ConfusionReport
from reports.files import Row, with_code
from reports.forms import PAIRINGS
from reports.methods.document import WRITERS, MethodsReport, MethodsSection, MethodsTable
from reports.metrics.arrays import share
from reports.metrics.bootstrap import RESAMPLES
from reports.metrics.intervals import documents_of
from reports.nuggets.descriptives import descriptive_rows
from reports.profiles import usual_comparison
from reports.quality.studies import second_look_sentences
from reports.random_checks.documents import methods_sentences
from reports.report import counted
from reports.timing.figures import time_note, time_report
from web.consistent_read import consistent_read
from web.text import plural
from web.words import word_of

ROOMS = ("evaluation", "reports", "llmjobs")
"""Apps whose tables hold what figures rest on; their newest migrations say which layout was read."""
TABLES_OF = "Assay, tables of "
CHECKS, SECOND_LOOKS, BATTLES = "Random checks", "Second looks", "Battles"
IMPORTS = "import."
"""Beginning of the kind of each import's event."""
SUPPORT_WORDS = {int(label.code): label.word for label in CITATION_LABELS.ascending}

SHOWN_WITH: Final[dict[BattleShow, str]] = {
    BattleShow.ANSWER: "",
    BattleShow.CITATIONS: " who saw the numbers of citations",
    BattleShow.PASSAGES: " who saw citations and the cited passages",
}


def protocol_rows(campaign: Campaign) -> list[Row]:
    protocol = campaign.protocol
    rows: list[Row] = [
        {"setting": setting.label, "value": setting.text(getattr(protocol, name))}
        for name, setting in SETTINGS.items()
        if name != GUIDELINES.name
    ]
    # The guidelines are pages of text: a paper quotes them, its methods table says how long they are.
    words = words_in(protocol.guidelines)
    return [*rows, {"setting": GUIDELINES.label, "value": f"{words} {plural(words, 'word')}"}]


def run_rows(campaign: Campaign) -> list[Row]:
    rows = Run.objects.filter(campaign=campaign).order_by("group", "task").values("group", "task")
    return list(rows.annotate(runs=Count("pk"), controls=Count("pk", filter=Q(control=True))))


def qrel_rows(campaign: Campaign) -> list[Row]:
    rows = Qrel.objects.filter(source__campaign=campaign).order_by("source__name").values("source__name")
    counted = rows.annotate(topics=Count("topic", distinct=True), grades=Count("pk"))
    return [{"source": row["source__name"], "topics": row["topics"], "grades": row["grades"]} for row in counted]


def people_in_order(campaign: Campaign) -> list[str]:
    """Return the names of people who judge, in the order in which they came to work here: the same in every copy."""
    rows: list[tuple[QuerySet[Any], str]] = [
        (Task.objects.filter(campaign=campaign), "assessor"),
        (campaign.nugget_sets.all(), "judge"),
        (Assignment.objects.filter(nugget_version__nugget__nugget_set__campaign=campaign), "judge"),
        (SupportJudgment.objects.filter(segment__campaign=campaign), "judge"),
        (Verdict.objects.filter(battle__battle_set__campaign=campaign), "judge"),
    ]
    came = [dict(work.order_by().values_list(who).annotate(Min("pk"))) for work, who in rows]

    def order(judge: Judge) -> list[float]:
        # Keys of rows and not times: a copy of the campaign has new times, and its methods must read the same.
        keys = (judge.user_id, *[judge.pk] * (len(came) - 1))
        return [first.get(key, inf) for first, key in zip(came, keys, strict=True)]

    people = [judge for judge in Judge.objects.filter(kind=JudgeKind.HUMAN) if min(order(judge)) < inf]
    return list(dict.fromkeys(judge.name_of_person for judge in sorted(people, key=order)))


def work_rows(campaign: Campaign) -> list[Row]:
    tasks = Task.objects.filter(campaign=campaign).not_withdrawn()
    submitted = Count("pk", filter=Q(state=TaskState.SUBMITTED))
    second = Count("pk", filter=Q(second_opinion=True))
    rows = tasks.order_by("stage", "assessor").values("assessor", "stage")
    counted = list(rows.annotate(tasks=Count("pk"), submitted=submitted, second=second))
    # People are judges from their first label on; those who have given none yet get a number of their own.
    called = dict(Judge.objects.filter(user__in=tasks.values("assessor"), aside=False).values_list("user", "name"))
    fresh = sorted({row["assessor"] for row in counted} - called.keys())
    called |= {user: f"Without labels {place}" for place, user in enumerate(fresh, start=1)}
    return [row | {"assessor": called[row["assessor"]]} for row in counted]


def loaded(campaign: Campaign) -> list[str]:
    """Return sentences on the lists and labels that came from files."""
    sentences = []
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign)
    sets = (
        lists.filter(event__kind__startswith=IMPORTS).order_by("nugget_set__name").values_list("nugget_set__name")
    )
    if parts := [f"{name} ({counted(number, 'topic')})" for name, number in sets.annotate(Count("pk"))]:
        sentences.append(f"Nugget lists were loaded from files: {'; '.join(parts)}.")
    labels = Assignment.objects.current().filter(nugget_version__nugget__nugget_set__campaign=campaign)
    citations = SupportJudgment.objects.current().filter(segment__campaign=campaign)
    verdicts = Verdict.objects.current().filter(battle__battle_set__campaign=campaign)
    for noun, rows in (("nugget label", labels), ("citation label", citations), ("battle verdict", verdicts)):
        imported = rows.filter(event__kind__startswith=IMPORTS, judge__aside=False).order_by("judge__name")
        numbers = imported.values_list("judge__name").annotate(Count("pk"))
        if parts := [f"{counted(number, noun)} by {name}" for name, number in numbers]:
            sentences.append(f"Loaded from files, and not given here: {'; '.join(parts)}.")
    return sentences


def steps_of_llms(campaign: Campaign) -> set[str]:
    """Return what LLMs did here: the origins of the lists that they made, and "labels" where they labelled."""
    lists = NuggetList.objects.newest_submitted().filter(
        nugget_set__campaign=campaign, nugget_set__judge__kind=JudgeKind.LLM
    )
    origins = (
        lists.exclude(event__kind__startswith=IMPORTS).order_by().values_list("nugget_set__origin", flat=True)
    )
    labels = Assignment.objects.current().filter(
        nugget_version__nugget__nugget_set__campaign=campaign, judge__kind=JudgeKind.LLM
    )
    has_labelled = labels.exclude(event__kind__startswith=IMPORTS).exists()
    return {*map(Origin, origins.distinct()), *(["labels"] if has_labelled else [])}


def makes_lists(campaign: Campaign) -> bool:
    """Return whether some nugget list was not loaded from a file, or none is there yet."""
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign)
    return not lists.exists() or lists.exclude(event__kind__startswith=IMPORTS).exists()


def people_who_practised(campaign: Campaign) -> int:
    return PracticeAnswer.objects.filter(item__campaign=campaign).values("user").distinct().count()


def judge_rows(campaign: Campaign) -> list[Row]:
    assigned = Assignment.objects.current().filter(
        judge=OuterRef("pk"), nugget_version__nugget__nugget_set__campaign=campaign
    )
    supported = SupportJudgment.objects.current().filter(judge=OuterRef("pk"), segment__campaign=campaign)
    fought = Verdict.objects.current().filter(judge=OuterRef("pk"), battle__battle_set__campaign=campaign)
    sets = campaign.nugget_sets.filter(judge=OuterRef("pk"))
    at_work = Exists(assigned) | Exists(supported) | Exists(fought) | Exists(sets)
    judges = Judge.objects.filter(at_work).order_by("kind", "name")
    return [
        {
            "judge": judge.name,
            "kind": "person" if judge.kind == JudgeKind.HUMAN else "LLM",
            "model": judge.model,
            "prompts": ", ".join(f"{task}: {text}" for task, text in sorted(judge.prompt_versions.items())),
        }
        for judge in judges
    ]


def support_rows(campaign: Campaign) -> list[Row]:
    labels = SupportJudgment.objects.current().filter(segment__campaign=campaign, judge__aside=False)
    counted = {f"n{code}": Count("pk", filter=Q(label=code)) for code in SUPPORT_WORDS}
    rows = labels.order_by("condition", "judge__name").values("condition", "judge__name")
    return [_mix(row) for row in rows.annotate(labels=Count("pk"), **counted)]


def _mix(row: Mapping[str, Any]) -> Row:
    total = sum(row[f"n{code}"] for code in SUPPORT_WORDS)
    shares = {name: share(row[f"n{code}"], total) for code, name in SUPPORT_WORDS.items()}
    return {"condition": row["condition"], "judge": row["judge__name"], "labels": row["labels"]} | shares


def exclusion_rows(campaign: Campaign) -> list[Row]:
    tasks = Task.objects.filter(campaign=campaign)
    nuggets = Assignment.objects.filter(nugget_version__nugget__nugget_set__campaign=campaign)
    support = SupportJudgment.objects.filter(segment__campaign=campaign)
    answers = AnswerProvenance.objects.filter(run__campaign=campaign)
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign)
    avoided = ListedNugget.objects.to_avoid().filter(nugget_list__in=lists)
    counts = {
        "control runs, left out of summaries": campaign.runs.filter(control=True).count(),
        "answers missing": campaign.runs.count() * campaign.topics.count()
        - answers.values("run", "topic").distinct().count(),
        "empty answers, not support by rule": answers.filter(answer__words=0).count(),
        "nuggets that an answer must not contain": avoided.count(),
        "tasks withdrawn": tasks.filter(state=TaskState.WITHDRAWN).count(),
        "tasks that are second opinions": tasks.filter(second_opinion=True).count(),
        "warnings about the data": Finding.objects.filter(campaign=campaign).count(),
    }
    for what, labels, label_set in (
        ("nugget labels", nuggets, NUGGET_LABELS),
        ("citation labels", support, CITATION_LABELS),
    ):
        # Counted apart, because they are four things: replaced, repeated for a study, impossible, never answered.
        counts[f"{what} that no longer stand"] = labels.filter(stands=False).count()
        standing = labels.current()
        counts[f"{what} of second looks"] = standing.filter(judge__aside=True).count()
        for label in (label_set.cant_judge, label_set.failed):
            counts[f"{what}: {label.spoken}"] = standing.filter(label=label.code).count()
    return [{"what": what, "count": count} for what, count in counts.items()]


def version_rows() -> list[Row]:
    applied = MigrationRecorder(connection).applied_migrations()
    # The newest migration names the layout better than a version number: between releases it is the one that changed.
    rooms = [(f"{TABLES_OF}{app}", max(name for room, name in applied if room == app)) for app in ROOMS]
    rest = [("rule of active time", str(RULE_VERSION)), ("Django", django.__version__), ("NumPy", np.__version__)]
    return [{"what": what, "version": version} for what, version in [*rooms, *rest]]


def _headings(*keys: str, **headings: str) -> dict[str, str]:
    """Return columns by key, each under its key in words or the heading that it is given."""
    return {key: headings.get(key, word_of(key).capitalize()) for key in keys}


SIDES = {"x": "x", "y": "y"}
TAUS = SIDES | _headings(
    "score",
    "level",
    "n",
    "topics",
    "undefined_topics",
    "tau_b",
    "low",
    "high",
    n="n",
    topics="Common topics",
    undefined_topics="Without a tau",
    tau_b="Tau-b",
)
AGREED = SIDES | _headings(
    "pairs",
    "agreement",
    "kappa",
    "kappa_linear",
    "alpha",
    "harsh",
    kappa_linear="Kappa, linear",
    harsh="Opposite labels",
)
ENDS = SIDES | _headings("figure", "low", "high", "reason", reason="No interval")
LISTS = _headings(
    "nuggets",
    "topics",
    "nuggets_per_topic",
    "words_per_nugget",
    "vital",
    "okay",
    "unknown",
    nuggets_per_topic="Nuggets a topic",
    words_per_nugget="Words a nugget",
)
MIX = _headings("condition", "set", "judge", *NUGGET_LABELS.scale, set="Nuggets")
SUPPORT = _headings("condition", "judge", "labels", *CITATION_LABELS.scale)
TIMES = _headings("stage", "topics") | {
    "median_s": "Median, s",
    "q1_s": "Q1, s",
    "q3_s": "Q3, s",
    "low_median_s": "Low median, s",
    "high_median_s": "High median, s",
    "unfinished": "Unfinished",
}
RUNS = _headings("group", "task", "runs", "controls")
QRELS = _headings("source", "topics", "grades")
WORK = _headings("assessor", "stage", "tasks", "submitted", "second", second="Second opinions")
JUDGES = _headings("judge", "kind", "model", "prompts")


def methods_report(campaign: Campaign) -> MethodsReport:
    with consistent_read():
        parts = (_protocol, _material, _people, _labels, _times, _agreement, _exclusions, _versions)
        sections = [part(campaign) for part in parts]
        drawn = {CHECKS: methods_sentences(campaign), SECOND_LOOKS: second_look_sentences(campaign)}
        drawn[BATTLES] = battle_sentences(campaign)
        sections[-2:-2] = [MethodsSection(title, texts) for title, texts in drawn.items() if texts]
        report = MethodsReport(campaign.name, campaign.slug, campaign.revision, sections)
        # Always: the document is made to be printed, and no option may print who judged what.
        return _without_names(campaign, report)


def methods_documents(campaign: Campaign) -> dict[str, str]:
    """Return the report in every form, by file name: a snapshot keeps them beside the data."""
    report = methods_report(campaign)
    return {f"methods.{form}": write(report) for form, write in WRITERS.items()}


def _protocol(campaign: Campaign) -> MethodsSection:
    sentences = [f"The campaign {campaign.slug} follows version {campaign.protocol.version} of its protocol."]
    table = MethodsTable("Settings in force", _headings("setting", "value"), protocol_rows(campaign))
    return MethodsSection("Protocol", sentences, [table])


def _material(campaign: Campaign) -> MethodsSection:
    answers = AnswerProvenance.objects.filter(run__campaign=campaign).count()
    segments = Segment.objects.filter(campaign=campaign)
    counted = segments.aggregate(all=Count("pk"), with_text=Count("pk", filter=Q(has_text=True)))
    topics, runs = campaign.topics.count(), campaign.runs.count()
    sentences = [
        f"{topics:,} topics are answered by {runs:,} runs in {answers:,} answers.",
        f"{counted['all']:,} passages are graded or cited, {counted['with_text']:,} of them with their text.",
    ]
    tables = [
        MethodsTable("Runs", RUNS, run_rows(campaign)),
        MethodsTable("Graded passages", QRELS, qrel_rows(campaign)),
    ]
    return MethodsSection("Topics, runs and passages", sentences, tables)


def _people(campaign: Campaign) -> MethodsSection:
    rows = work_rows(campaign)
    people = len({row["assessor"] for row in rows})
    sentences = [f"{people:,} assessors were handed work here; withdrawn work is not counted.", *loaded(campaign)]
    tables = [MethodsTable("Work handed out", WORK, rows), MethodsTable("Judges", JUDGES, judge_rows(campaign))]
    return MethodsSection("Assessors and judges", sentences, tables)


def _labels(campaign: Campaign) -> MethodsSection:
    rows = descriptive_rows(campaign)
    mix = [row for row in rows if "condition" in row]
    support = support_rows(campaign)
    used = dict.fromkeys(row["condition"] for row in [*mix, *support])
    sentences = ["Shares are fractions of the labels that were given."]
    if used:
        sentences.append(f"Conditions: {'; '.join(with_code(code) for code in used)}.")
    tables = [
        MethodsTable("Nugget lists", LISTS, [row for row in rows if "condition" not in row]),
        MethodsTable("Nugget labels", MIX, mix),
        MethodsTable("Citation labels", SUPPORT, support),
    ]
    return MethodsSection("Nuggets and labels", sentences, tables)


def _times(campaign: Campaign) -> MethodsSection:
    report = time_report(campaign, None)
    rows = report["stages"]
    sentences = [time_note(report) if rows else "No time was recorded here."]
    return MethodsSection("Time", sentences, [MethodsTable("Active time of a topic, by stage", TIMES, rows)])


def _agreement(campaign: Campaign) -> MethodsSection:
    taus: list[Row] = []
    agreed: dict[str, list[Row]] = {"Nugget labels": [], "Citation labels": []}
    sentences = [
        "95 % intervals of tau over run means and over all topic-run pairs are for as many topics like these; with more"
        " topics tau would be higher.",
        f"They are tau plus and minus half the distance of wider percentiles of {RESAMPLES:,} bootstrap samples of"
        " topics.",
        "That of the mean of tau over topics is Student's t on Fisher's z.",
        "Those of labels are jackknives over topics, with Student's t and, but for strictness, on Fisher's z.",
        "Where fewer than 5 topics have a pair with two labels, they follow from the Clopper-Pearson interval of the"
        " share of such pairs, corrected for topics.",
    ]
    for left, right in PAIRINGS:
        # Where several judges or sets fit and the campaign names none, each has its own figures.
        for (x, x_names), (y, y_names) in product(_readings(campaign, left), _readings(campaign, right)):
            of_ranks, of_labels = _pair(campaign, x, y, {"x": _side(x, x_names), "y": _side(y, y_names)})
            taus += of_ranks
            agreed["Nugget labels" if isinstance(x, NuggetCondition) else "Citation labels"] += of_labels
    tables = [MethodsTable("Kendall's tau-b of conditions", TAUS, taus)]
    for what, rows in agreed.items():
        ends = [
            {"x": row["x"], "y": row["y"], "figure": word_of(name)} | interval
            for row in rows
            for name, interval in row["intervals"].items()
        ]
        tables += [
            MethodsTable(f"{what} of the same pairs", AGREED, rows),
            MethodsTable(f"{what} of the same pairs, 95 % intervals", ENDS, ends),
        ]
    return MethodsSection("Agreement", sentences, tables)


def _pair(campaign: Campaign, x: Scored, y: Scored, sides: Row) -> tuple[list[Row], list[Row]]:
    """Return the taus and the label agreement of a pairing; nothing where one side has no labels."""
    # Without labels there is nothing to agree: a campaign has the pairings that somebody judged.
    if not (x.judges and y.judges):
        return [], []
    score, policies = usual_comparison(x)
    correlation = correlate(AgreementRequest(campaign, x, y, score, policies))
    same = confuse_sides(x, y)
    names = {**sides, "score": score, "topics": correlation.agreement.topics}
    rows = correlation_rows(correlation)
    taus: list[Row] = [names | {name: row[name] for name in TAUS if name in row} for row in rows]
    return taus, [{**sides, **_agreed(same)}] if same is not None and same.confusion.pairs else []


def _readings(campaign: Campaign, name: str) -> Sequence[tuple[Scored, str]]:
    if name in list(SupportCondition):
        return told_apart(readings_of_citations(campaign, SupportCondition(name)))
    return told_apart(readings(campaign, Condition(name)))


def _side(choice: Scored, names: str) -> str:
    return f"{choice} by {names}" if names else str(choice)


def _agreed(same: ConfusionReport) -> Row:
    figures = {name: getattr(same.confusion, name) for name in AGREED if hasattr(same.confusion, name)}
    return figures | {"harsh": same.harsh, "intervals": documents_of(same.intervals)}


def _exclusions(campaign: Campaign) -> MethodsSection:
    sentences = ["What is stored and enters no score, and what is missing:"]
    table = MethodsTable("Left out", _headings("what", "count"), exclusion_rows(campaign))
    return MethodsSection("Exclusions", sentences, [table])


def _versions(campaign: Campaign) -> MethodsSection:
    policies = (
        "Scores follow the default rules: a missing answer and a topic without a vital nugget score 0; an answer with"
        " an unjudged label, and for citation precision one that cites nothing, is left out. All topics count; two"
        " conditions are compared over their common ones."
    )
    sentences = [f"The state is revision {campaign.revision:,} of the campaign.", policies]
    table = MethodsTable("What computed this", _headings("what", "version"), version_rows())
    return MethodsSection("Versions", sentences, [table])


def _without_names(campaign: Campaign, report: MethodsReport) -> MethodsReport:
    called = {name: f"Assessor {place}" for place, name in enumerate(people_in_order(campaign), start=1)}
    # By capitals, because the text is our own: May labels, and a count may differ.
    hiding = Hiding(called, any_case=False)
    # What people wrote, such as guidelines or the name of a prompt, may name an account besides.
    names = Names([campaign], DEFAULT_DB_ALIAS)

    def without_names(value: Any) -> Any:
        return anonymous(names.clean(campaign.pk, hiding.text(value))) if isinstance(value, str) else value

    sections = [
        replace(
            section,
            sentences=[hiding.text(sentence) for sentence in section.sentences],
            tables=[
                replace(
                    table, rows=[{key: without_names(value) for key, value in row.items()} for row in table.rows]
                )
                for table in section.tables
            ],
        )
        for section in report.sections
    ]
    return replace(report, sections=sections)


def battle_sentences(campaign: Campaign) -> list[str]:
    sets = BattleSet.objects.filter(campaign=campaign).select_related("campaign")
    return [sentence for row in sets for sentence in (*_sentences(row), *_sample_sentences(row))]


def _sentences(battle_set: BattleSet) -> Iterator[str]:
    seed = without_people(battle_set.campaign, battle_set.seed)
    show = BattleLook.of(battle_set.campaign.protocol, battle_set.design).show
    drawn = f"round robin dealt over topics, seed {seed}" if seed else "drawn elsewhere"
    for kind in JudgeKind:
        counting = [
            verdict
            for of_battle in counting_verdicts(verdicts_by(battle_set, kind)).values()
            for verdict in of_battle
            if verdict.points is not None
        ]
        by_people = kind is JudgeKind.HUMAN
        names = sorted({verdict.record.judge for verdict in counting})
        if names:
            battles = len({verdict.battle for verdict in counting})
            topics = len({verdict.topic_id for verdict in counting})
            judged = Counter((verdict.battle, verdict.record.judge) for verdict in counting)
            twice = sum(orders == 2 for orders in judged.values())
            style = " No run's name was shown; its style may still have been known again." if by_people else ""
            people = f"blind by {len(names)} {plural(len(names), 'person', 'people')}{SHOWN_WITH[show]}"
            both = f", {twice:,} of them in both orders"
            judges = people if by_people else f"by {', '.join(names)}{both}"
            yield (
                f"{battles:,} battles over {topics:,} {plural(topics, 'topic')} ({drawn}), sides drawn, "
                f"judged {judges}; win rates are mean points, ties half; 95 % intervals cluster by topic (t).{style}"
            )


def _sample_sentences(battle_set: BattleSet) -> Iterator[str]:
    rows = SampledBattle.objects.filter(battle__battle_set=battle_set).order_by("judge__name")
    for judge, battles, drawn in rows.values_list("judge__name").annotate(Count("pk"), Count("chance")):
        yield (
            f"Of the {battles:,} battles that {judge} judged, {drawn:,} were drawn in proportion to what it said "
            "(decided, tied, failed) and judged blind by people. Corrected win rates are post-stratified by the LLM's "
            "points (Dirichlet 1/2); 95 % intervals, for these topics, with t of the judged battles less 1."
        )
