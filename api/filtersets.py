"""The filters of each collection."""

from typing import cast, get_args

from django_filters import CharFilter

from api.conditions import assignments_under, choice_of, nuggets_under, state_of, support_under
from api.filters import NO_SUCH, ByAssessor, ByJudge, ByRun, BySet, ByTopic, OfCampaign, Rows, Since, one_of
from api.problems import WrongQuery
from api.readers.scores import Scores
from api.selecting import Computed, Selection
from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.queries.data.judges import Judges
from evaluation.queries.data.labels import Labels
from evaluation.queries.data.nuggets import Nuggets
from evaluation.terms import Condition, FindingCode, Stage, SupportCondition
from jobs.models import Job
from reports.metrics.policies import ExcludeOrZero, ZeroOrSkip

CONDITION = "a condition, resolved as reports do; needs `campaign`"


ZERO_OR_SKIP, EXCLUDE_OR_ZERO = get_args(ZeroOrSkip), get_args(ExcludeOrZero)


class TopicFilters(ByTopic):
    """Of topics."""

    tag = CharFilter(method="tagged", help_text="topics with this tag")

    def tagged(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep what has a tag."""
        return rows.filter(tags__name=value)


class AnswerFilters(ByTopic, ByRun):
    """Of answers."""


class NuggetFilters(ByTopic, ByJudge, BySet):
    """Of nuggets."""

    condition = one_of(Condition, f"the lists of {CONDITION}", "under")
    newest = one_of(["true"], "only the lists that reports read", "of_newest")

    def under(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep a condition's lists."""
        return nuggets_under(rows, self, Condition(value))

    def of_newest(self, rows: Rows, _name: str, _value: str) -> Rows:
        """Keep the newest lists."""
        return cast(Nuggets, self.reader).newest(rows)


class LabelFilters(ByTopic, ByRun, ByJudge, Since):
    """Of labels. Those of a study are told where their judge is named."""

    def filter_queryset(self, queryset: Rows) -> Rows:
        """Keep what was asked for."""
        rows: Rows = super().filter_queryset(queryset)
        return rows if "judge" in self.wanted else cast(Labels, self.reader).counting(rows)


class AssignmentFilters(LabelFilters, BySet):
    """Of assignments."""

    condition = one_of(Condition, CONDITION, "under")

    def under(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep the labels that count under a condition."""
        choice = choice_of(self, value)
        self.rests_on = state_of(choice)
        return assignments_under(rows, choice) if isinstance(choice, NuggetCondition) else rows


class SupportFilters(LabelFilters):
    """Of support judgments."""

    condition = one_of(SupportCondition, CONDITION, "under")

    def under(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep the labels that count under a condition."""
        choice = choice_of(self, value)
        self.rests_on = state_of(choice)
        return support_under(rows, choice) if isinstance(choice, CitationCondition) else rows


class GradeFilters(ByTopic):
    """Of grades."""

    source = CharFilter(method="of_source", help_text="whose grades, by the source's name")

    def of_source(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep one source's."""
        return self.reader.of_kind(rows, value)


class JudgeFilters(OfCampaign):
    """Of judges."""

    def prepare(self) -> None:
        """Look up the campaign."""
        self.of = self.chosen

    @property
    def selection(self) -> Selection:
        """The judges of the campaigns."""
        return Computed(cast(Judges, self.reader).found(self.of))


class JobFilters(ByJudge, Since):
    """Of jobs."""

    state = one_of(Job.State.values, "running, cancelled or done", "in_state")

    def in_state(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep one state."""
        return self.reader.of_kind(rows, value)


class StageFilters(ByTopic, ByAssessor, Since):
    """Of tasks, and of the time that they took."""

    stage = one_of(Stage, "what is to be done", "at_stage")

    def at_stage(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep one stage."""
        return self.reader.at_stage(rows, Stage(value))


class EventFilters(Since, OfCampaign):
    """Of the log."""

    kind = CharFilter(method="of_kind", help_text="one kind of event, such as `import.runs`")

    def of_kind(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep one kind."""
        return self.reader.of_kind(rows, value)


class FindingFilters(ByTopic, ByRun, Since):
    """Of findings."""

    code = one_of(FindingCode, "what was noticed", "of_code")

    def of_code(self, rows: Rows, _name: str, value: str) -> Rows:
        """Keep one code."""
        return self.reader.of_kind(rows, value)


class ScoreFilters(OfCampaign):
    """Of scores: a campaign, a condition, and the policies of the reports."""

    needed = ("campaign", "condition")
    condition = one_of([*Condition, *SupportCondition], "a condition of nuggets or of support")
    judge = CharFilter(help_text="whose labels, where several fit")
    nugget_set = CharFilter(help_text="which nugget set, where several fit")
    run = CharFilter(help_text="a run, by its run id")
    missing = one_of(ZERO_OR_SKIP, "a topic that a run did not answer; default: zero")
    unjudged = one_of(EXCLUDE_OR_ZERO, "an answer with unjudged nuggets; default: exclude")
    no_vital = one_of(ZERO_OR_SKIP, "a topic without vital nuggets; default: zero")
    no_cited = one_of(ZERO_OR_SKIP, "of support: an answer that cites nothing; default: skip")

    def prepare(self) -> None:
        """Find out what the condition means."""
        self.choice = choice_of(self, self.wanted["condition"])
        run = self.wanted.get("run")
        if run and not self.choice.campaign.runs.filter(run_id=run).exists():
            raise WrongQuery({"run": [NO_SUCH]})
        self.rests_on = state_of(self.choice)

    @property
    def selection(self) -> Selection:
        """The runs with their scores."""
        return Computed(cast(Scores, self.reader).found(self.choice, self.wanted))
