"""The protocol: versions, changes, and the forms that change it."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.forms import BoundField
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.blind.guidelines import clean_html
from evaluation.campaigns import protocol as protocol_rows
from evaluation.campaigns.access import may_organize
from evaluation.campaigns.contents import nugget_sets_for
from evaluation.campaigns.protocol import (
    CONDITIONS,
    LONGEST_REASON,
    change_defaults,
    change_protocol,
    defaults_of,
    is_judged,
    judge_names_for,
    protocol_hash,
    settings_of,
)
from evaluation.domain.conditions import ALL_PEOPLE, names_to_choose
from evaluation.errors import Refused
from evaluation.models import Campaign, Protocol
from evaluation.rules.protocol import GUIDELINES, SETTINGS, Difference, Setting, SettingGroup, Value, differences
from evaluation.terms import Condition, JudgeKind, SupportCondition
from organizer.access import get_campaign
from organizer.forms import choice_field, named, posted
from reports.terms import condition_words
from web.fields import TextField
from web.text import plural

LONGEST_GUIDELINES = 100_000


def _reason() -> TextField:
    return TextField(
        required=False, max_length=LONGEST_REASON, label="Reason", widget=forms.Textarea({"rows": 2, "cols": 70})
    )


class ProtocolForm(forms.ModelForm):  # type: ignore[type-arg]  # django-stubs' generic is none at run time
    """Settings of the version in force, and a seal that tells whether they were changed meanwhile."""

    seal = TextField(widget=forms.HiddenInput, max_length=64)
    reason = _reason()

    class Meta:
        model = Protocol
        fields = [*SETTINGS]
        widgets = {"guidelines": forms.Textarea({"rows": 18, "cols": 90})}

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        self.before = settings_of(campaign.protocol)
        super().__init__(data, instance=campaign.protocol, initial={"seal": protocol_hash(campaign), "reason": ""})
        for name, setting in SETTINGS.items():
            field = self.fields[name]
            field.label = f"{setting.label}: {setting.on}" if setting.on else setting.label
            may_be_empty = getattr(Protocol._meta.get_field(name), "null", False)
            field.help_text = f"empty: {setting.none}" if may_be_empty else ""
            if setting.words:
                usual = [("", setting.none)] if setting.none else []
                field.choices = [*usual, *setting.words.items()]  # type: ignore[attr-defined]
        self.fields["guidelines"].max_length = LONGEST_GUIDELINES  # type: ignore[attr-defined]

    @property
    def settings(self) -> dict[str, Value]:
        return {name: self.cleaned_data[name] for name in SETTINGS}

    @property
    def differences(self) -> list[Difference]:
        return list(differences(self.before, self.settings))

    def groups(self) -> Iterator[tuple[SettingGroup, list[BoundField]]]:
        for group in SettingGroup:
            yield group, [self[setting.name] for setting in _settings_in(group)]

    def save_changes(self, campaign: Campaign, actor: User) -> str:
        """Notice of the change, '' without one. Raises `Refused`."""
        seal, reason = self.cleaned_data["seal"], self.cleaned_data["reason"]
        version = change_protocol(campaign=campaign, settings=self.settings, seal=seal, reason=reason, actor=actor)
        return f"Saved: version {version.version} is in force." if self.differences else ""


class DefaultsForm(forms.Form):
    seal = TextField(widget=forms.HiddenInput, max_length=64)

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data, initial={"seal": protocol_hash(campaign)}, auto_id="default_%s")
        sets, judges = names_to_choose(nugget_sets_for(viewer, campaign)), judge_names_for(viewer, campaign)
        for condition, (judge, nuggets) in defaults_of(campaign).items():
            key, words = key_of(condition), condition_words(condition)
            names = judges[kind_of(condition)]
            if kind_of(condition) is JudgeKind.HUMAN and len(names) > 1:
                names = [ALL_PEOPLE, *names]
            self.fields[f"judge_{key}"] = _choice(names, judge, f"Judge of {words}")
            if condition in tuple(Condition):
                self.fields[f"nuggets_{key}"] = _choice(sets, nuggets, f"Nuggets of {words}")
        self.fields["reason"] = _reason()

    @property
    def defaults(self) -> dict[str, tuple[str, str]]:
        values = self.cleaned_data
        return {
            condition: (values[f"judge_{key_of(condition)}"], values.get(f"nuggets_{key_of(condition)}", ""))
            for condition in CONDITIONS
        }

    def rows(self) -> Iterator[tuple[str, BoundField | None, BoundField]]:
        for condition in CONDITIONS:
            key = key_of(condition)
            nuggets = self[f"nuggets_{key}"] if f"nuggets_{key}" in self.fields else None
            yield condition, nuggets, self[f"judge_{key}"]

    def save_changes(self, campaign: Campaign, actor: User) -> str:
        """Notice of the change, '' without one. Raises `Refused`."""
        seal, reason = self.cleaned_data["seal"], self.cleaned_data["reason"]
        changed = change_defaults(campaign=campaign, defaults=self.defaults, seal=seal, reason=reason, actor=actor)
        return f"Saved: {changed} {plural(changed, 'condition')} changed." if changed else ""


def key_of(condition: str) -> str:
    return condition.replace("/", "").lower()


def kind_of(condition: str) -> JudgeKind:
    if condition in tuple(Condition):
        return Condition(condition).judge_kind
    return JudgeKind.LLM if condition == SupportCondition.LLM else JudgeKind.HUMAN


def _choice(names: list[str], now: str, label: str) -> forms.ChoiceField:
    # A default may name what no longer fits; without it among the choices, saving the page would clear it silently.
    there = names if not now or now in names else [now, *names]
    field = choice_field(label, "whatever fits", named(there))
    field.initial = now
    return field


def _settings_in(group: SettingGroup) -> list[Setting]:
    """Settings under a heading; the guidelines are shown apart, because they are as long as a page."""
    return [setting for setting in SETTINGS.values() if setting.group is group and setting is not GUIDELINES]


@require_safe
@never_cache
def protocol(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    versions = protocol_rows.versions_for(viewer, campaign)
    by_number = {str(version.version): version for version in versions}
    in_force = versions[0]
    opened = by_number.get(request.GET.get("version", ""), in_force)
    other = by_number.get(request.GET.get("against", ""))
    settings = settings_of(opened)
    context = {
        "campaign": campaign,
        "like": campaign.like,
        "shown": opened,
        "in_force": in_force,
        "groups": [
            (group, [(setting.label, setting.text(settings[setting.name])) for setting in _settings_in(group)])
            for group in SettingGroup
        ],
        "guidelines": clean_html(opened.guidelines),
        "other": other,
        "was": f"Version {other.version}" if other else "",
        "becomes": f"Version {opened.version}",
        "differences": list(differences(settings_of(other), settings)) if other else [],
        "versions": versions,
        "changes": protocol_rows.changes_for(viewer, campaign),
        "defaults": defaults_of(campaign),
        "studies": protocol_rows.seeds_for(viewer, campaign),
        "judged": is_judged(campaign),
        "may_organize": may_organize(viewer, campaign),
    }
    return render(request, "organizer/protocol.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def change(request: UserRequest, slug: str) -> HttpResponse:
    """Settings of the next version; `save` writes what any other button only shows."""
    campaign = get_campaign(request.user, slug, may_organize)
    form, refused = ProtocolForm(campaign, posted(request)), None
    if "save" in request.POST and form.is_valid():
        try:
            return _saved(request, campaign, form)
        except Refused as refusal:
            refused, form = refusal, ProtocolForm(campaign, _resealed(request, campaign))
    looks = form.is_bound and form.is_valid()
    context = {
        "form": form,
        "refused": refused,
        "groups": list(form.groups()),
        # Read anew: the form has filled the campaign's own protocol with what was typed.
        "in_force": Campaign.objects.get(pk=campaign.pk).protocol,
        "looks": looks,
        "differences": form.differences if looks else [],
        "preview": clean_html(form.cleaned_data["guidelines"]) if looks else "",
    }
    return _form_page(request, campaign, "organizer/protocol_change.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def defaults(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form, refused = DefaultsForm(request.user, campaign, posted(request)), None
    if form.is_valid():
        try:
            return _saved(request, campaign, form)
        except Refused as refusal:
            refused, form = refusal, DefaultsForm(request.user, campaign, _resealed(request, campaign))
    context = {"form": form, "refused": refused, "rows": list(form.rows())}
    return _form_page(request, campaign, "organizer/protocol_defaults.html", context)


def _saved(request: UserRequest, campaign: Campaign, form: ProtocolForm | DefaultsForm) -> HttpResponse:
    notice = form.save_changes(campaign, request.user)
    messages.success(request, notice or "Nothing was different, so nothing was changed.")
    return redirect("organizer:protocol", campaign.slug)


def _resealed(request: UserRequest, campaign: Campaign) -> dict[str, Any]:
    # The values that were typed, with the seal in force now: whoever saves once more has seen the other change.
    return {**dict(request.POST.items()), "seal": protocol_hash(campaign)}


def _form_page(request: UserRequest, campaign: Campaign, template: str, context: dict[str, Any]) -> HttpResponse:
    context |= {"campaign": campaign, "judged": is_judged(campaign)}
    fails = context["refused"] or context["form"].errors
    return render(request, template, context, status=422 if fails else 200)
