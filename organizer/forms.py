"""Searches in the lists. A search that makes no sense finds everything, it is not an error."""

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluation.terms import FindingCode, Task
from web.shown import lazy_shown


class Search(forms.Form):
    """Words to look for; `said` has the value of a field, empty where it was not valid."""

    words = forms.CharField(required=False, max_length=200, label=_("Words"))

    def said(self, name: str) -> str:
        """Return a field's value, empty where there is none that is valid."""
        self.is_valid()
        return str(self.cleaned_data.get(name, ""))


class TopicSearch(Search):
    """Words and a tag."""

    tag = forms.CharField(required=False, max_length=100, label=_("Tag"))


class RunSearch(Search):
    """Words and a task."""

    task = forms.ChoiceField(
        required=False, choices=[("", _("any task")), *((task, task) for task in Task)], label=_("Task")
    )


class FindingSearch(Search):
    """A code, and the run it is about."""

    code = forms.ChoiceField(
        required=False,
        choices=[("", _("any code")), *((code, lazy_shown(code.replace("_", " "))) for code in FindingCode)],
        label=_("Code"),
    )
    run = forms.CharField(required=False, max_length=200, label=_("Run"))


class GridSearch(Search):
    """Which labels a topic's grid shows."""

    labels = forms.CharField(required=False, max_length=40, label=_("Labels"))


class AnswerSearch(Search):
    """Which of a run's answers is read."""

    topic = forms.CharField(required=False, max_length=16, label=_("Topic"))
