"""Taking an import back: what it loaded goes if nothing rests on it; labels stay in the history, withdrawn."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.db import models, transaction
from django.db.models import F, Q, QuerySet

from accounts.models import User
from assessor.models import (
    Operation,
    PracticeAnswer,
    PracticeItem,
    WorkingAssignment,
    WorkingJudgment,
    WorkingNugget,
    WorkingSupport,
)
from evaluation.errors import Refused
from evaluation.imports.base import CANDIDATES, TAKEN_OUT, counted, restate_missing_texts
from evaluation.imports.battles import BATTLES
from evaluation.imports.dependents import LEFT_OVER, TAKEN_BACK, forget_left_over, left_over
from evaluation.imports.segments import TEXT_FIELDS, forget_addressing
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Battle,
    BattleSet,
    Campaign,
    Candidate,
    Citation,
    ConditionDefault,
    Event,
    Finding,
    Judgment,
    ListedNugget,
    Nugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Qrel,
    QrelSource,
    RandomCheckPair,
    Run,
    SampledBattle,
    Segment,
    Sentence,
    Study,
    StudyPair,
    Submission,
    SupportJudgment,
    Task,
    TaskAnswer,
    Topic,
    Verdict,
)
from evaluation.tasks.pooling import lock_judging
from evaluation.terms import JudgeKind
from exchange.models import ImportAttempt
from jobs.models import Job
from llmjobs.models import LlmJob
from reports.judges.imports import OF_RUNS, aggregates_dropped_of, aggregates_resting_on
from reports.models import Adjudication, ExternalCondition, ExternalScore
from web.text import plural

Rows = QuerySet[Any]
RANDOM_CHECK = "random-check"
BATTLE_SET = "battle-set"
"""An import of battles without verdicts."""
BRING_TEXTS = ("run", "traces", "segments")
LABEL_TABLES: dict[str, type[models.Model]] = {
    "assignments": Assignment,
    "support": SupportJudgment,
    "battles": Verdict,
}
ABOUT: dict[type[models.Model], str] = {Answer: "answer", Segment: "segment", NuggetVersion: "wording"}
NOUNS: dict[type[models.Model], tuple[str, str]] = {
    Answer: ("answer", "answers"),
    AnswerProvenance: ("answer", "answers"),
    Citation: ("citation", "citations"),
    Qrel: ("graded passage", "graded passages"),
    Candidate: ("candidate", "candidates"),
    NuggetList: ("nugget list", "nugget lists"),
    Nugget: ("nugget list", "nugget lists"),
    ListedNugget: ("place in another list", "places in other lists"),
    NuggetEvidence: ("nugget that names it", "nuggets that name it"),
    NuggetLineage: ("nugget made from it", "nuggets made from it"),
    Assignment: ("nugget label", "nugget labels"),
    SupportJudgment: ("citation label", "citation labels"),
    Judgment: ("label", "labels"),
    Battle: ("battle", "battles"),
    SampledBattle: ("battle of a sample", "battles of a sample"),
    Verdict: ("battle verdict", "battle verdicts"),
    Task: ("task handed out", "tasks handed out"),
    TaskAnswer: ("task handed out", "tasks handed out"),
    Submission: ("submitted list", "submitted lists"),
    WorkingNugget: ("nugget at a desk", "nuggets at desks"),
    WorkingAssignment: ("label at a desk", "labels at desks"),
    WorkingJudgment: ("label at a desk", "labels at desks"),
    WorkingSupport: ("label at a desk", "labels at desks"),
    Operation: ("change at a desk", "changes at desks"),
    StudyPair: ("pair of a study", "pairs of studies"),
    RandomCheckPair: ("pair of a random check", "pairs of random checks"),
    Study: ("study", "studies"),
    Adjudication: ("adjudicated pair", "adjudicated pairs"),
    PracticeAnswer: ("answer to practice", "answers to practice"),
    ExternalScore: ("score over all topics", "scores over all topics"),
    LlmJob: ("job under way", "jobs under way"),
}
Resting = dict[type[models.Model], int]


def import_named(campaign: Campaign, name: str) -> Event:
    """Return the event of an import: by the number on its page, or by `e` and its number in the log."""
    number = name.removeprefix("e")
    key = int(number) if number.isascii() and number.isdigit() and len(number) < 19 else 0
    attempt = ImportAttempt.objects.filter(campaign=campaign, pk=key).select_related("event").first()
    if attempt and attempt.event and name == number:
        return attempt.event
    event = imports_of(campaign).filter(pk=key).first()
    if event is None:
        raise Refused("no_such_import", f"There is no import {name} that changed anything in {campaign.slug}.")
    return event


def imports_of(campaign: Campaign) -> QuerySet[Event]:
    return Event.objects.filter(campaign=campaign, kind__startswith="import.").exclude(kind=TAKEN_BACK)


def taken_back(campaign: Campaign) -> dict[int, Event]:
    """Return the events of taking back by the import that each took back."""
    events = Event.objects.filter(campaign=campaign, kind=TAKEN_BACK).select_related("actor")
    return {event.payload["import"]: event for event in events}


def undo_import(*, campaign: Campaign, event: Event, actor: User | None) -> str:
    """Take an import back; return what is gone, in words. Raises `Refused` with what rests on it.

    Nothing that was judged here is touched: where there is any, nothing is taken back.
    """
    kind = _kind_of(event)
    with transaction.atomic():
        lock_judging(campaign)  # before the campaign, as a submission locks them
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if problem := undo_problem(locked, event):
            raise problem
        added, noun = event.payload["added"], event.payload["of"]
        payload = {"import": event.pk, "kind": event.kind, "of": noun, "count": added}
        undone = Event.objects.create(campaign=locked, kind=TAKEN_BACK, actor=actor, payload=payload)
        Finding.objects.filter(event=event).delete()
        _take_away(kind, locked, event, undone)
        Campaign.objects.filter(pk=locked.pk).update(revision=F("revision") + 1)
    way = "withdrawn" if kind in (*LABEL_TABLES, RANDOM_CHECK) else "taken away"
    candidates = event.payload.get(CANDIDATES, 0)
    beside = f" and {counted(candidates, 'candidates')}" if candidates else ""
    return f"Taken back: {counted(added, noun)}{beside} {way}."


def undo_problem(campaign: Campaign, event: Event) -> Refused | None:
    """Return why an import cannot be taken back; None where it can."""
    kind = _kind_of(event)
    added, changed, noun = event.payload["added"], event.payload["changed"], event.payload["of"]
    if kind not in (*LABEL_TABLES, RANDOM_CHECK, *LOADED):
        return Refused("usage", f"An import of {kind} cannot be taken back.")
    if event.pk in taken_back(campaign):
        return Refused("taken_back", "This import was taken back already.")
    removed = event.payload.get(TAKEN_OUT, 0)
    if changed or removed:
        acts = [f"changed {counted(changed, noun)}"] if changed else []
        acts += [f"took {counted(removed, noun)} out"] if removed else []
        return Refused(
            "import_changed",
            f"This import cannot be taken back: it {' and '.join(acts)}, and what they were is not kept. "
            "Load the earlier file again and change what is loaded.",
        )
    loaded = _loaded(kind, event)
    # What went for the means of more topics says nothing that the topics do not.
    dropped = aggregates_dropped_of(event) if kind == "scores" and noun != OF_RUNS else 0
    if gone := added - dropped - _count_of(kind, noun, loaded):
        text = f"{gone:,} of its {added:,} {noun} were changed or taken away by something later."
        return Refused("changed_since", f"This import cannot be taken back: {text}")
    if words := _in_words(_resting(campaign, kind, event, loaded)):
        text = f"This import cannot be taken back, because this rests on it: {', '.join(words)}."
        return Refused("rests_on_it", text)
    return None


def _kind_of(event: Event) -> str:
    kind = event.kind.removeprefix("import.")
    return BATTLE_SET if kind == "battles" and event.payload["of"] == BATTLES else kind


def _labels(kind: str, event: Event) -> list[Rows]:
    names = LABEL_TABLES if kind == RANDOM_CHECK else {kind: LABEL_TABLES[kind]} if kind in LABEL_TABLES else {}
    return [model._default_manager.filter(event=event, stands=True) for model in names.values()]


def _loaded(kind: str, event: Event) -> list[Rows]:
    """Return what an import loaded: what is counted first, then what belongs to it."""
    return LOADED[kind](event) if kind in LOADED else _labels(kind, event)


def _of_runs(event: Event) -> list[Rows]:
    runs = Run.objects.filter(event=event)
    provenance = AnswerProvenance.objects.filter(run__in=runs)
    answers = Answer.objects.filter(pk__in=provenance.values("pk"))
    sentences = Sentence.objects.filter(answer__in=answers)
    citations = Citation.objects.filter(sentence__in=sentences)
    return [runs, provenance, answers, sentences, citations, _texts_of(event)]


def _of_traces(event: Event) -> list[Rows]:
    *of_runs, texts = _of_runs(event)
    return [*of_runs, Topic.objects.filter(event=event), texts]


def _texts_of(event: Event) -> QuerySet[Segment]:
    return Segment.objects.filter(event=event, has_text=True)


def _of_lists(event: Event) -> list[Rows]:
    # Drafts that were taken from a loaded list have its event too, and no line of a file.
    lists = NuggetList.objects.filter(event=event, line__isnull=False)
    listed = ListedNugget.objects.filter(nugget_list__in=lists)
    wordings = NuggetVersion.objects.filter(pk__in=listed.values("nugget_version"))
    return [lists, listed, wordings, Nugget.objects.filter(pk__in=wordings.values("nugget"))]


LOADED: dict[str, Callable[[Event], list[Rows]]] = {
    "topics": lambda event: [Topic.objects.filter(event=event)],
    "qrels": lambda event: [Qrel.objects.filter(event=event)],
    "run": _of_runs,
    "traces": _of_traces,
    "segments": lambda event: [_texts_of(event), Candidate.objects.filter(event=event)],
    "nuggets": _of_lists,
    "scores": lambda event: [ExternalScore.objects.filter(event=event)],
    BATTLE_SET: lambda event: [Battle.objects.filter(event=event)],
    "practice": lambda event: [PracticeItem.objects.filter(event=event, stands=True)],
}


def _count_of(kind: str, noun: str, loaded: Sequence[Rows]) -> int:
    if noun == OF_RUNS:
        return int(loaded[0].values("run_id").distinct().count())
    return sum(rows.count() for rows in loaded) if kind == RANDOM_CHECK else int(loaded[0].count())


def _resting(campaign: Campaign, kind: str, event: Event, loaded: Sequence[Rows]) -> Resting:
    counts: Resting = {}
    jobs = LlmJob.objects.filter(campaign=campaign, job__state__in=(Job.State.RUNNING, Job.State.PAUSED))
    counts |= {LlmJob: jobs.count(), ExternalScore: aggregates_resting_on(event)}
    if kind not in LOADED:
        return counts | _resting_on_labels(campaign, event, loaded)
    own = {rows.model: rows for rows in loaded}
    for rows in loaded:
        # The texts alone go: whatever names a passage names it still.
        ignored = {Citation, Qrel, Candidate} if rows.model is Segment else set()
        for relation in _protecting(rows.model):
            model = relation.related_model
            if model in ignored:
                continue
            there = model._base_manager.filter(**{f"{relation.field.name}__in": rows})
            if model in own:
                there = there.exclude(pk__in=own[model].values("pk"))
            if model in LEFT_OVER:
                there = there.exclude(pk__in=left_over(model).values("pk"))
            count = there.values("task").distinct().count() if model is TaskAnswer else there.count()
            counts[model] = max(counts.get(model, 0), count)
    if kind in BRING_TEXTS:
        counts[Task] = counts.get(Task, 0) + _tasks_that_read(campaign, _texts_of(event))
    return counts


def _protecting(model: type[models.Model]) -> Iterator[Any]:
    """Relations from other rows that keep a row from being deleted; others are parts of it, and go with it."""
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, models.ManyToOneRel) and relation.on_delete is models.PROTECT:
            yield relation


def _tasks_that_read(campaign: Campaign, segments: QuerySet[Segment]) -> int:
    tasks = Task.objects.filter(campaign=campaign)
    cited = TaskAnswer.objects.filter(answer__sentences__citations__segment__in=segments).values("task")
    graded = Qrel.objects.filter(
        segment__in=segments, source=models.OuterRef("qrels"), topic=models.OuterRef("topic")
    )
    read = Q(models.Exists(graded)) | Q(pk__in=cited, nugget_set=None)
    return tasks.not_withdrawn().filter(read).count()


def _tasks_on_verdicts(event: Event) -> QuerySet[TaskAnswer]:
    """Return the battles of tasks that came with verdicts, and those for second opinions whose first verdict goes."""
    tasks = TaskAnswer.objects.filter(Task.objects.all().not_withdrawn_q("task__"), battle__isnull=False)
    firsts = Verdict.objects.current().filter(
        judge__kind=JudgeKind.HUMAN, judge__aside=False, second_opinion=False
    )
    left = (
        tasks.filter(task__second_opinion=False).values("battle"),
        firsts.exclude(event=event).values("battle"),
    )
    going = firsts.filter(event=event).exclude(battle__in=left[0]).exclude(battle__in=left[1])
    return tasks.filter(Q(task__second_opinion=True, battle__in=going.values("battle")) | Q(battle__event=event))


def _resting_on_labels(campaign: Campaign, event: Event, loaded: Sequence[Rows]) -> Resting:
    tasks = Task.objects.filter(campaign=campaign).not_withdrawn()
    judges = {judge for rows in loaded for judge in rows.order_by().values_list("judge", flat=True).distinct()}
    studies = Study.objects.filter(Q(person__in=judges) | Q(judge__in=judges), campaign=campaign)
    verdicts = Adjudication.objects.filter(campaign=campaign).values_list("labels", flat=True)
    return {
        SampledBattle: SampledBattle.objects.filter(
            judge__in=judges, battle__battle_set__campaign=campaign
        ).count(),
        Study: studies.count(),
        Task: tasks.filter(Q(judge__in=judges) | Q(pk__in=_tasks_on_verdicts(event).values("task"))).count(),
        Adjudication: sum(any(label.get("judge") in judges for label in labels) for labels in verdicts),
    }


def _in_words(resting: Resting) -> list[str]:
    counts: dict[tuple[str, str], int] = {}
    for model, count in resting.items():
        meta = model._meta
        noun = NOUNS.get(model, (str(meta.verbose_name), str(meta.verbose_name_plural)))
        counts[noun] = max(counts.get(noun, 0), count)
    return [f"{count:,} {plural(count, *noun)}" for noun, count in counts.items() if count]


def _take_away(kind: str, campaign: Campaign, event: Event, undone: Event) -> None:
    if kind not in LOADED:
        for rows in _labels(kind, event):
            # Kept as history, like the labels of a task that was withdrawn: they count nowhere any more.
            rows.update(stands=False)
        return
    loaded = _loaded(kind, event)
    _forget_withdrawn(campaign, loaded)
    match kind:
        case "run" | "traces":
            runs, _, answers, _, _, *topics, texts = loaded
            names, keys = list(runs.values_list("run_id", flat=True)), list(runs.values_list("pk", flat=True))
            Answer.objects.filter(pk__in=list(answers.values_list("pk", flat=True))).delete()
            Run.objects.filter(pk__in=keys).delete()
            _take_texts_away(campaign, texts, undone)
            for rows in topics:
                rows.delete()
            Finding.objects.filter(campaign=campaign, run_id__in=names).delete()
        case "nuggets":
            lists, *_, nuggets = loaded
            sets = list(lists.values_list("nugget_set", flat=True).distinct())
            gone = list(nuggets.values_list("pk", flat=True))
            lists.delete()
            Nugget.objects.filter(pk__in=gone).delete()
            _drop_empty_sets(campaign, sets)
        case "segments":
            loaded[1].delete()
            _take_texts_away(campaign, loaded[0], undone)
        case _:
            loaded[0].delete()
    _drop_empty(campaign, event)
    _drop_stubs(campaign, event)
    if kind in BRING_TEXTS:
        restate_missing_texts(campaign, undone)


def _forget_withdrawn(campaign: Campaign, loaded: Sequence[Rows]) -> None:
    """Delete what imports left that were taken back where what it is about goes too."""
    for rows in loaded:
        if rows.model in ABOUT:
            forget_left_over(ABOUT[rows.model], rows.values("pk"))
        if rows.model is Battle:
            Verdict.objects.filter(battle__in=rows).delete()
    for battle_set in BattleSet.objects.filter(campaign=campaign, seed="", battles=None):
        if not _is_named(battle_set):
            battle_set.delete()


def _drop_empty(campaign: Campaign, event: Event) -> None:
    """Delete what held nothing but what is taken away."""
    QrelSource.objects.filter(campaign=campaign, qrels=None).exclude(pk__in=Task.objects.values("qrels")).delete()
    ExternalCondition.objects.filter(campaign=campaign, scores=None).delete()
    BattleSet.objects.filter(event=event, battles=None).delete()


def _drop_empty_sets(campaign: Campaign, sets: Sequence[int]) -> None:
    for nugget_set in NuggetSet.objects.filter(campaign=campaign, pk__in=sets, lists=None):
        if not _is_named(nugget_set):
            ConditionDefault.objects.filter(campaign=campaign, nuggets=nugget_set.name).delete()
            nugget_set.delete()


def _is_named(row: models.Model) -> bool:
    """Whether rows name it that would keep it from being deleted."""
    return any(
        relation.related_model._base_manager.filter(**{relation.field.name: row}).exists()
        for relation in _protecting(type(row))
    )


def _take_texts_away(campaign: Campaign, segments: QuerySet[Segment], undone: Event) -> None:
    forget_addressing(campaign, list(segments.values_list("docid", flat=True)))
    empty = {field: None if field.endswith("_char") else "" for field in TEXT_FIELDS}
    segments.filter(_in_use()).update(has_text=False, event=undone, **empty)
    segments.delete()


def _drop_stubs(campaign: Campaign, event: Event) -> None:
    """Delete passages without a text that only this import named."""
    Segment.objects.filter(campaign=campaign, event=event, has_text=False).exclude(_in_use()).delete()


def _in_use() -> Q:
    names_it = (
        models.Exists(relation.related_model._base_manager.filter(**{relation.field.name: models.OuterRef("pk")}))
        for relation in _protecting(Segment)
    )
    return Q(*names_it, _connector=Q.OR)


def listed_imports(campaign: Campaign) -> Iterator[str]:
    """Imports, the newest first: each with its id, when it was, what it loaded, and from which files."""
    pages = dict(ImportAttempt.objects.filter(campaign=campaign).exclude(event=None).values_list("event", "pk"))
    gone = taken_back(campaign)
    for event in imports_of(campaign):
        name = str(pages.get(event.pk, f"e{event.pk}"))
        files = ", ".join(file["name"] for file in event.payload.get("files", []))
        loaded = f"{event.payload.get('added', 0):,} {event.payload.get('of', '')}"
        end = "; taken back" if event.pk in gone else ""
        yield f"{name}\t{event.at:%Y-%m-%d %H:%M}\t{event.kind.removeprefix('import.')}\t{loaded}\t{files}{end}"
