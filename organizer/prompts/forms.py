"""Forms of prompts: a new version, a file, a judge with prompts of its own, a trial."""

from typing import Any, get_args

from django import forms

from accounts.models import User
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.formats.source import Source, read_source
from evaluation.models import Campaign
from llmjobs.job_service import judge_for
from llmjobs.job_status import prompts_for
from llmjobs.models import LONGEST_NAME
from llmjobs.prompt_preview import PreviewTarget
from llmjobs.prompt_store import LARGEST_FILE, LONGEST_TEXT, all_templates
from llmjobs.prompts.template import PromptTask
from llmjobs.prompts.texts import TEMPLATES
from llmjobs.trials import GREATEST_SEED, MOST_PAIRS, PAIRS, TrialWish, labelled_by_people
from organizer.jobs.views import BudgetForm, judge_choice

TASKS: tuple[PromptTask, ...] = get_args(PromptTask)
LABELLED: dict[PromptTask, str] = {
    "assign": "nugget set",
    "support": "support,",
    "importance": "nugget set",
    "relevance": "qrels",
}
"""Words before a name of people's labels of each task. Nuggetizing writes texts, which no label compares with."""
TRIABLE: tuple[PromptTask, ...] = tuple(LABELLED)


def task_named(name: str, among: tuple[PromptTask, ...] = TASKS) -> PromptTask:
    return next((task for task in among if task == name), among[0])


class ScopeForm(forms.Form):
    """Owner of a prompt: one campaign, or all."""

    common = forms.BooleanField(required=False, label="common: every campaign here may read and use it")


class PromptForm(ScopeForm):
    """A wording, saved as the next version of its name."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name")
    system = forms.CharField(
        max_length=LONGEST_TEXT, strip=False, label="System text", widget=forms.Textarea(attrs={"rows": 18})
    )
    user = forms.CharField(
        max_length=LONGEST_TEXT, strip=False, label="User text", widget=forms.Textarea(attrs={"rows": 18})
    )


class PromptFileForm(ScopeForm):
    """A wording from a TOML file. Task and name may stand in the file."""

    file = forms.FileField(label="TOML file")
    task = forms.ChoiceField(
        choices=[("", "as the file says"), *((template, template) for template in TEMPLATES)],
        required=False,
        label="Task",
    )
    name = forms.CharField(max_length=LONGEST_NAME, required=False, label="Name, if unsaid in the file")

    def source(self) -> Source:
        """Raises `BadInput`."""
        sent = self.cleaned_data["file"]
        return read_source(sent, name=sent.name, max_bytes=LARGEST_FILE)


class PreviewForm(forms.Form):
    """Item that fills a prompt. By default the first that fits."""

    structured = forms.BooleanField(required=False, label="Structured")

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        topics = topics_for(viewer, campaign).values_list("topic_id", flat=True)
        runs = runs_for(viewer, campaign).values_list("run_id", flat=True)
        self.fields["topic"] = _one_of("Topic", "the first that fits", topics)
        self.fields["run"] = _one_of("Run", "the first that fits", runs)

    @property
    def wish(self) -> PreviewTarget:
        """Chosen item; an unknown choice counts as none."""
        self.is_valid()
        values = self.cleaned_data
        return PreviewTarget(values.get("topic", ""), values.get("run", ""))


class CompareForm(forms.Form):
    """Prompt of the same task to compare with."""

    def __init__(self, viewer: User, task: PromptTask, first: str, other: str = "") -> None:
        """By default the last other prompt of the task is compared."""
        refs = [template.ref for template in all_templates(prompts_for(viewer), task)]
        other = other or next((ref for ref in reversed(refs) if ref != first), first)
        super().__init__(initial={"one": first, "other": other})
        choices = [(ref, ref) for ref in refs]
        self.fields["one"] = forms.ChoiceField(choices=choices, label="From")
        self.fields["other"] = forms.ChoiceField(choices=choices, label="To")


class JudgeForm(forms.Form):
    """A judge with prompts of its own. The model and the address are those of a judge that there is."""

    name = forms.CharField(max_length=200, label="Name")
    structured = forms.BooleanField(required=False, label="Structured")

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data)
        self.fields["like"] = judge_choice(viewer, campaign, "Model and endpoint of")
        for task, built_in in TEMPLATES.items():
            refs = [
                (template.ref, template.ref)
                for template in all_templates(prompts_for(viewer), task)
                if template != built_in
            ]
            self.fields[task] = forms.ChoiceField(
                choices=[("", f"{built_in.ref}, built in"), *refs],
                required=False,
                label=task.capitalize(),
            )

    @property
    def prompts(self) -> dict[str, str]:
        return {task: self.cleaned_data[task] for task in TEMPLATES if self.cleaned_data[task]}


class TrialForm(BudgetForm):
    """Prompts to try, number of labelled pairs, and budget."""

    pairs = forms.IntegerField(min_value=1, max_value=MOST_PAIRS, initial=PAIRS, label="Labels to compare with")
    seed = forms.IntegerField(min_value=0, max_value=GREATEST_SEED, initial=0, label="Seed")
    structured = forms.BooleanField(required=False, label="Structured")

    def __init__(self, viewer: User, campaign: Campaign, task: PromptTask, data: Any = None) -> None:
        super().__init__(data)
        self.task = task
        self.fields["prompts"] = forms.MultipleChoiceField(
            choices=[(template.ref, template.ref) for template in all_templates(prompts_for(viewer), task)],
            widget=forms.CheckboxSelectMultiple,
            label="Prompts",
        )
        self.fields["judge"] = judge_choice(viewer, campaign, "Model and endpoint of")
        self.fields["of"] = forms.ChoiceField(choices=_labelled(campaign, task), label="Labels by people of")

    @property
    def wish(self) -> TrialWish:
        """Raises `Refused` for a judge that cannot be called."""
        values = self.cleaned_data
        return TrialWish(
            task=self.task,
            refs=tuple(values["prompts"]),
            like=judge_for(values["judge"]),
            of=values["of"],
            pairs=values["pairs"],
            seed=values["seed"],
            structured=values["structured"],
            budget=self.budget,
        )


def _labelled(campaign: Campaign, task: PromptTask) -> list[tuple[str, str]]:
    """Labelled material: nugget sets, conditions of support, or qrels."""
    return [(name, f"{LABELLED[task]} {name}") for name in labelled_by_people(campaign, task)]


def _one_of(label: str, unsaid: str, names: Any) -> forms.ChoiceField:
    return forms.ChoiceField(
        choices=[("", unsaid), *((name, name) for name in names)], required=False, label=label
    )
