"""Forms of the protocol: settings, and the judge and nugget set of each condition."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms import BoundField

from accounts.models import User
from evaluation.models import Campaign, Protocol
from evaluation.protocols import CONDITIONS, defaults_of, seal_of, settings_of
from evaluation.queries.protocols import judge_names_for, set_names_for
from evaluation.rules.protocol import GUIDELINES, SETTINGS, Difference, Group, Value, differences
from evaluation.services.protocols import LONGEST_REASON
from evaluation.terms import Condition, JudgeKind, SupportCondition

LONGEST_GUIDELINES = 100_000


def _reason() -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=LONGEST_REASON,
        label="Reason",
        widget=forms.Textarea({"rows": 2, "cols": 70}),
    )


class ProtocolForm(forms.ModelForm):  # type: ignore[type-arg]  # django-stubs' generic is none at run time
    """Settings of the version in force, and a seal that tells whether they were changed meanwhile."""

    seal = forms.CharField(widget=forms.HiddenInput, max_length=64)
    reason = _reason()

    class Meta:
        model = Protocol
        fields = [*SETTINGS]
        widgets = {"guidelines": forms.Textarea({"rows": 18, "cols": 90})}

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        self.before = settings_of(campaign.protocol)
        super().__init__(data, instance=campaign.protocol, initial={"seal": seal_of(campaign), "reason": ""})
        for name, setting in SETTINGS.items():
            label = setting.label
            if setting.on:
                label = f"{label}: {setting.on}"
            self.fields[name].label, self.fields[name].help_text = label, _hint(setting.name)
            if setting.words:
                choices = [(key, value) for key, value in setting.words.items()]
                self.fields[name].choices = choices  # type: ignore[attr-defined]
        self.fields["guidelines"].max_length = LONGEST_GUIDELINES  # type: ignore[attr-defined]

    @property
    def settings(self) -> dict[str, Value]:
        return {name: self.cleaned_data[name] for name in SETTINGS}

    @property
    def differences(self) -> list[Difference]:
        return list(differences(self.before, self.settings))

    def groups(self) -> Iterator[tuple[Group, list[BoundField]]]:
        """Fields under their headings, without the guidelines."""
        for group in Group:
            names = [one.name for one in SETTINGS.values() if one.group is group and one is not GUIDELINES]
            yield group, [self[name] for name in names]

    def with_new_seal(self, campaign: Campaign) -> "ProtocolForm":
        """Same values with the current seal, so that saving them replaces the version now in force."""
        return ProtocolForm(campaign, {**dict(self.data.items()), "seal": seal_of(campaign)})


class DefaultsForm(forms.Form):
    """The judge and the nugget set of each condition."""

    seal = forms.CharField(widget=forms.HiddenInput, max_length=64)

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data, initial={"seal": seal_of(campaign)}, auto_id="default_%s")
        self.viewer = viewer
        sets, judges = set_names_for(viewer, campaign), judge_names_for(viewer, campaign)
        for condition, (judge, nuggets) in defaults_of(campaign).items():
            key = key_of(condition)
            self.fields[f"judge_{key}"] = _choice(judges[kind_of(condition)], judge, f"Judge of {condition}")
            if condition in tuple(Condition):
                self.fields[f"nuggets_{key}"] = _choice(sets, nuggets, f"Nuggets of {condition}")
        self.fields["reason"] = _reason()

    @property
    def defaults(self) -> dict[str, tuple[str, str]]:
        values = self.cleaned_data
        return {
            one: (values[f"judge_{key_of(one)}"], values.get(f"nuggets_{key_of(one)}", "")) for one in CONDITIONS
        }

    def rows(self) -> Iterator[tuple[str, BoundField | None, BoundField]]:
        for condition in CONDITIONS:
            key = key_of(condition)
            yield (
                condition,
                self[f"nuggets_{key}"] if f"nuggets_{key}" in self.fields else None,
                self[f"judge_{key}"],
            )

    def with_new_seal(self, campaign: Campaign) -> "DefaultsForm":
        """Same values with the current seal, so that saving them replaces the version now in force."""
        return DefaultsForm(self.viewer, campaign, {**dict(self.data.items()), "seal": seal_of(campaign)})


def key_of(condition: str) -> str:
    return condition.replace("/", "").lower()


def kind_of(condition: str) -> JudgeKind:
    if condition in tuple(Condition):
        return Condition(condition).judge_kind
    return JudgeKind.LLM if condition == SupportCondition.LLM else JudgeKind.HUMAN


def _choice(names: list[str], now: str, label: str) -> forms.ChoiceField:
    there = names if not now or now in names else [now, *names]
    choices = [("", "whatever fits"), *((name, name) for name in there)]
    return forms.ChoiceField(choices=choices, required=False, initial=now, label=label)


def _hint(name: str) -> str:
    setting, field = SETTINGS[name], Protocol._meta.get_field(name)
    if not getattr(field, "null", False):
        return ""
    return f"empty: {setting.none}"
