"""The lines of each export: what is asked for is resolved at once, and refused where it is not clear."""

from collections.abc import Callable, Collection, Container, Iterator, Mapping
from datetime import datetime
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from evaluation.battles import battle_set_named
from evaluation.campaigns.pseudonyms import hide
from evaluation.domain.conditions import NuggetCondition, nugget_sets_of, resolve, resolve_citations
from evaluation.domain.lineage import TRACED, is_traced
from evaluation.errors import Refused
from evaluation.formats.argue import argue_line, keyed_bank_line
from evaluation.formats.assignments import (
    AssignmentRecord,
    LabelRecord,
    UnjudgedRow,
    assignment_line,
    graded_line,
    label_provenance,
)
from evaluation.formats.battles import FORMS as BATTLE_FORMS
from evaluation.formats.lines import json_line, sample_field
from evaluation.formats.nuggets import (
    Evidence,
    NuggetListRow,
    NuggetProvenance,
    NuggetRecord,
    nugget_list_line,
    research_rubrics_line,
    rubric_line,
)
from evaluation.formats.support import SupportRecord, support_line, support_provenance
from evaluation.formats.topics import QrelRecord, qrel_line
from evaluation.judges import OF_PEOPLE
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    Judge,
    Judgment,
    ListedNugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetSet,
    Qrel,
    QrelSource,
    StudyPair,
    SupportJudgment,
)
from evaluation.stages import Stage, stage_of
from evaluation.terms import PROVENANCE_KEY, BattleCondition, Condition, Importance, SupportCondition
from exchange.exports.battles import battle_lines, task_lines
from exchange.exports.citation_judgments import answer_lines
from exchange.exports.score_files import SCORE_FILES
from exchange.snapshots.tables import CampaignRows
from reports.frames import assignment_sheet
from reports.judges.tables import judge_tables, table_of_condition
from reports.metrics.arrays import defined
from reports.metrics.policies import Policies, policies_document
from reports.metrics.registry import Profile, scores_of
from reports.metrics.scores import answer_scores, run_scores
from reports.profiles import profile_of
from reports.random_checks.frame import drawn_rows, random_check_named
from reports.timing.figures import segment_lines, time_lines

Named = TypeVar("Named", NuggetSet, QrelSource)
AnyCondition = TypeVar("AnyCondition", Condition, SupportCondition, BattleCondition)
Topics = Collection[int] | None
"""Topics by primary key; None: all."""

PART = 500


def nugget_lines(
    nugget_set: NuggetSet, topics: Topics = None, *, line: Callable[[NuggetListRow], str] = nugget_list_line
) -> Iterator[str]:
    """Yield the newest submitted list of each of these topics, all for None, as nuggetizer writes it.

    `line` gives another form, such as ARGUE's.
    """
    lineage, evidence = _lineage(nugget_set), _evidence(nugget_set)
    for nugget_list in _newest_lists(nugget_set, topics):
        nuggets = tuple(_nugget_row(item, lineage, evidence) for item in _items(nugget_list))
        assay = {
            "set": nugget_set.name,
            "origin": nugget_set.origin,
            "judge": nugget_set.judge.name,
            "by": nugget_set.judge.kind,
            "version": nugget_list.version,
        }
        if is_traced(nugget_list):
            assay |= TRACED
        yield line(
            NuggetListRow(
                0,
                nugget_list.topic.topic_id,
                nugget_list.query,
                nuggets,
                nugget_list.extra | {PROVENANCE_KEY: assay},
            )
        )


def assignment_lines(
    nugget_set: NuggetSet,
    judge: Judge,
    topics: Topics = None,
    *,
    line: Callable[[AssignmentRecord], str] = assignment_line,
) -> Iterator[str]:
    """Yield a judge's labels of a set's nuggets in these topics, all for None, an answer a line, runs in order.

    A nugget without a label is `null`. An answer without a word has `not_support` for every nugget, by rule.
    """
    newest = {nugget_list.topic_id: nugget_list for nugget_list in _newest_lists(nugget_set, topics)}
    decoys = set(_decoys(judge).values_list("answer", "nugget_version"))
    items = {topic: _items(nugget_list) for topic, nugget_list in newest.items()}
    for answers in _answers_in_parts(nugget_set.campaign, list(items)):
        labels = _labels_of([answer.answer_id for answer in answers], judge)
        for answer in answers:
            listed = items[answer.topic_id]
            label_of = {item.pk: labels.get((answer.answer_id, item.nugget_version_id)) for item in listed}
            labelled = any(label_of.values())
            if labelled or (listed and not answer.answer.words):
                query = newest[answer.topic_id].topic.text
                yield line(_assignment_record(answer, query, listed, label_of, judge, decoys))


def support_lines(
    campaign: Campaign, condition: SupportCondition, judge: Judge, topics: Topics = None
) -> Iterator[str]:
    answers = _names_of_answers(campaign)
    decoys = set(_decoys(judge).values_list("sentence", "segment"))
    labels = SupportJudgment.objects.current().filter(
        condition=condition, judge=judge, sentence__answer__topic__campaign=campaign
    )
    if topics is not None:
        labels = labels.filter(sentence__answer__topic__in=topics)
    labels = labels.select_related("judge__study", "segment", "sentence__answer__topic")
    ordered = labels.order_by("sentence__answer", "sentence__index", "pk")
    for label in ordered.iterator():
        run_id, sample = answers[label.sentence.answer_id]
        yield support_line(
            SupportRecord(
                line=0,
                run_id=run_id,
                sample=sample,
                topic_id=label.sentence.answer.topic.topic_id,
                sentence=label.sentence.index,
                docid=label.segment.docid,
                label=SupportLabel(label.label),
                raw=label.raw,
                condition=SupportCondition(label.condition),
                judge=label.judge.name,
                # An assessor who cannot judge a pair says why; the reason is kept in place of a raw label.
                reason=label.raw or None if label.label == SupportLabel.CANT_JUDGE else None,
                extra={
                    "given_at": _stamp(label.given_at),
                    "by": label.judge.kind,
                    PROVENANCE_KEY: _support_provenance(label)
                    | _decoy((label.sentence_id, label.segment_id) in decoys),
                },
            )
        )


def _names_of_answers(campaign: Campaign) -> dict[int, tuple[str, int]]:
    """Run and sample of each answer."""
    rows = AnswerProvenance.objects.filter(run__campaign=campaign).values_list("answer", "run__run_id", "sample")
    return {answer: (run_id, sample) for answer, run_id, sample in rows}


def _support_provenance(label: SupportJudgment) -> dict[str, Any]:
    provenance = support_provenance(label.evidence, label.shown_label, label.shown_ms, label.accepted)
    return {"submission": label.submission} | _study(label.judge) | provenance


def _study(judge: Judge) -> dict[str, str]:
    # The judge of an imported study has no row of a study here and bears its name only.
    return {"study": judge.study.name if judge.study else judge.name} if judge.aside else {}


def _decoys(judge: Judge) -> QuerySet[StudyPair]:
    return StudyPair.objects.decoys().filter(study=judge.study_id)


def _decoy(is_decoy: bool) -> dict[str, bool]:
    return {"decoy": True} if is_decoy else {}


def judgment_lines(campaign: Campaign, stage: Stage, judge: str) -> Iterator[str]:
    """Yield the labels of a stage that has no file form of its own, with the run of each answer."""
    answers = _names_of_answers(campaign)
    labels = Judgment.objects.current().filter(stage=stage, topic__campaign=campaign)
    labels = labels.filter(judge__name=judge) if judge else labels
    ordered = labels.order_by("judge__name", "topic__position", "pk")
    for label in ordered.select_related("judge__study", "topic", "segment").iterator():
        line: dict[str, Any] = {"stage": stage, "topic_id": label.topic.topic_id}
        for prefix, answer in (("", label.answer_id), ("other_", label.other_id)):
            if answer:
                line[f"{prefix}run_id"], sample = answers[answer]
                line |= {f"{prefix}{name}": number for name, number in sample_field(sample).items()}
        line |= {"docid": label.segment.docid} if label.segment else {}
        line |= {"label": stage.labels.by_code[label.label].word, "judge": label.judge.name}
        line |= {"reason": label.raw} if label.raw else {}
        line |= label.extras
        extra = {"given_at": _stamp(label.given_at), "by": label.judge.kind}
        yield json_line(line, extra | {PROVENANCE_KEY: {"submission": label.submission} | _study(label.judge)})


def qrel_lines(source: QrelSource) -> Iterator[str]:
    qrels = Qrel.objects.filter(source=source).order_by("topic__position", "pk")
    for topic_id, docid, grade in qrels.values_list("topic__topic_id", "segment__docid", "grade"):
        yield qrel_line(QrelRecord(0, topic_id, docid, grade))


def event_lines(campaign: Campaign) -> Iterator[str]:
    """Yield the event log, oldest first, numbered from 1: so in every copy of the campaign."""
    events = Event.objects.filter(campaign=campaign).order_by("pk").select_related("actor")
    for place, event in enumerate(events.iterator(), start=1):
        actor = event.actor.username if event.actor else None
        fields = {"id": place, "at": _stamp(event.at), "kind": event.kind, "actor": actor}
        yield json_line(fields | {"payload": event.payload}, {})


def _newest_lists(nugget_set: NuggetSet, topics: Topics) -> list[NuggetList]:
    lists = nugget_set.lists.newest_submitted().select_related("topic")
    newest = [nugget_list for nugget_list in lists if topics is None or nugget_list.topic_id in topics]
    return sorted(newest, key=lambda nugget_list: nugget_list.topic.position)


def _items(nugget_list: NuggetList) -> list[ListedNugget]:
    return list(nugget_list.items.select_related("nugget_version__nugget").order_by("position"))


Related = dict[int, list[dict[str, Any]]]


def _nugget_row(item: ListedNugget, lineage: Related, evidence: Related) -> NuggetRecord:
    wording = item.nugget_version
    assay: dict[str, Any] = {"id": wording.nugget.public_id, "version": wording.number}
    if wording.pk in lineage:
        assay["lineage"] = lineage[wording.pk]
    if wording.pk in evidence:
        assay["evidence"] = evidence[wording.pk]
    extra = item.extra | {PROVENANCE_KEY: assay}
    rests_on = tuple(Evidence.model_validate(place) for place in evidence.get(wording.pk, ()))
    return NuggetRecord(
        *(wording.text, Importance(item.importance), item.raw_importance, item.group, extra, item.weight),
        provenance=NuggetProvenance(evidence=rests_on),
    )


def _lineage(nugget_set: NuggetSet) -> Related:
    lineage: Related = {}
    rows = NuggetLineage.objects.filter(child__nugget__nugget_set=nugget_set).order_by("pk")
    places = _places_of_parents(nugget_set)
    for child, relation, parent, text in rows.values_list("child", "relation", "parent", "parent__text"):
        lineage.setdefault(child, []).append({"relation": relation, "text": text, "place": places.get(parent)})
    return lineage


def _places_of_parents(nugget_set: NuggetSet) -> dict[int, int]:
    # A text does not say which draft is meant: two drafts may have the same.
    # Versions ascend, so the place in the newest list is the one that stays.
    parents = NuggetLineage.objects.filter(child__nugget__nugget_set=nugget_set).values("parent")
    listed = ListedNugget.objects.filter(nugget_version__in=parents).order_by("nugget_list__version")
    return dict(listed.values_list("nugget_version", "position"))


def _evidence(nugget_set: NuggetSet) -> Related:
    evidence: Related = {}
    rows = NuggetEvidence.objects.filter(nugget_version__nugget__nugget_set=nugget_set).order_by("pk")
    for wording, docid, sentence in rows.values_list("nugget_version", "segment__docid", "sentence"):
        evidence.setdefault(wording, []).append({"docid": docid, "sentence": sentence})
    return evidence


def _answers_in_parts(campaign: Campaign, topics: list[int]) -> Iterator[list[AnswerProvenance]]:
    """Yield the answers to these topics by run and topic, a few hundred at a time: memory stays small."""
    provenance = AnswerProvenance.objects.filter(run__campaign=campaign, topic__in=topics)
    ordered = provenance.select_related("run", "topic", "answer").order_by(
        "run__run_id", "topic__position", "sample"
    )
    rows = ordered.iterator()
    while part := list(islice(rows, PART)):
        yield part


def _labels_of(answers: list[int], judge: Judge) -> dict[tuple[int, int], Assignment]:
    # Submissions ascend: of a list that was judged again, the newest label stays.
    labels = Assignment.objects.current().filter(answer__in=answers, judge=judge).order_by("submission")
    return {(label.answer_id, label.nugget_version_id): label for label in labels}


def _assignment_record(
    answer: AnswerProvenance,
    query: str,
    items: list[ListedNugget],
    label_of: dict[int, Assignment | None],
    judge: Judge,
    decoys: Container[tuple[int, int]],
) -> AssignmentRecord:
    by_rule = not any(label_of.values())
    rows = [
        _label_row(item, label_of[item.pk], by_rule, (answer.answer_id, item.nugget_version_id) in decoys)
        for item in items
    ]
    assay = {"judge": judge.name, "by": judge.kind, "provenance": "rule" if by_rule else "label"} | _study(judge)
    return AssignmentRecord(
        line=0,
        topic_id=answer.topic.topic_id,
        run_id=answer.run.run_id,
        sample=answer.sample,
        labels=tuple(row for row in rows if isinstance(row, LabelRecord)),
        unjudged=tuple(row for row in rows if isinstance(row, UnjudgedRow)),
        response_length=answer.answer.words,
        query=query,
        extra={PROVENANCE_KEY: assay},
    )


def _label_row(
    item: ListedNugget, label: Assignment | None, by_rule: bool, is_decoy: bool
) -> LabelRecord | UnjudgedRow:
    text, importance = item.nugget_version.text, _importance_word(item)
    rubric: Any = {"weight": item.weight, "group": item.group}
    if by_rule:
        return LabelRecord(text, AssignmentLabel.NOT_SUPPORT, "", importance, item.position, **rubric)
    if label is None:
        return UnjudgedRow(text, importance, item.position, **rubric)
    reason = label.raw if label.label == AssignmentLabel.CANT_JUDGE else ""
    assay = {"given_at": _stamp(label.given_at), "submission": label.submission} | _decoy(is_decoy)
    extra = {PROVENANCE_KEY: assay | label_provenance(label.sentence, label.first_label, reason)}
    return LabelRecord(
        *(text, AssignmentLabel(label.label), label.raw, importance, item.position, 0, extra), **rubric
    )


def _importance_word(item: ListedNugget) -> str:
    importance = Importance(item.importance)
    return item.raw_importance if importance is Importance.UNKNOWN else importance.name.lower()


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def score_fields(profile: Profile) -> dict[str, str]:
    """Fields of a profile's scores: what nuggetizer calls them, and our own names where it has none."""
    return {score.name: score.field or score.name for score in scores_of(profile)}


def score_lines(choice: NuggetCondition, policies: Policies) -> Iterator[str]:
    """Yield a line per run and topic with a score, and after each run its means as `qid: all`."""
    sheet = assignment_sheet(choice, policies.profile)
    fields = score_fields(policies.profile)
    answers, means = answer_scores(sheet, policies), run_scores(sheet, policies)
    assay = {
        "condition": str(choice),
        "nuggets": choice.sets_text,
        "judge": choice.judges_text,
        "policies": policies_document(policies),
    }
    for run, run_id in enumerate(sheet.run_ids):
        for topic in np.flatnonzero(answers.counted[:, run]):
            scores = {field: defined(answers.of(name)[topic, run]) for name, field in fields.items()}
            yield json_line({"qid": sheet.topic_ids[topic], "run_id": run_id}, scores)
        if sheet.labelled[run]:
            average = {field: defined(means.of(name)[run]) for name, field in fields.items()}
            yield json_line({"qid": "all", "run_id": run_id}, average | {PROVENANCE_KEY: assay})


Options = Mapping[str, Any]
CAMPAIGN = "campaign"
NAMELESS = ("qrels",)
"""Exports without a name of a person in them."""
NUGGET_FORMS = {
    "nuggetizer": nugget_list_line,
    "argue": argue_line,
    "autojudge": keyed_bank_line,
    "rubric": rubric_line,
    "research-rubrics": research_rubrics_line,
}
LABEL_FORMS = {"nuggetizer": assignment_line, "graded": graded_line}
SUPPORT_FORMS = {"pairs": support_lines, "citations": answer_lines}
RUN_AND_TOPIC = "nuggetizer"
TASKS = "tasks"
EXPORT_FORMS: dict[str, Mapping[str, Callable[..., Any]]] = {
    "nuggets": NUGGET_FORMS,
    "assignments": LABEL_FORMS,
    "support": SUPPORT_FORMS,
    "scores": {RUN_AND_TOPIC: score_lines, **SCORE_FILES},
    "battles": {name: form.line for name, form in BATTLE_FORMS.items()} | {TASKS: task_lines},
}
"""Forms of what has several, the usual one first."""
DEFAULTS: dict[str, Any] = {
    "condition": "",
    "nuggets": "",
    "judge": "",
    "source": "",
    "study": "",
    "set": "",
    "stage": "",
    "missing": "zero",
    "unjudged": "exclude",
    "no_vital": "zero",
    "profile": "",
    "segments": False,
    "form": "",
    "run": "",
    "digits": "17",
    "pseudonyms": False,
}
"""Options of an export that names none."""


def _nuggets(campaign: Campaign, options: Options) -> Iterator[str]:
    line = NUGGET_FORMS[options["form"]]
    if options["condition"] and not options["nuggets"]:
        lists = nugget_sets_of(campaign, _condition(options, Condition))
        if lists:
            return chain.from_iterable(nugget_lines(nugget_set, topics, line=line) for nugget_set, topics in lists)
    return nugget_lines(_nugget_set(campaign, options), line=line)


def _nugget_set(campaign: Campaign, options: Options) -> NuggetSet:
    sets = campaign.nugget_sets.select_related("judge")
    if options["condition"]:
        sets = sets.filter(origin=_condition(options, Condition).origin)
    if options["nuggets"]:
        sets = sets.filter(name=options["nuggets"])
    return _only(sets, campaign.nugget_sets.all(), "no_such_set", "nugget set", "nuggets")


def _only(fitting: QuerySet[Named], every: QuerySet[Named], missing: str, which: str, field: str) -> Named:
    """Row that alone fits. Raises `Refused` with the names to choose from, of all rows where none fits."""
    names = [row.name for row in fitting]
    if len(names) == 1:
        return fitting[0]
    there = names or list(every.values_list("name", flat=True))
    text = f"Say which {which}: {', '.join(there) or 'none'}."
    raise Refused("ambiguous" if names else missing, text, field=field, choices=there)


def condition_of_export(campaign: Campaign, options: Options) -> NuggetCondition:
    condition = _condition(options, Condition)
    return resolve(campaign, condition, judge=options["judge"], nuggets=options["nuggets"])


def _assignments(campaign: Campaign, options: Options) -> Iterator[str]:
    choice, line = condition_of_export(campaign, options), LABEL_FORMS[options["form"]]
    if not choice.judges:
        raise Refused("no_labels", f"There are no labels under {choice} in {campaign.slug}.")
    return chain.from_iterable(
        assignment_lines(part.nugget_set, part.judge, part.topics, line=line)
        for part in choice.parts
        if part.nugget_set and part.judge
    )


def _support(campaign: Campaign, options: Options) -> Iterator[str]:
    lines = SUPPORT_FORMS[options["form"]]
    choice = resolve_citations(campaign, _condition(options, SupportCondition), judge=options["judge"])
    if not choice.judges:
        raise Refused("no_labels", f"There are no support labels under {choice} in {campaign.slug}.")
    return chain.from_iterable(
        lines(campaign, choice.condition, part.judge, part.topics) for part in choice.parts if part.judge
    )


def _judgments(campaign: Campaign, options: Options) -> Iterator[str]:
    there = Judgment.objects.current().filter(topic__campaign=campaign).order_by("stage")
    stages = list(there.values_list("stage", flat=True).distinct())
    if options["stage"] not in stages:
        text = f"Say which stage: {', '.join(stages) or 'no answer or passage is labelled by itself'}."
        raise Refused("no_labels", text, field="stage", choices=stages)
    return judgment_lines(campaign, stage_of(options["stage"]), options["judge"])


def _battles(campaign: Campaign, options: Options) -> Iterator[str]:
    battle_set = battle_set_named(campaign, options["set"])
    if options["form"] == TASKS:
        return task_lines(battle_set)
    condition = _condition(options, BattleCondition)
    return battle_lines(battle_set, condition, options["judge"], BATTLE_FORMS[options["form"]])


def _scores(campaign: Campaign, options: Options) -> Iterator[str]:
    policies = policies_of_export(campaign, options)
    if options["form"] == RUN_AND_TOPIC:
        return score_lines(condition_of_export(campaign, options), policies)
    tables = judge_tables(campaign, [options["condition"]])
    if not tables:
        choice = condition_of_export(campaign, options)
        tables = [table_of_condition(choice, score.name, policies) for score in scores_of(policies.profile)]
    return SCORE_FILES[options["form"]](tables, options)


def policies_of_export(campaign: Campaign, options: Options) -> Policies:
    profile = Profile(options["profile"] or profile_of(campaign))
    return Policies(options["missing"], options["unjudged"], options["no_vital"], profile=profile)


def _qrels(campaign: Campaign, options: Options) -> Iterator[str]:
    sources = QrelSource.objects.filter(campaign=campaign)
    name = options["source"] or (f"{OF_PEOPLE}{options['judge']}" if options["judge"] else "")
    fitting = sources.filter(name=name) if name else sources
    return qrel_lines(_only(fitting, sources, "no_such_source", "qrels", "source"))


def _condition(options: Options, conditions: type[AnyCondition]) -> AnyCondition:
    if options["condition"] not in list(conditions):
        raise Refused(
            "usage",
            f"Say which condition: {', '.join(conditions)}.",
            field="condition",
            choices=[condition.value for condition in conditions],
        )
    return conditions(options["condition"])


def _random_check(campaign: Campaign, options: Options) -> Iterator[str]:
    return (json_line(row, {}) for row in drawn_rows(random_check_named(campaign, options["study"])))


EXPORTS: dict[str, Callable[[Campaign, Options], Iterator[str]]] = {
    "nuggets": _nuggets,
    "assignments": _assignments,
    "support": _support,
    "judgments": _judgments,
    "battles": _battles,
    "scores": _scores,
    "qrels": _qrels,
    "random-check": _random_check,
    "time": lambda campaign, options: segment_lines(campaign) if options["segments"] else time_lines(campaign),
    "events": lambda campaign, _options: event_lines(campaign),
}


def lines_of(what: str, campaign: Campaign, options: Options) -> Iterator[str]:
    """Return an export's lines. Raises `Refused` where it is not clear what is meant, or there is nothing of it."""
    with_defaults = {**DEFAULTS, **options}
    forms = list(EXPORT_FORMS.get(what, ()))
    with_defaults["form"] = form = with_defaults["form"] or (forms[0] if forms else "")
    if form and form not in forms:
        several = f"The forms of {what} are {', '.join(forms)}." if forms else f"An export of {what} has one form."
        raise Refused("usage", several, field="form", choices=forms)
    written = EXPORTS[what](campaign, with_defaults)
    # Score files name runs, topics and measures alone.
    if not with_defaults["pseudonyms"] or what in NAMELESS or form in SCORE_FILES:
        return written
    rows = CampaignRows(campaign, DEFAULT_DB_ALIAS)
    return hide(campaign, rows.people(), rows.judges()).file(written, is_table=what == "time" or form == "arena")
