"""The choices of a report page. They are a GET form: the URL says everything, so it can be sent and kept."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise

from evaluation.domain.conditions import judges_of, support_judges_of
from evaluation.models import Campaign, Judge, NuggetLineage, NuggetSet
from evaluation.terms import Condition, JudgeKind, Origin, SupportCondition
from reports.cache import cached_report
from reports.frames import tags_of
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.scores import LENGTH, SCORE_NAMES
from reports.metrics.support import SUPPORT_NAMES
from reports.models import VERDICTS, ExternalCondition
from reports.terms import CATEGORY_WORDS

GRADES = "qrels:"
"""Before the name of a source of qrels, which may be called like a condition."""

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
"""Conditions that label the same items."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Sides that a campaign can compare: sets, judges and sources by name, and the conditions with labels.

    `lineage`: some list says what its nuggets were made from.
    """

    campaign: Campaign
    sets: tuple[NuggetSet, ...]
    judges: tuple[str, ...]
    conditions: tuple[Condition, ...]
    support: tuple[SupportCondition, ...]
    sources: tuple[str, ...] = ()
    published: tuple[str, ...] = field(default=())
    lineage: bool = False

    @property
    def labelled(self) -> tuple[str, ...]:
        return (*self.conditions, *self.support, *(f"{GRADES}{name}" for name in self.sources))

    def pairings(self) -> Iterator[tuple[str, str]]:
        return (pair for pair in PAIRINGS if set(pair) <= set(self.labelled))

    def label_pairings(self) -> Iterator[tuple[str, str]]:
        yield from (pair for pair in LABEL_PAIRINGS if set(pair) <= set(self.labelled))
        for place, name in enumerate(self.sources):
            yield from ((f"{GRADES}{name}", f"{GRADES}{other}") for other in self.sources[place + 1 :])


def external_names(campaign: Campaign) -> list[str]:
    return list(ExternalCondition.objects.filter(campaign=campaign).values_list("name", flat=True))


@cached_report(size=64)
def offer_of(campaign: Campaign) -> Offer:
    sets = tuple(campaign.nugget_sets.exclude(origin=Origin.DRAFT))
    by_set = [(one, list(judges_of(one))) for one in sets]
    by_support = {one: list(support_judges_of(campaign, one)) for one in SupportCondition}
    kinds = {(Origin(one.origin), JudgeKind(judge.kind)) for one, judges in by_set for judge in judges}
    everybody: list[Judge] = [judge for _, judges in by_set for judge in judges]
    everybody += [judge for judges in by_support.values() for judge in judges]
    return Offer(
        campaign=campaign,
        sets=sets,
        judges=tuple(sorted({one.name for one in everybody})),
        conditions=tuple(one for one in Condition if (one.origin, one.judge_kind) in kinds),
        support=tuple(one for one, judges in by_support.items() if judges),
        sources=tuple(campaign.qrel_sources.values_list("name", flat=True)),
        published=tuple(external_names(campaign)),
        lineage=NuggetLineage.objects.filter(child__nugget__nugget_set__in=sets).exists(),
    )


def side_text(name: str) -> str:
    return name.removeprefix(GRADES)


def first_conditions(sets: Iterable[NuggetSet]) -> dict[str, str]:
    kinds = {(Origin(one.origin), judge.kind) for one in sets for judge in judges_of(one)}
    there = [condition for condition in Condition if (condition.origin, condition.judge_kind) in kinds]
    x = there[0] if there else Condition.AA
    return {"x": x, "y": next((one for one in there if one is not x), Condition.EM)}


Option = tuple[str, str | Promise]
"""A choice of a field: what the query string says, and what it is called."""
NAMED_BY_CAMPAIGN = ("", "the only one, or the campaign's default")


class ChoicesForm(forms.Form):
    """Choices from the query string; what it leaves out has its default. `folded` names what stands out of the way."""

    folded: tuple[str, ...] = ()
    folded_text: str | Promise = "Nugget sets and judges, where several fit"

    def __init__(self, query: QueryDict, defaults: dict[str, str] | None = None) -> None:
        initial = {name: field.initial for name, field in self.base_fields.items() if field.initial}
        super().__init__(data={**initial, **(defaults or {}), **query.dict()}, auto_id="id_%s")

    @property
    def chosen(self) -> dict[str, Any]:
        return self.cleaned_data

    @property
    def link(self) -> str:
        """The query string that holds every choice, those of today's defaults too."""
        return urlencode({name: value for name, value in self.data.items() if name in self.fields and value})

    def offer(self, name: str, choices: Iterable[Option]) -> None:
        _offer(self.fields[name], list(choices))

    @property
    def in_sight(self) -> list[forms.BoundField]:
        return [one for one in self if one.name not in self.folded]

    @property
    def out_of_sight(self) -> list[forms.BoundField]:
        return [self[name] for name in self.folded]


class PolicyForm(ChoicesForm):
    """The policies of nugget scores; what the query string leaves out has its default."""

    missing = forms.ChoiceField(
        label="Missing answer", choices=[("zero", "scores 0"), ("skip", "is left out")], initial="zero"
    )
    unjudged = forms.ChoiceField(
        label="Unjudged label",
        choices=[("exclude", "leaves the answer out"), ("zero", "counts 0")],
        initial="exclude",
    )
    no_vital = forms.ChoiceField(
        label="No vital nugget", choices=[("zero", "scores 0"), ("skip", "is undefined")], initial="zero"
    )


def choices_of_names(names: Iterable[str]) -> list[Option]:
    return [NAMED_BY_CAMPAIGN, *((name, name) for name in names)]


class BoardForm(PolicyForm):
    """A leaderboard: condition, and where several fit, which nugget set and judge."""

    condition = forms.ChoiceField(label="Condition", choices=[(word.value, word.value) for word in Condition])
    nuggets = forms.ChoiceField(label="Nugget set", required=False)
    judge = forms.ChoiceField(label="Judge", required=False)
    field_order = ["condition", "nuggets", "judge", "missing", "unjudged", "no_vital"]

    def __init__(
        self, query: QueryDict, *, sets: Iterable[str], judges: Iterable[str], defaults: dict[str, str]
    ) -> None:
        super().__init__(query, defaults)
        _offer(self.fields["nuggets"], choices_of_names(sets))
        _offer(self.fields["judge"], choices_of_names(judges))

    @property
    def chosen_condition(self) -> Condition:
        return Condition(self.chosen["condition"])

    @property
    def policies(self) -> Policies:
        return Policies(
            missing=self.chosen["missing"], unjudged=self.chosen["unjudged"], no_vital=self.chosen["no_vital"]
        )


SCORES = [(name, name.replace("_", " ")) for name in (*SCORE_NAMES, LENGTH)]


class LeaderboardForm(BoardForm):
    """A leaderboard as a page: also which support of citations stands beside it, which runs, and their order."""

    score = forms.ChoiceField(label="Intervals and tests of", choices=SCORES, initial="vital_strict")
    support = forms.ChoiceField(
        required=False,
        label="Support of citations",
        choices=[("", "not shown"), *((word.value, word.value) for word in SupportCondition)],
    )
    support_judge = forms.ChoiceField(label="Support judge", required=False)
    no_cited = forms.ChoiceField(
        label="Answer that cites nothing",
        choices=[("skip", "is left out"), ("zero", "scores 0")],
        initial="skip",
    )
    group = forms.ChoiceField(label="Group", required=False)
    task = forms.ChoiceField(label="Task", required=False)
    tag = forms.ChoiceField(required=False, label="Topics tagged")
    sort = forms.CharField(required=False, max_length=30, widget=forms.HiddenInput)
    compare = forms.BooleanField(required=False, label="Test every two of the runs shown")
    field_order = ["condition", "score", "support", "group", "task"]

    def __init__(
        self,
        query: QueryDict,
        *,
        groups: Iterable[str],
        tasks: Iterable[str],
        tags: Iterable[str],
        support_judges: Iterable[str],
        **names: Any,
    ) -> None:
        super().__init__(query, **names)
        self.offer("tag", [("", "all"), *((name, name) for name in tags)])
        _offer(self.fields["group"], [("", "all"), *((name, name) for name in groups)])
        _offer(self.fields["task"], [("", "all"), *((name, name) for name in tasks)])
        _offer(self.fields["support_judge"], choices_of_names(support_judges))

    @property
    def chosen_support(self) -> SupportCondition | None:
        return SupportCondition(self.chosen["support"]) if self.chosen["support"] else None

    @property
    def support_policies(self) -> SupportPolicies:
        return SupportPolicies(missing=self.chosen["missing"], no_cited=self.chosen["no_cited"])


SUPPORT_SCORES = [(name, name.replace("_", " ")) for name in SUPPORT_NAMES]


class AgreementForm(PolicyForm):
    """Two conditions of one kind, or a condition and a published table, and one score."""

    x = forms.ChoiceField(label="x")
    x_nuggets = forms.ChoiceField(label="x nugget set", required=False)
    x_judge = forms.ChoiceField(label="x judge", required=False)
    y = forms.ChoiceField(label="y")
    y_nuggets = forms.ChoiceField(label="y nugget set", required=False)
    y_judge = forms.ChoiceField(label="y judge", required=False)
    score = forms.ChoiceField(label="Score", choices=[("Nugget scores", SCORES), ("Support", SUPPORT_SCORES)])
    no_cited = forms.ChoiceField(
        label="Answer that cites nothing",
        choices=[("skip", "is left out"), ("zero", "scores 0")],
        initial="skip",
    )
    tag = forms.ChoiceField(required=False, label="Topics tagged")
    curve = forms.BooleanField(required=False, label="Tau by number of topics")
    topics = forms.ChoiceField(
        label="Topics",
        choices=[("all", "all of each condition"), ("common", "only common ones")],
        initial="all",
    )
    field_order = [
        "x",
        "x_nuggets",
        "x_judge",
        "y",
        "y_nuggets",
        "y_judge",
        "score",
        "tag",
        "topics",
        "missing",
        "unjudged",
        "no_vital",
        "no_cited",
    ]

    def __init__(
        self,
        query: QueryDict,
        *,
        sets: Iterable[str],
        judges: Iterable[str],
        published: Iterable[str],
        tags: Iterable[str],
        defaults: dict[str, str],
    ) -> None:
        support = {query.get("x"), query.get("y")} & {*SupportCondition}
        super().__init__(query, {"score": SUPPORT_NAMES[0] if support else SCORE_NAMES[0], **defaults})
        sides = [
            ("Nugget scores", [(word.value, word.value) for word in Condition]),
            ("Support", [(word.value, word.value) for word in SupportCondition]),
        ]
        self.offer("tag", [("", "all"), *((name, name) for name in tags)])
        tables = [("Published tables", [(name, name) for name in published])]
        for side in "xy":
            _offer(self.fields[side], [*sides, *(tables if tables[0][1] else [])])
            _offer(self.fields[f"{side}_nuggets"], choices_of_names(sets))
            _offer(self.fields[f"{side}_judge"], choices_of_names(judges))

    @property
    def policies(self) -> Policies | SupportPolicies:
        if self.chosen["score"] in SUPPORT_NAMES:
            return SupportPolicies(
                missing=self.chosen["missing"], no_cited=self.chosen["no_cited"], topics=self.chosen["topics"]
            )
        return Policies(
            missing=self.chosen["missing"],
            unjudged=self.chosen["unjudged"],
            no_vital=self.chosen["no_vital"],
            topics=self.chosen["topics"],
        )


def _offer(field: forms.Field, choices: list[Any]) -> None:
    cast(forms.ChoiceField, field).choices = choices


ALL = ("", "all")


def _tag_field() -> forms.ChoiceField:
    return forms.ChoiceField(required=False, label="Topics tagged")


def _all_and(names: list[str]) -> list[Option]:
    return [ALL, *((name, name) for name in names)]


class DescriptivesForm(ChoicesForm):
    """Choice of topics: those with a tag, and those that some set has a list for."""

    tag = _tag_field()
    listed_in = forms.ChoiceField(required=False, label="Only topics of")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query)
        self.offer("tag", _all_and(tags_of(campaign)))
        self.offer("listed_in", _all_and([one.name for one in campaign.nugget_sets.all()]))


class ConditionForm(BoardForm):
    """A condition of nugget scores in a campaign, in all topics or those with a tag."""

    tag = _tag_field()
    folded = ("nuggets", "judge")

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        sets = list(campaign.nugget_sets.exclude(origin=Origin.DRAFT))
        judges = {judge.name for judge in judges_of(*sets)}
        super().__init__(
            query,
            sets=[one.name for one in sets],
            judges=sorted(judges),
            defaults={"condition": first_conditions(sets)["x"]},
        )
        self.offer("tag", _all_and(tags_of(campaign)))


class NuggetsForm(ConditionForm):
    """Choice of nuggets. Policies are about answers, so here there are none."""

    importance = forms.ChoiceField(
        label="Importance",
        required=False,
        choices=[ALL, ("vital", "vital"), ("okay", "okay"), ("unknown", "unknown")],
    )
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
    field_order = ["condition", "importance", "found", "tag"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query, campaign)
        for name in ("missing", "unjudged", "no_vital"):
            del self.fields[name]


class LengthForm(ConditionForm):
    """A score against length."""

    score = forms.ChoiceField(label="Score", choices=SCORES[:-1], initial="vital_strict")
    group = forms.ChoiceField(label="Group", required=False)
    task = forms.ChoiceField(label="Task", required=False)
    field_order = ["condition", "score", "group", "task", "tag"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query, campaign)
        runs = list(campaign.runs.values_list("group", "task"))
        self.offer("group", _all_and(sorted({group for group, _ in runs if group})))
        self.offer("task", _all_and(sorted({task for _, task in runs if task})))


class PacketForm(ConditionForm):
    """One group's packet."""

    group = forms.ChoiceField(label="Group")
    field_order = ["group", "condition", "tag"]

    def __init__(self, query: QueryDict, campaign: Campaign, groups: list[str]) -> None:
        chosen = query.copy()
        chosen.setdefault("group", groups[0] if groups else "")
        super().__init__(chosen, campaign)
        self.offer("group", [(name, name) for name in groups])
        self.fields["group"].required = bool(groups)


class SupportForm(ChoicesForm):
    """A support condition."""

    condition = forms.ChoiceField(
        label="Condition", choices=[(word.value, word.value) for word in SupportCondition]
    )
    judge = forms.ChoiceField(label="Judge", required=False)
    tag = _tag_field()
    missing = BoardForm.base_fields["missing"]
    no_cited = forms.ChoiceField(
        label="Answer that cites nothing",
        choices=[("skip", "is left out"), ("zero", "scores 0")],
        initial="skip",
    )
    folded = ("judge",)
    field_order = ["condition", "tag", "missing", "no_cited"]

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        by_condition = {one: list(support_judges_of(campaign, one)) for one in SupportCondition}
        labelled = next((one for one, judges in by_condition.items() if judges), SupportCondition.SCRATCH)
        super().__init__(query, {"condition": labelled})
        names = sorted({judge.name for judges in by_condition.values() for judge in judges})
        self.offer("judge", choices_of_names(names))
        self.offer("tag", _all_and(tags_of(campaign)))

    @property
    def chosen_condition(self) -> SupportCondition:
        return SupportCondition(self.chosen["condition"])

    @property
    def policies(self) -> SupportPolicies:
        return SupportPolicies(missing=self.chosen["missing"], no_cited=self.chosen["no_cited"])


class TimeForm(ChoicesForm):
    """Choice of times: of topics with a tag, and under a fixed idle limit."""

    tag = _tag_field()
    idle = forms.IntegerField(
        required=False,
        min_value=30,
        max_value=3600,
        label="Idle limit in seconds; empty: from the words on screen",
    )

    def __init__(self, query: QueryDict, campaign: Campaign) -> None:
        super().__init__(query)
        self.offer("tag", _all_and(tags_of(campaign)))

    @property
    def idle_limit(self) -> int | None:
        """The fixed idle limit; None for the one that follows from the words on screen."""
        found: Any = self.chosen["idle"]
        return None if found is None else int(found)


EVERYTHING = [("", "all")]
ADDED = "added"
MADE = [*EVERYTHING, *((word, word) for word in (*NuggetLineage.RELATIONS, ADDED))]
WEIGHTS = [*EVERYTHING, ("vital", "vital"), ("okay", "okay")]


class ConfusionForm(forms.Form):
    """Two sides that label the same items, and filters; what the query string leaves out has its default."""

    rows = forms.ChoiceField(label="Rows")
    columns = forms.ChoiceField(label="Columns")
    topic = forms.ChoiceField(label="Topic", required=False)
    run = forms.ChoiceField(label="Run", required=False)
    tag = forms.ChoiceField(required=False, label="Topics with the tag")
    importance = forms.ChoiceField(required=False, label="Nuggets", choices=WEIGHTS)
    made = forms.ChoiceField(required=False, label="Nuggets that were")
    nuggets = forms.ChoiceField(required=False, label="Nugget set")
    rows_judge = forms.ChoiceField(required=False, label="Rows' judge")
    columns_judge = forms.ChoiceField(required=False, label="Columns' judge")

    def __init__(
        self,
        query: QueryDict,
        offer: Offer,
        *,
        topics: Iterable[str],
        runs: Iterable[str],
        tags: Iterable[str],
    ) -> None:
        first = next(offer.label_pairings(), (Condition.EA.value, Condition.EM.value))
        super().__init__(data={"rows": first[0], "columns": first[1], **query.dict()}, auto_id="id_%s")
        sides = _sides(offer)
        for name, choices in {
            "rows": sides,
            "columns": sides,
            "topic": [*EVERYTHING, *((topic, topic) for topic in topics)],
            "run": [*EVERYTHING, *((run, run) for run in runs)],
            "tag": [*EVERYTHING, *((tag, tag) for tag in tags)],
            "nuggets": choices_of_names(one.name for one in offer.sets),
            "rows_judge": choices_of_names(offer.judges),
            "columns_judge": choices_of_names(offer.judges),
            "made": MADE if offer.lineage else EVERYTHING,
        }.items():
            cast(forms.ChoiceField, self.fields[name]).choices = choices

    @property
    def chosen(self) -> dict[str, Any]:
        return self.cleaned_data

    @property
    def link(self) -> str:
        """The query string that holds every choice, those of today's defaults too."""
        return urlencode({name: value for name, value in self.data.items() if name in self.fields and value})


class VerdictForm(forms.Form):
    """Verdict of an adjudicator on a pair."""

    verdict = forms.TypedChoiceField(
        label="Verdict", coerce=int, widget=forms.RadioSelect, choices=[(one, one) for one in VERDICTS]
    )
    category = forms.ChoiceField(
        required=False,
        label="Why they differ",
        choices=[("", "not said"), *((one.value, text) for one, text in CATEGORY_WORDS.items())],
    )
    note = forms.CharField(label="Note", required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 3}))


def _sides(offer: Offer) -> list[Any]:
    grades = [(f"{GRADES}{name}", name) for name in offer.sources]
    sides: list[Any] = [
        ("Nugget labels", [(one.value, one.value) for one in Condition]),
        ("Support labels", [(one.value, one.value) for one in SupportCondition]),
    ]
    return [*sides, ("Relevance grades", grades)] if grades else sides
