"""The choices of a report page. They are a GET form: the URL says everything, so it can be sent and kept."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils.choices import flatten_choices
from django.utils.functional import Promise

from evaluation.battles import counted_verdicts
from evaluation.campaigns.create import Preset, PresetName, preset_of
from evaluation.domain.conditions import (
    ALL_PEOPLE,
    CitationCondition,
    NuggetCondition,
    condition_named,
    judges_of,
    names_to_choose,
    resolve,
    resolve_citations,
    support_judges_of,
)
from evaluation.domain.stage_labels import stage_judges_of, stages_of_judgments
from evaluation.errors import Refused, on_side
from evaluation.models import Campaign, Judge, ListedNugget, NuggetLineage
from evaluation.stages import Stage
from evaluation.terms import BattleCondition, Condition, JudgeKind, Origin, SupportCondition, SupportMeasure
from reports.cache import cached_report
from reports.frames import tags_of
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.registry import OF_NUGGETS, Profile, primary_of
from reports.metrics.support import MEASURES, SUPPORT_NAMES
from reports.models import ExternalCondition
from reports.profiles import profile_of, profiles_of, score_groups, score_options
from reports.sides import GRADES, LabelSide, side_named
from web.fields import TextField

PAIRINGS = (
    ("A/A", "E/M"),
    ("A/A", "M/M"),
    ("E/A", "E/M"),
    ("M/A", "M/M"),
    ("llm", "scratch"),
    ("llm", "post-edit"),
)
"""What the studies publish the agreement of."""

LABEL_PAIRINGS = (
    ("E/A", "E/M"),
    ("A/A", "A/M"),
    ("M/A", "M/M"),
    ("llm", "scratch"),
    ("llm", "post-edit"),
    ("scratch", "post-edit"),
)
"""Conditions that label the same items, which those of `PAIRINGS` mostly do not: their nugget lists differ."""
Option = tuple[str, str | Promise]  # what the query string says, and what it is called
ALL = ("", "all")
HIDDEN = partial(TextField, required=False, max_length=60, widget=forms.HiddenInput)
NAMED_BY_CAMPAIGN = ("", "the only one, or the campaign's default")
WEIGHTS = [ALL, ("vital", "vital"), ("okay", "okay")]
ADDED = "added"


@dataclass(frozen=True, slots=True)
class Offer:
    """Sides that a campaign can compare: sets, judges and sources by name, and the conditions with labels.

    `lineage`: some list says what its nuggets were made from.
    """

    campaign: Campaign
    sets: tuple[str, ...]
    judges: tuple[str, ...]
    conditions: tuple[Condition, ...]
    support: tuple[SupportCondition, ...]
    stages: tuple[Stage, ...] = ()
    sources: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    lineage: bool = False

    @property
    def is_labelled(self) -> bool:
        return bool(self.conditions or self.support)

    @property
    def has_scores(self) -> bool:
        return self.is_labelled or bool(self.published)

    @property
    def has_sides(self) -> bool:
        return self.is_labelled or bool(self.stages) or len(self.sources) > 1

    @property
    def first_two(self) -> tuple[str, str]:
        """Sides that scores are compared of where nobody has chosen any: two that have scores, where there are two."""
        sides = (*self.conditions, *self.published)
        if len(sides) < 2 and len(self.support) > 1:
            sides = self.support
        first, *others = sides or (Condition.AA,)
        return first, others[0] if others else Condition.EM

    @property
    def labelled(self) -> tuple[str, ...]:
        return (*self.conditions, *self.support, *(f"{GRADES}{name}" for name in self.sources))

    def pairings(self) -> Iterator[tuple[str, str]]:
        return (pair for pair in PAIRINGS if set(pair) <= set(self.labelled))

    @property
    def first_pairing(self) -> tuple[str, str]:
        """Sides whose labels are compared where nobody has chosen any; some labels, where only one side has any."""
        of_one = (pair for pair in LABEL_PAIRINGS if set(pair) & set(self.labelled))
        return next(self.label_pairings(), None) or next(of_one, (Condition.EA, Condition.EM))

    def label_pairings(self) -> Iterator[tuple[str, str]]:
        yield from (pair for pair in LABEL_PAIRINGS if set(pair) <= set(self.labelled))
        for place, name in enumerate(self.sources):
            yield from ((f"{GRADES}{name}", f"{GRADES}{other}") for other in self.sources[place + 1 :])


def external_names(campaign: Campaign) -> list[str]:
    return list(ExternalCondition.objects.filter(campaign=campaign).values_list("name", flat=True))


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """A nugget set and the judges, by name and kind, who have labels of its nuggets. `person`: who made it, if one."""

    name: str
    origin: Origin
    person: str
    judges: tuple[tuple[str, JudgeKind], ...]
    has_weights: bool

    def condition(self, kind: JudgeKind) -> Condition:
        return Condition.of(self.origin, kind)

    def judges_for(self, condition: str) -> list[tuple[str, JudgeKind]]:
        return [(name, kind) for name, kind in self.judges if self.condition(kind) == condition]


@cached_report(size=64)
def labelled_sets(campaign: Campaign) -> tuple[LabelledSet, ...]:
    labelled = []
    weighted = ListedNugget.objects.filter(nugget_list__nugget_set=OuterRef("pk")).exclude(weight=None)
    sets = campaign.nugget_sets.exclude(origin=Origin.DRAFT).annotate(has_weights=Exists(weighted))
    for nugget_set in sets.select_related("judge"):
        judges = tuple((judge.name, JudgeKind(judge.kind)) for judge in judges_of(nugget_set))
        origin, has_weights = Origin(nugget_set.origin), nugget_set.has_weights
        labelled.append(LabelledSet(nugget_set.name, origin, nugget_set.person, judges, has_weights))
    return tuple(labelled)


def usual_condition(campaign: Campaign) -> Condition:
    """The first condition that has labels, or else nuggets; where weights score, one whose nuggets have them."""
    labelled = labelled_sets(campaign)
    by_weight = profile_of(campaign) is Profile.RUBRIC
    weighted = labelled_conditions(each for each in labelled if each.has_weights) if by_weight else ()
    origins = {each.origin for each in labelled}
    with_nuggets = (condition for condition in Condition if condition.origin in origins)
    return next(iter((*weighted, *labelled_conditions(labelled), *with_nuggets)), Condition.AA)


def usual_battle_condition(campaign: Campaign) -> BattleCondition:
    """Battles by people, unless only LLMs have judged any."""
    kinds = set(counted_verdicts(campaign).order_by().values_list("judge__kind", flat=True).distinct())
    return BattleCondition.LLM if kinds == {JudgeKind.LLM} else BattleCondition.PEOPLE


def labelled_conditions(labelled: Iterable[LabelledSet]) -> tuple[Condition, ...]:
    conditions = {each.condition(kind) for each in labelled for _, kind in each.judges}
    return tuple(condition for condition in Condition if condition in conditions)


def names_of_judges(labelled: Iterable[LabelledSet]) -> set[str]:
    return with_all_people({judge for each in labelled for judge in each.judges})


def with_all_people(judges: set[tuple[str, JudgeKind]]) -> set[str]:
    several = sum(kind is JudgeKind.HUMAN for _, kind in judges) > 1
    return {name for name, _ in judges} | ({ALL_PEOPLE} if several else set())


@cached_report(size=64)
def offer_of(campaign: Campaign) -> Offer:
    labelled, by_support = labelled_sets(campaign), judges_by_support(campaign)
    by_stage = {stage: _judge_names(stage_judges_of(campaign, stage)) for stage in stages_of_judgments()}
    lineage = NuggetLineage.objects.filter(child__nugget__nugget_set__campaign=campaign)
    return Offer(
        campaign=campaign,
        sets=tuple(names_to_choose(labelled)),
        judges=tuple(sorted(names_of_judges(labelled).union(*by_support.values(), *by_stage.values()))),
        conditions=labelled_conditions(labelled),
        support=tuple(condition for condition, judges in by_support.items() if judges),
        stages=tuple(stage for stage, judges in by_stage.items() if judges),
        sources=tuple(campaign.qrel_sources.values_list("name", flat=True)),
        published=tuple(external_names(campaign)),
        lineage=lineage.exclude(child__nugget__nugget_set__origin=Origin.DRAFT).exists(),
    )


def judges_by_support(campaign: Campaign) -> dict[SupportCondition, set[str]]:
    return {condition: _judge_names(support_judges_of(campaign, condition)) for condition in SupportCondition}


def _judge_names(judges: Iterable[Judge]) -> set[str]:
    return with_all_people({(judge.name, JudgeKind(judge.kind)) for judge in judges})


def name_options(names: Iterable[str], *before: Option) -> list[Option]:
    return [*before, *((name, name) for name in names)]


SUPPORT_SCORES = ("Citation support", score_options(Profile.CITATIONS, sizes=True))
BATTLE_SCORES = [("win", "Win rate"), ("rating", "Rating"), ("corrected", "Corrected win rate")]
"""Orders of `report battles`, which the leaderboard offers beside its scores."""
CONDITIONS = [(condition.value, f"{condition.words} ({condition})") for condition in Condition]
SUPPORT_CONDITIONS = [(condition.value, condition.words) for condition in SupportCondition]


class MeasureField(forms.ChoiceField):
    """Where nothing is chosen, the campaign's protocol says it."""

    def __init__(self) -> None:
        super().__init__(
            label="Citations that count",
            choices=[(name.value, measure.words) for name, measure in MEASURES.items()],
            initial=SupportMeasure.FIRST.value,
            help_text="Of the citations that are judged; the published measure is of the first one.",
        )


def track_of(campaign: Campaign) -> str:
    """The track with whose rules of scoring a campaign's are compared: the one that it is like."""
    like = _like(campaign)
    return like.name if like else "TREC 2024"


def usual_rule(field: forms.Field, campaign: Campaign) -> Any:
    like = _like(campaign)
    return like.measure if like and isinstance(field, MeasureField) else field.initial


def _like(campaign: Campaign) -> Preset | None:
    return preset_of(cast(PresetName, campaign.like)) if campaign.like else None


class ChoicesForm(forms.Form):
    """Choices from the query string; what it leaves out has its default. `folded` names fields out of the way.

    Everything is in the address, so that a page can be linked, printed in a paper and opened again as it was.
    """

    folded: tuple[str, ...] = ()
    folded_text: str | Promise = "Nugget sets and judges, where several fit"
    needless: tuple[str, ...] = ()
    """Fields that the page leaves out while they offer nothing but their empty choice."""
    beside_condition: str = ""
    """A field beside the condition, which offers only what fits it."""
    rule_names: tuple[str, ...] = ("missing", "unjudged", "no_vital", "measure", "no_cited", "topics")
    """Policies of scoring, in a fold behind one line that says whether any is not the default."""
    runs_names: tuple[str, ...] = ("group", "task", "tag")
    """Choices of runs and topics, behind one control where a page has several."""

    def __init__(self, query: QueryDict, campaign: Campaign, defaults: dict[str, str] | None = None) -> None:
        initial = {name: field.initial for name, field in self.base_fields.items() if field.initial}
        for name, field in self.base_fields.items():
            if isinstance(field, MeasureField):
                initial[name] = campaign.protocol.measure
        self.campaign = campaign
        super().__init__(data={**initial, **(defaults or {}), **query.dict()}, auto_id="id_%s")
        if "tag" in self.fields:
            self.offer("tag", name_options(tags_of(campaign), ALL))

    @property
    def chosen(self) -> dict[str, Any]:
        return self.cleaned_data

    @property
    def link(self) -> str:
        """The query string that holds every choice: without today's defaults a link would follow the campaign."""
        return urlencode({name: value for name, value in self.data.items() if name in self.fields and value})

    def offer(self, name: str, choices: list[Any]) -> None:
        cast(forms.ChoiceField, self.fields[name]).choices = choices

    @property
    def in_sight(self) -> list[forms.BoundField]:
        apart = (*self.folded, *self.rule_names, *(field.name for field in self.of_runs))
        return [field for field in self if field.name not in apart and not self._is_needless(field)]

    @property
    def rules(self) -> list[forms.BoundField]:
        return [self[name] for name in self.rule_names if name in self.fields]

    @property
    def changed_rules(self) -> list[str]:
        changed = [field for field in self.rules if field.value() != usual_rule(field.field, self.campaign)]
        texts = [(str(field.label).lower(), choices_of(field.field).get(field.value())) for field in changed]
        return [f"{name} {text}" for name, text in texts if text]

    @property
    def scored_as(self) -> str:
        return track_of(self.campaign)

    @property
    def chosen_in_words(self) -> list[tuple[str, str]]:
        """Every choice, for paper, where the form is left out, and for the line that it folds to."""
        fields = [*self.in_sight, *self.of_runs, *self.rules]
        return [
            (str(field.label), str(choices_of(field.field).get(field.value(), field.value())))
            for field in fields
            if field.value() and not field.is_hidden
        ]

    @property
    def of_runs(self) -> list[forms.BoundField]:
        there = (self[name] for name in self.runs_names if name in self.fields)
        return [field for field in there if not self._is_needless(field)]

    @property
    def chosen_runs(self) -> list[str]:
        return [str(field.value()) for field in self.of_runs if field.value()]

    @property
    def out_of_sight(self) -> list[forms.BoundField]:
        return [self[name] for name in self.folded]

    def _is_needless(self, field: forms.BoundField) -> bool:
        return field.name in self.needless and len(choices_of(field.field)) < 2


def ways_out(form: ChoicesForm, refused: Refused | None) -> list[Option]:
    """Return each name that a refusal asks to choose from, with the query string that chooses it."""
    if refused is None:
        return []
    # Both sides of a confusion share one nugget set, so the field of a side may be the form's own.
    fields = (refused.field, refused.field.rpartition("_")[2])
    field = next((name for name in fields if name in form.fields), None)
    if field is None:
        return []
    query = {name: value for name, value in form.data.items() if name in form.fields and value}
    return [(name, urlencode(query | {field: name})) for name in refused.choices]


def choices_of(field: forms.Field) -> dict[Any, Any]:
    return dict(flatten_choices(getattr(field, "choices", ())))


def tag_field(label: str = "Topics tagged") -> forms.ChoiceField:
    return forms.ChoiceField(required=False, label=label)


def support_policies_of(chosen: dict[str, Any]) -> SupportPolicies:
    return SupportPolicies(SupportMeasure(chosen["measure"]), chosen["missing"], chosen["no_cited"])


def no_cited_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Answer that cites nothing",
        choices=[("skip", "is left out"), ("zero", "scores 0")],
        initial="skip",
        help_text="Left out, a run's citation precision is over the answers that cite.",
    )


class PolicyForm(ChoicesForm):
    missing = forms.ChoiceField(
        label="Missing answer",
        choices=[("zero", "scores 0"), ("skip", "is left out")],
        initial="zero",
        help_text="Left out, a run's mean is over the topics that it answered.",
    )
    unjudged = forms.ChoiceField(
        label="Unjudged label",
        choices=[("exclude", "leaves the answer out"), ("zero", "counts 0")],
        initial="exclude",
        help_text="Counted 0, an answer with an unjudged or failed label stays in its run's mean.",
    )
    no_vital = forms.ChoiceField(
        label="No vital nugget",
        choices=[("zero", "scores 0"), ("skip", "is undefined")],
        initial="zero",
        help_text="A topic without a vital nugget, in the scores of vital nuggets.",
    )

    @property
    def policies(self) -> Policies:
        named = {name: self.chosen[name] for name in PolicyForm.base_fields}
        return Policies(**named, profile=self.chosen_profile)

    @property
    def chosen_profile(self) -> Profile:
        """The profile that is chosen, or that of the score, where the form has one; else the protocol's."""
        return Profile(self.chosen.get("profile") or profile_of(self.campaign, self.chosen.get("score", "")))


class ConditionForm(PolicyForm):
    condition = forms.ChoiceField(label="Condition", choices=CONDITIONS)
    nuggets = forms.ChoiceField(label="Nugget set", required=False)
    judge = forms.ChoiceField(label="Judge", required=False)
    tag = tag_field()
    folded: tuple[str, ...] = ("nuggets", "judge")
    field_order = ["condition", "nuggets", "judge", "missing", "unjudged", "no_vital"]

    def __init__(self, query: QueryDict, campaign: Campaign, **defaults: str) -> None:
        labelled = labelled_sets(campaign)
        super().__init__(query, campaign, {"condition": usual_condition(campaign), **defaults})
        self.offer("nuggets", name_options(names_to_choose(labelled), NAMED_BY_CAMPAIGN))
        self.offer("judge", name_options(sorted(names_of_judges(labelled)), NAMED_BY_CAMPAIGN))

    def resolve(self) -> NuggetCondition:
        """Return the condition that a valid form names. Raises `Refused` where several sets or judges fit."""
        condition, judge = Condition(self.chosen["condition"]), self.chosen["judge"]
        return resolve(self.campaign, condition, judge=judge, nuggets=self.chosen["nuggets"])

    def offer_runs(self) -> None:
        runs = list(self.campaign.runs.values_list("group", "task"))
        self.offer("group", name_options(sorted({group for group, _ in runs if group}), ALL))
        self.offer("task", name_options(sorted({task for _, task in runs if task}), ALL))


class ComparisonForm(ChoicesForm):
    """Two sides, each with the judge and the nugget set that it means where several fit.

    The fields of the sides are called after them: scores have x and y, matrices rows and columns.
    """

    first: str
    second: str
    needless: tuple[str, ...] = ("tag",)

    def __init__(self, query: QueryDict, campaign: Campaign, sides: list[Any], defaults: dict[str, str]) -> None:
        super().__init__(query, campaign, defaults)
        self.offered = offer_of(campaign)
        for side in (self.first, self.second):
            self.offer(side, [(group, options) for group, options in sides if options])
            self.offer(f"{side}_judge", name_options(self.offered.judges, NAMED_BY_CAMPAIGN))
        for name in self.fields.keys() & {"nuggets", f"{self.first}_nuggets", f"{self.second}_nuggets"}:
            self.offer(name, name_options(self.offered.sets, NAMED_BY_CAMPAIGN))


class AgreementForm(ComparisonForm, PolicyForm):
    """Two conditions of one kind, or a condition and a published table, and one score."""

    first, second = "x", "y"
    x = forms.ChoiceField(label="Order by")
    x_nuggets = forms.ChoiceField(label="Nugget set of the first", required=False)
    x_judge = forms.ChoiceField(label="Judge of the first", required=False)
    y = forms.ChoiceField(label="Against")
    y_nuggets = forms.ChoiceField(label="Nugget set of the second", required=False)
    y_judge = forms.ChoiceField(label="Judge of the second", required=False)
    score = forms.ChoiceField(label="Scored", choices=[*score_groups(OF_NUGGETS), SUPPORT_SCORES])
    measure = MeasureField()
    no_cited = no_cited_field()
    tag = tag_field()
    curve = forms.BooleanField(required=False, label="By number of topics")
    topics = forms.ChoiceField(
        label="Topics",
        choices=[("common", "only common ones"), ("all", "all of each condition")],
        initial="common",
        help_text="All of each condition: the two sides' run means may be over different topics.",
    )
    folded = ("x_nuggets", "x_judge", "y_nuggets", "y_judge")
    field_order = ["score", "x", "y", "tag", *ChoicesForm.rule_names, "curve"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        offered = offer_of(campaign)
        # Before validation, from what is asked for: a link to two support conditions needs no score in it.
        usual = dict(zip("xy", offered.first_two, strict=True))
        support = {query.get(side, usual[side]) for side in "xy"} & {*SupportCondition}
        defaults = {"score": SUPPORT_NAMES[0] if support else primary_of(profile_of(campaign))}
        sides = [
            ("Nugget scores", CONDITIONS),
            ("Citation support", SUPPORT_CONDITIONS),
            ("Published tables", name_options(offered.published)),
        ]
        super().__init__(query, campaign, sides, defaults | usual)
        self.offer("score", [*score_groups(profiles_of(campaign)), SUPPORT_SCORES])

    def side(self, name: str) -> NuggetCondition | CitationCondition | str:
        """Return the condition of a side, or the name of a published table. Raises `Refused`."""
        side: str = self.chosen[name]
        if side in self.offered.published:
            return side
        judge, nuggets = self.chosen[f"{name}_judge"], self.chosen[f"{name}_nuggets"]
        with on_side(name):
            return condition_named(self.campaign, side, judge=judge, nuggets=nuggets)

    @property
    def chosen_policies(self) -> Policies | SupportPolicies:
        topics = self.chosen["topics"]
        # The score says of which kind both sides are; the form has the policies of both kinds.
        if self.chosen["score"] not in SUPPORT_NAMES:
            return replace(self.policies, topics=topics)
        return replace(support_policies_of(self.chosen), topics=topics)


class NuggetsForm(ConditionForm):
    """Choice of nuggets. Policies are about answers, so here there are none."""

    importance = forms.ChoiceField(label="Importance", required=False, choices=[*WEIGHTS, ("unknown", "unknown")])
    found = forms.ChoiceField(
        required=False,
        label="Found by",
        choices=[
            ("", "any number of runs"),
            ("nobody", "no run"),
            ("some", "some runs"),
            ("everybody", "every run"),
        ],
    )
    missing = unjudged = no_vital = None  # type: ignore[assignment]  # no policy changes anything here
    field_order = ["condition", "importance", "found", "tag"]


class SupportForm(ChoicesForm):
    condition = forms.ChoiceField(label="Condition", choices=SUPPORT_CONDITIONS)
    judge = forms.ChoiceField(label="Judge", required=False)
    measure = MeasureField()
    tag = tag_field()
    missing = PolicyForm.base_fields["missing"]
    no_cited = no_cited_field()
    view, check, target, sort, score = (HIDDEN() for _ in "12345")
    folded = ("judge",)
    rule_names = ("missing", "no_cited")
    field_order = ["condition", "measure", "tag", "missing", "no_cited"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        by_condition = judges_by_support(campaign)
        labelled = (condition for condition, judges in by_condition.items() if judges)
        super().__init__(query, campaign, {"condition": next(labelled, SupportCondition.SCRATCH)})
        self.offer("judge", name_options(sorted(set().union(*by_condition.values())), NAMED_BY_CAMPAIGN))

    def resolve(self) -> CitationCondition:
        """Return the condition that a valid form names. Raises `Refused` where several judges fit."""
        condition = SupportCondition(self.chosen["condition"])
        return resolve_citations(self.campaign, condition, judge=self.chosen["judge"])

    @property
    def policies(self) -> SupportPolicies:
        return support_policies_of(self.chosen)


class ConfusionForm(ComparisonForm):
    first, second = "rows", "columns"
    rows = forms.ChoiceField(label="Rows")
    columns = forms.ChoiceField(label="Columns")
    topic = forms.ChoiceField(label="Topic", required=False)
    run = forms.ChoiceField(label="Run", required=False)
    tag = tag_field("Topics with the tag")
    importance = forms.ChoiceField(required=False, label="Nuggets", choices=WEIGHTS)
    made = forms.ChoiceField(required=False, label="Nuggets that were")
    nuggets = forms.ChoiceField(required=False, label="Nugget set")
    rows_judge = forms.ChoiceField(required=False, label="Rows' judge")
    columns_judge = forms.ChoiceField(required=False, label="Columns' judge")
    folded = ("nuggets", "rows_judge", "columns_judge")
    needless = ("tag", "made")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        offered = offer_of(campaign)
        rows, columns = offered.first_pairing
        sides = [
            ("Nugget labels", CONDITIONS),
            ("Citation labels", SUPPORT_CONDITIONS),
            ("Labels of other stages", [(str(stage), stage.words) for stage in offered.stages]),
            ("Relevance grades", [(f"{GRADES}{name}", name) for name in offered.sources]),
        ]
        super().__init__(query, campaign, sides, {"rows": rows, "columns": columns})
        self.offer("topic", name_options(campaign.topics.values_list("topic_id", flat=True), ALL))
        self.offer("run", name_options(campaign.runs.values_list("run_id", flat=True), ALL))
        self.offer("made", name_options((*NuggetLineage.RELATIONS, ADDED) if offered.lineage else (), ALL))

    def side(self, name: str) -> LabelSide:
        """Return what a side of a valid form means. Raises `Refused`."""
        judge, nuggets = self.chosen[f"{name}_judge"], self.chosen["nuggets"]
        with on_side(name):
            return side_named(self.offered.campaign, self.chosen[name], judge=judge, nuggets=nuggets)

    @property
    def filters(self) -> dict[str, str]:
        names = ("topic", "run", "tag", "importance", "made")
        return {name: self.chosen[name] for name in names if self.chosen[name]}
