"""Score files of judges, by topic, and published tables of runs: compared with what is loaded, and written."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isnan

from accounts.models import User
from evaluation.errors import BadInput, InputProblem, Refused
from evaluation.formats.battles import has_outcomes, parse_outcomes
from evaluation.formats.score_files import (
    ALL,
    FORMS,
    STDIN,
    TABLE,
    JudgeEntry,
    TopicScore,
    form_of,
    judge_of_file,
    parse_judges,
    parse_score_file,
)
from evaluation.formats.scores import ScoreRecord, parse_scores
from evaluation.formats.source import Source
from evaluation.imports.base import (
    NOT_IN_FILE,
    TAKEN_OUT,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    refuse,
    refuse_changes,
    with_every_problem,
    with_every_problem_below_header,
)
from evaluation.labels import LEFT_POINTS
from evaluation.models import Campaign, Event
from evaluation.models.querysets import in_parts_of
from evaluation.rules.text import check_name
from evaluation.terms import Condition, FindingCode, SupportCondition
from reports.battles.verdicts import CountedBattle, plain_sheet
from reports.judges.tables import CLOSE
from reports.metrics.battles.ratings import ratings
from reports.metrics.registry import BY_NAME
from reports.models import ExternalCondition, ExternalScore
from web.statements import ROWS_A_STATEMENT

Key = tuple[str, str, str]
Measured = tuple[str, str]
"""A run and a measure."""
MEAN_COUNTS = "the mean counts"
RATING = "rating"
OUTCOMES = "outcomes"
"""Battles without topics, by which runs are rated."""
UNRATED = "unrated runs"
DROPPED = "dropped"
"""In the event of an import: how many aggregates went for the means of more topics, by the import that brought them."""
OF_RUNS = "runs' scores"
"""What an import of a published table counts."""
TAKEN = {*Condition, *SupportCondition}


@dataclass(frozen=True, slots=True)
class ScoreFileOptions:
    """How score files are read. `form`: empty where the files tell it themselves."""

    form: str = ""
    has_header: bool = False
    topics_as_they_are: bool = False
    keep_aggregates: bool = False


@dataclass(slots=True)
class JudgeFiles:
    """A judge's rows of all its files, by run, measure and topic, each with its file.

    `unrated`: runs of battles that did not take points from all others, by some way, or lose some to them.
    """

    judge: JudgeEntry
    file: str
    rows: dict[Key, tuple[Source, TopicScore]] = field(default_factory=dict)
    unrated: int = 0


def load_score_files(
    *,
    campaign: Campaign,
    sources: Sequence[Source],
    judge: JudgeEntry,
    judges: Source | None = None,
    options: ScoreFileOptions = ScoreFileOptions(),
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load score files under the name of their judge; with `judges`, a `judges.yml`, each file under that of its own.

    A CSV is a published table of runs, or has battles without topics, by which runs are rated. Raises `BadInput`, and
    `Refused` for a form that cannot be told, a judge without a name and a name that is a condition of Assay.
    """
    if judges is None and not judge.name:
        raise Refused("no_judge", "Say whose scores these are, or send a judges.yml with them.", field="condition")
    if judges is not None and judge != JudgeEntry(""):
        raise Refused(
            "usage", f"{judges.name} says the judge, its method and its model itself.", field="condition"
        )
    if not sources:
        raise Refused("usage", "A judges.yml is loaded with the score files of its judges.", field="files")
    judges_of_files = parse_judges(judges) if judges else None
    beside = [judges] if judges else []
    topics = set(campaign.topics.values_list("topic_id", flat=True))
    # By their content: two files may have one name, in two folders or uploads.
    forms = {source.sha256: _form(source, options, topics) for source in sources}
    if TABLE in forms.values():
        if len(sources) > 1:
            raise Refused("usage", "A published table is loaded alone.", field="form")
        if judges_of_files is not None:
            judge = _judge_of(sources[0], judges_of_files)
        return import_scores(
            campaign=campaign, source=sources[0], name=judge.name, beside=beside, replace=replace, actor=actor
        )
    return _import_score_files(
        campaign=campaign,
        sources=sources,
        beside=beside,
        judge=judge,
        judges=judges_of_files,
        forms=forms,
        options=options,
        topics=None if options.topics_as_they_are else topics,
        replace=replace,
        actor=actor,
    )


class UnclearForm(Refused):
    @property
    def command_message(self) -> str:
        return f"--{self.message}"


def _form(source: Source, options: ScoreFileOptions, topics: Collection[str]) -> str:
    form = options.form or form_of(source, topics, has_header=options.has_header)
    if form == TABLE and has_outcomes(source):
        return OUTCOMES
    if form == "":
        columns = len(source.lines[0][1].split())
        either = ["tot", "ir_measures"] if columns == 4 else [TABLE, *FORMS]
        found = "this file could be either" if columns == 4 else f"this file has {columns} columns"
        words = f"{', '.join(either[:-1])} or {either[-1]}"
        raise UnclearForm("ambiguous", f"form: {words}, {found}", choices=either)
    if form != TABLE and FORMS[form].is_of_one_run and source.name == STDIN:
        raise Refused("usage", f"{form} needs one file per run: standard input has no name")
    return form


def _judge_of(source: Source, judges: Mapping[str, JudgeEntry]) -> JudgeEntry:
    judge = judge_of_file(source.name, judges)
    if judge is None:
        raise BadInput([InputProblem(source.name, 0, "judges", f"a file of: {', '.join(judges)}")])
    return judge


@with_every_problem
def _import_score_files(
    *,
    campaign: Campaign,
    sources: Sequence[Source],
    beside: Sequence[Source],
    judge: JudgeEntry,
    judges: Mapping[str, JudgeEntry] | None,
    forms: Mapping[str, str],
    options: ScoreFileOptions,
    topics: Collection[str] | None,
    replace: bool,
    actor: User | None,
) -> LoadReceipt:
    tables: dict[str, JudgeFiles] = {}
    problems: list[InputProblem] = []
    for source in sources:
        entry = judge if judges is None else _judge_of(source, judges)
        for what, name in (("judge", entry.name), ("method", entry.method), ("model", entry.model)):
            if name or what == "judge":
                check_name(what, name)
        check_free_name(entry.name)
        table = tables.setdefault(entry.name, JudgeFiles(entry, source.name))
        try:
            form = forms[source.sha256]
            scores = (
                _ratings(source, table)
                if form == OUTCOMES
                else parse_score_file(source, FORMS[form], topics=topics, has_header=options.has_header)
            )
            problems += _collect(source, scores, table)
        except BadInput as wrong:
            problems += wrong.problems
    refuse(problems)
    return carry_out(
        campaign=campaign,
        kind="scores",
        sources=[*beside, *sources],
        actor=actor,
        make_plan=lambda locked: _plan(locked, list(tables.values()), options, replace),
    )


def _ratings(source: Source, table: JudgeFiles) -> list[TopicScore]:
    """Rate runs by battles without topics: Bradley-Terry, ties half; without clusters there is no interval."""
    records = parse_outcomes(source)
    battles = [CountedBattle("", row.left, row.right, LEFT_POINTS[row.label]) for row in records]
    sheet = plain_sheet(battles)
    first_line = {run: row.line for row in reversed(records) for run in (row.left, row.right)}
    rated = zip(sheet.run_ids, ratings(sheet).value.tolist(), strict=True)
    scores = [TopicScore(first_line[run], run, ALL, RATING, value) for run, value in rated if not isnan(value)]
    table.unrated += len(sheet.run_ids) - len(scores)
    return scores


def _collect(source: Source, scores: Iterable[TopicScore], table: JudgeFiles) -> Iterator[InputProblem]:
    """Add a file's rows to those of its judge; yield a problem for each that another of the files has too."""
    for score in scores:
        first, _ = table.rows.setdefault(score.key, (source, score))
        if first is not source:
            run_id, measure, topic = score.key
            text = f"run {run_id}, topic {topic}, measure {measure} once, it is in {first.name} too (duplicate)"
            yield InputProblem(source.name, score.line, "row", text)


def _plan(
    campaign: Campaign, tables: Sequence[JudgeFiles], options: ScoreFileOptions, replace: bool
) -> ImportPlan:
    plan = ImportPlan("scores")
    changes = [_changes(campaign, table, options, replace, plan) for table in tables]
    refuse_changes([problem for change in changes for problem in change.problems], replace)
    absent = sum(len(change.absent) for change in changes)
    taken_out = sum(change.lost_aggregates for change in changes)
    plan.counts |= {TAKEN_OUT: absent} if replace else {NOT_IN_FILE: absent, TAKEN_OUT: taken_out}
    plan.counts |= {UNRATED: sum(table.unrated for table in tables)}
    dropped = Counter(event for change in changes for event in change.dropped)
    plan.payload = {DROPPED: {str(event): count for event, count in dropped.items()}} if dropped else {}

    def write(event: Event) -> None:
        for change in changes:
            change.write(campaign, event, replace)

    plan.write = write
    return plan


def _settled(
    table: JudgeFiles, means: Mapping[Measured, float], options: ScoreFileOptions, plan: ImportPlan
) -> dict[Key, tuple[Source, TopicScore]]:
    """Return the rows that count: an aggregate that is not the mean of its topics is found, and goes unless kept."""
    counts = "the file's counts" if options.keep_aggregates else MEAN_COUNTS
    kept = {}
    for key, (source, score) in table.rows.items():
        if _differs(key, score.value, means):
            plan.found.append(_finding(source.name, score.line, key, score.value, means[key[:2]], counts))
            if not options.keep_aggregates:
                continue
        kept[key] = (source, score)
    return kept


def _means(values: Mapping[Key, float]) -> dict[Measured, float]:
    """Return the means over topics by run and measure."""
    by_measure: dict[Measured, list[float]] = {}
    for (run_id, measure, topic), value in values.items():
        if topic != ALL:
            by_measure.setdefault((run_id, measure), []).append(value)
    return {measured: fsum(of_topics) / len(of_topics) for measured, of_topics in by_measure.items()}


def _differs(key: Key, value: float, means: Mapping[Measured, float]) -> bool:
    return key[2] == ALL and abs(value - means.get(key[:2], value)) > CLOSE


def _stale(loaded: Mapping[Key, float], means: Mapping[Measured, float]) -> Iterator[Key]:
    """Yield the loaded aggregates that were the means of their topics, or had none, and with new topics are not."""
    old_means = _means(loaded)
    for key, value in loaded.items():
        if _differs(key, value, means) and not _differs(key, value, old_means):
            yield key


def aggregates_resting_on(event: Event) -> int:
    """Count the aggregates of other imports that would be means of their topics no more without this one."""
    count = 0
    for table in ExternalCondition.objects.filter(scores__event=event).distinct():
        rows, own = _loaded(table), set(table.scores.filter(event=event).values_list("pk", flat=True))
        others = {key: value for key, (pk, value) in rows.items() if pk not in own}
        stale = _stale({key: value for key, (_, value) in rows.items()}, _means(others))
        count += sum(key in others for key in stale)
    return count


def aggregates_dropped_of(event: Event) -> int:
    """Count the aggregates of an import that went later because the means of more topics count in their place."""
    later = Event.objects.filter(campaign=event.campaign, kind=event.kind, pk__gt=event.pk)
    payloads = later.values_list("payload", flat=True)
    return sum(payload.get(DROPPED, {}).get(str(event.pk), 0) for payload in payloads)


def _finding(file: str, line: int, key: Key, value: float, mean: float, counts: str) -> ImportFinding:
    text = f"{key[1]}: {ALL} is {value:g}, the mean over topics {mean:g}; {counts}"
    return ImportFinding(FindingCode.AGGREGATE_DIFFERS, file, line, text, run_id=key[0])


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Changes of a judge's table by its files.

    `absent`: keys of loaded scores that the files lack, of runs that they have. `lost_aggregates`: how many aggregates
    without scores by topic are deleted; `dropped`: the imports of those with such scores, one for each.
    """

    judge: JudgeEntry
    to_write: list[TopicScore]
    gone: list[int]
    absent: list[int]
    problems: list[InputProblem]
    lost_aggregates: int
    dropped: list[int]

    def write(self, campaign: Campaign, event: Event, replace: bool) -> None:
        table, _ = ExternalCondition.objects.get_or_create(campaign=campaign, name=self.judge.name)
        table.method, table.model = self.judge.method or table.method, self.judge.model or table.model
        table.save(update_fields=["method", "model"])
        for part in in_parts_of(self.gone + (self.absent if replace else [])):
            ExternalScore.objects.filter(pk__in=part).delete()
        ExternalScore.objects.bulk_create(_rows(table, self.to_write, event), batch_size=ROWS_A_STATEMENT)


def _rows(table: ExternalCondition, scores: Iterable[TopicScore], event: Event) -> list[ExternalScore]:
    return [
        ExternalScore(
            condition=table,
            run_id=score.run_id,
            topic_id="" if score.topic_id == ALL else score.topic_id,
            score=score.measure,
            value=score.value,
            event=event,
        )
        for score in scores
    ]


def _changes(
    campaign: Campaign, table: JudgeFiles, options: ScoreFileOptions, replace: bool, plan: ImportPlan
) -> TableChanges:
    there = ExternalCondition.objects.filter(campaign=campaign, name=table.judge.name).first()
    loaded = _loaded(there) if there else {}
    before = {key: value for key, (_, value) in loaded.items()}
    in_files = {run_id for run_id, _, _ in table.rows}
    staying = {key: value for key, value in before.items() if not replace or key[0] not in in_files}
    means = _means(staying | {key: score.value for key, (_, score) in table.rows.items()})
    stale = [] if replace or options.keep_aggregates else list(_stale(before, means))
    gone = [loaded.pop(key)[0] for key in stale]
    of_topics = _means(before).keys()
    lost_aggregates = len({key[:2] for key in stale} - of_topics)
    going = [pk for key, pk in zip(stale, gone, strict=True) if key[:2] in of_topics]
    dropped = [
        event
        for part in in_parts_of(going)
        for event in ExternalScore.objects.filter(pk__in=part).values_list("event", flat=True)
    ]
    for key in stale:
        if key not in table.rows:
            plan.found.append(_finding(table.file, 0, key, before[key], means[key[:2]], MEAN_COUNTS))
    rows = _settled(table, means, options, plan)
    new = [score for key, (_, score) in rows.items() if key not in loaded]
    changed = [
        (source, score) for key, (source, score) in rows.items() if key in loaded and loaded[key][1] != score.value
    ]
    problems = [
        changed_problem(
            *(source, score.line, "value", f"{score.run_id}, {score.topic_id}, {score.measure}"),
            loaded=loaded[score.key][1],
            in_file=score.value,
        )
        for source, score in changed
    ]
    for name in ("method", "model") if there else ():
        before, now = getattr(there, name), getattr(table.judge, name)
        if now and now != before:
            plan.changed += 1
            if before:
                text = f"what is already loaded for {table.judge.name}"
                problems.append(InputProblem(table.file, 0, name, text, True, before, now))
    runs = {run_id for run_id, _, _ in rows}
    absent = [pk for key, (pk, _) in loaded.items() if key[0] in runs and key not in rows]
    plan.added += len(new)
    plan.changed += len(changed)
    plan.unchanged += len(rows) - len(new) - len(changed)
    gone += [loaded[score.key][0] for _, score in changed]
    return TableChanges(
        table.judge, new + [score for _, score in changed], gone, absent, problems, lost_aggregates, dropped
    )


def _loaded(table: ExternalCondition) -> dict[Key, tuple[int, float]]:
    columns = ("pk", "run_id", "score", "topic_id", "value")
    return {
        (run_id, score, topic_id or ALL): (pk, value)
        for pk, run_id, score, topic_id, value in table.scores.values_list(*columns)
    }


@with_every_problem_below_header
def import_scores(
    *,
    campaign: Campaign,
    source: Source,
    name: str,
    beside: Sequence[Source] = (),
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load a published run-level table under a name; `beside`: files that came with it.

    Raises `BadInput`, and `Refused` for a condition's own name.
    """
    check_name("condition", name)
    check_free_name(name)
    rows = parse_scores(source, BY_NAME)
    return carry_out(
        campaign=campaign,
        kind="scores",
        sources=[*beside, source],
        actor=actor,
        make_plan=lambda locked: _plan_of_runs(locked, source, rows, name, replace),
    )


def check_free_name(name: str) -> None:
    """Raise `Refused` for the name of a condition: on pages both stand in one list, and a name must mean one side."""
    if name in TAKEN:
        raise Refused("name_taken", f"{name} is a condition of Assay; give the published table another name.")


def _plan_of_runs(
    campaign: Campaign, source: Source, rows: tuple[ScoreRecord, ...], name: str, replace: bool
) -> ImportPlan:
    loaded = _loaded_runs(campaign, name)
    runs, closing = _without_closing_rows(campaign, rows)
    new = [row for row in runs if row.run_id not in loaded]
    changed = [row for row in runs if row.run_id in loaded and loaded[row.run_id] != row.values]
    refuse_changes([_change_of_run(source, row, loaded[row.run_id]) for row in changed], replace)
    absent = loaded.keys() - {row.run_id for row in runs}
    # A run that changed is replaced as a whole: a score that the new table lacks must not stay from the old one.
    gone = {row.run_id for row in changed} | (absent if replace else set())

    def write(event: Event) -> None:
        condition, _ = ExternalCondition.objects.get_or_create(campaign=campaign, name=name)
        condition.scores.filter(run_id__in=gone).delete()
        _write_runs(condition, new + changed, event)

    findings = [
        ImportFinding(
            FindingCode.CLOSING_ROW,
            source.name,
            row.line,
            f"`{row.run_id}` closes the table and is no run: left aside",
        )
        for row in closing
    ]
    counts = {TAKEN_OUT if replace else NOT_IN_FILE: len(absent)}
    unchanged = len(runs) - len(new) - len(changed)
    return ImportPlan(OF_RUNS, len(new), len(changed), unchanged, findings, counts, write)


CLOSING = re.compile("min(imum)?|median|max(imum)?|mean|average|avg|(over)?all|total|std(ev)?")


def _without_closing_rows(
    campaign: Campaign, rows: Sequence[ScoreRecord]
) -> tuple[list[ScoreRecord], list[ScoreRecord]]:
    """Return the runs of a table, and the rows that sum them up: those would be compared as runs are."""
    closing = [row for row in rows if CLOSING.fullmatch(re.sub("[^a-z]", "", row.run_id.casefold()))]
    loaded = campaign.runs.filter(run_id__in=[row.run_id for row in closing]).values_list("run_id", flat=True)
    closing = [row for row in closing if row.run_id not in set(loaded)]
    return [row for row in rows if row not in closing], closing


def _change_of_run(source: Source, row: ScoreRecord, loaded: dict[str, float]) -> InputProblem:
    old, new = (
        ", ".join(f"{name} {value}" for name, value in sorted(scores.items())) for scores in (loaded, row.values)
    )
    return changed_problem(source, row.line, "scores", row.run_id, loaded=old, in_file=new)


def _loaded_runs(campaign: Campaign, name: str) -> dict[str, dict[str, float]]:
    scores = ExternalScore.objects.filter(condition__campaign=campaign, condition__name=name, topic_id="")
    loaded: dict[str, dict[str, float]] = {}
    for run_id, score, value in scores.values_list("run_id", "score", "value"):
        loaded.setdefault(run_id, {})[score] = value
    return loaded


def _write_runs(condition: ExternalCondition, rows: list[ScoreRecord], event: Event) -> None:
    scores = []
    for row in rows:
        run = {"run_id": row.run_id, "group": row.group, "task": row.task or ""}
        scores += [
            ExternalScore(condition=condition, **run, score=score, value=value, event=event)
            for score, value in row.values.items()
        ]
    ExternalScore.objects.bulk_create(scores, batch_size=ROWS_A_STATEMENT)
