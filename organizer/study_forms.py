"""Forms of disagreement studies: drawing, handing out, judging by an LLM."""

from typing import Any

from django import forms

from accounts.models import User
from evaluation.models import Campaign, Study
from evaluation.queries.holdings import assignment_counts_for, nugget_sets_for, support_counts_for
from evaluation.queries.studies import topics_of_study
from evaluation.queries.topics import topics_for
from evaluation.queries.work import assessors_for
from evaluation.services.pieces import ASSIGNED
from evaluation.services.studies import GREATEST_SEED, LONGEST_NAME, MOST_PER_TOPIC, PER_TOPIC, StudyWish
from evaluation.terms import StudyKind, SupportCondition
from llmjobs.queries import callable_judges_for

KINDS = [
    (StudyKind.ASSIGNMENT.value, "Assignment: whether answers contain nuggets"),
    (StudyKind.SUPPORT.value, "Support: whether cited passages support sentences"),
]
CONDITIONS = [(word.value, word.value) for word in SupportCondition if word is not SupportCondition.LLM]


class StudyForm(forms.Form):
    """Labels to compare, and the number of differing pairs to draw. No topic chosen means all."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name")
    kind = forms.ChoiceField(choices=KINDS, initial=StudyKind.ASSIGNMENT, widget=forms.RadioSelect, label="Kind")
    condition = forms.ChoiceField(choices=CONDITIONS, label="Person's condition, of support")
    per_topic = forms.IntegerField(
        min_value=1, max_value=MOST_PER_TOPIC, initial=PER_TOPIC, label="Pairs of each topic"
    )
    seed = forms.IntegerField(min_value=0, max_value=GREATEST_SEED, initial=0, label="Seed")
    stratified = forms.BooleanField(required=False, label="Stratified")

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        sets = [(one.name, one.name) for one in nugget_sets_for(viewer, campaign) if one.origin in ASSIGNED]
        counts = [*assignment_counts_for(viewer, campaign), *support_counts_for(viewer, campaign)]
        people, machines = (
            [(name, name) for name in sorted({one.judge for one in counts if one.machine is machine})]
            for machine in (False, True)
        )
        self.fields["nuggets"] = _choice("Nugget set, of assignments", "the only one that fits", sets)
        self.fields["person"] = _choice("Person", "the only one that fits", people)
        self.fields["machine"] = _choice("LLM", "the only one that fits", machines)
        self.fields["topics"] = forms.MultipleChoiceField(
            choices=list(topics_for(viewer, campaign).values_list("topic_id", "text")),
            required=False,
            widget=forms.CheckboxSelectMultiple,
            label="Topics",
        )

    @property
    def wish(self) -> StudyWish:
        values = self.cleaned_data
        return StudyWish(
            name=values["name"],
            kind=StudyKind(values["kind"]),
            person=values["person"],
            machine=values["machine"],
            nuggets=values["nuggets"] if values["kind"] == StudyKind.ASSIGNMENT else "",
            condition=SupportCondition(values["condition"]),
            per_topic=values["per_topic"],
            stratified=values["stratified"],
            seed=values["seed"],
            topics=tuple(values["topics"]),
        )


class HandStudyForm(forms.Form):
    """Independent assessor and topics. No topic chosen means all."""

    due = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}), label="Due")

    def __init__(self, viewer: User, study: Study, data: Any = None) -> None:
        super().__init__(data)
        people = [(user.username, user.name) for user in assessors_for(viewer, study.campaign)]
        self.fields["assessor"] = forms.ChoiceField(choices=people, label="Assessor")
        self.fields["topics"] = forms.MultipleChoiceField(
            choices=[(one.public_id, f"{one.topic_id}: {one.text}") for one in topics_of_study(study)],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            label="Topics",
        )


class JudgeStudyForm(forms.Form):
    """LLM judge for the pairs of a study."""

    def __init__(self, viewer: User, study: Study, data: Any = None) -> None:
        super().__init__(data)
        names = [one.name for one in callable_judges_for(viewer, study.campaign) if one.pk != study.machine_id]
        self.fields["judge"] = forms.ChoiceField(choices=[(name, name) for name in names], label="Second LLM")


def _choice(label: str, unsaid: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(choices=[("", unsaid), *choices], required=False, label=label)
