"""Searches in the lists. An invalid search finds everything and is no error."""

from django import forms

from evaluation.terms import FindingCode, RagTask


class ListSearch(forms.Form):
    """Words to look for; `value` is empty where a field is not valid."""

    words = forms.CharField(required=False, max_length=200, label="Words")

    def value(self, name: str) -> str:
        self.is_valid()
        return str(self.cleaned_data.get(name, ""))


class TopicSearch(ListSearch):
    """Words and a tag."""

    tag = forms.CharField(required=False, max_length=100, label="Tag")


class RunSearch(ListSearch):
    """Words and a task."""

    task = forms.ChoiceField(
        required=False, choices=[("", "any task"), *((task, task) for task in RagTask)], label="Task"
    )


class FindingSearch(ListSearch):
    """A code, and the run it is about."""

    code = forms.ChoiceField(
        required=False,
        choices=[("", "any code"), *((code, code.replace("_", " ")) for code in FindingCode)],
        label="Code",
    )
    run = forms.CharField(required=False, max_length=200, label="Run")


class GridSearch(ListSearch):
    """Labels that a topic's grid shows."""

    labels = forms.CharField(required=False, max_length=40, label="Labels")


class AnswerSearch(ListSearch):
    """Answer of a run to read."""

    topic = forms.CharField(required=False, max_length=16, label="Topic")
