"""Searches in the lists. A search that makes no sense finds everything, it is not an error."""

from django import forms

from evaluation.terms import FindingCode, Task


class ListSearch(forms.Form):
    """Words to look for; `value` is empty where a field is not valid."""

    words = forms.CharField(required=False, max_length=200, label="Words")

    def value(self, name: str) -> str:
        """Return a field's value, empty where there is none that is valid."""
        self.is_valid()
        return str(self.cleaned_data.get(name, ""))


class TopicSearch(ListSearch):
    """Words and a tag."""

    tag = forms.CharField(required=False, max_length=100, label="Tag")


class RunSearch(ListSearch):
    """Words and a task."""

    task = forms.ChoiceField(
        required=False, choices=[("", "any task"), *((task, task) for task in Task)], label="Task"
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
    """Which labels a topic's grid shows."""

    labels = forms.CharField(required=False, max_length=40, label="Labels")


class AnswerSearch(ListSearch):
    """Which of a run's answers is read."""

    topic = forms.CharField(required=False, max_length=16, label="Topic")
