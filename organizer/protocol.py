"""The protocol: versions, changes, and the forms that change it."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django import forms
from django.contrib import messages
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.blind.guidelines import clean_html
from assessor.progress.matrix import may_organize
from evaluation.campaigns import protocol as protocol_rows
from evaluation.campaigns.protocol import (
    CONDITIONS,
    LONGEST_REASON,
    change_defaults,
    change_protocol,
    defaults_of,
    is_judged,
    judge_names_for,
    protocol_hash,
    set_names_for,
    settings_of,
)
from evaluation.errors import Refused
from evaluation.models import Campaign, Protocol
from evaluation.rules.protocol import GUIDELINES, SETTINGS, Difference, SettingGroup, Value, differences
from evaluation.terms import Condition, JudgeKind, SupportCondition
from organizer import access as organizer_access
from organizer.work import views as work_views
from web.text import plural

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
        super().__init__(data, instance=campaign.protocol, initial={"seal": protocol_hash(campaign), "reason": ""})
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

    def groups(self) -> Iterator[tuple[SettingGroup, list[BoundField]]]:
        for group in SettingGroup:
            names = [
                setting.name
                for setting in SETTINGS.values()
                if setting.group is group and setting is not GUIDELINES
            ]
            yield group, [self[name] for name in names]

    def with_new_seal(self, campaign: Campaign) -> "ProtocolForm":
        """Same values with the current seal, so that saving them replaces the version now in force."""
        return ProtocolForm(campaign, {**dict(self.data.items()), "seal": protocol_hash(campaign)})


class DefaultsForm(forms.Form):
    """The judge and the nugget set of each condition."""

    seal = forms.CharField(widget=forms.HiddenInput, max_length=64)

    def __init__(self, viewer: User, campaign: Campaign, data: Any = None) -> None:
        super().__init__(data, initial={"seal": protocol_hash(campaign)}, auto_id="default_%s")
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
            condition: (values[f"judge_{key_of(condition)}"], values.get(f"nuggets_{key_of(condition)}", ""))
            for condition in CONDITIONS
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
        return DefaultsForm(self.viewer, campaign, {**dict(self.data.items()), "seal": protocol_hash(campaign)})


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


SealedForm = TypeVar("SealedForm", ProtocolForm, DefaultsForm)


@require_safe
@never_cache
def protocol(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, organizer_access.get_campaign(request.user, slug)
    versions = protocol_rows.versions_for(viewer, campaign)
    by_number = {str(version.protocol.version): version.protocol for version in versions}
    in_force = versions[0].protocol
    shown = by_number.get(request.GET.get("version", ""), in_force)
    other = by_number.get(request.GET.get("against", ""))
    settings = settings_of(shown)
    context = {
        "campaign": campaign,
        "shown": shown,
        "in_force": in_force,
        "groups": _groups(settings),
        "guidelines": clean_html(shown.guidelines),
        "other": other,
        "was": _version(other) if other else "",
        "becomes": _version(shown),
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
    campaign = work_views.get_campaign_to_organize(request.user, slug)
    form = ProtocolForm(campaign, _sent(request))
    if form.is_bound and "save" not in request.POST:
        return _change_page(request, campaign, form)
    return _edited(request, campaign, form, _keep_protocol, _change_page)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def defaults(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_views.get_campaign_to_organize(request.user, slug)
    form = DefaultsForm(request.user, campaign, _sent(request))
    return _edited(request, campaign, form, _keep_defaults, _defaults_page)


def _edited(
    request: UserRequest,
    campaign: Campaign,
    form: SealedForm,
    keep: Callable[[Campaign, SealedForm, User], str],
    page: Callable[..., HttpResponse],
) -> HttpResponse:
    """Save a valid form and redirect; otherwise show it with its errors or the refusal.

    A refused form keeps its values and gets the seal of the version now in force.
    """
    if not (form.is_bound and form.is_valid()):
        return page(request, campaign, form)
    try:
        notice = keep(campaign, form, request.user)
    except Refused as refused:
        # With the seal in force now: whoever saves once more has seen the other change.
        return page(request, campaign, form.with_new_seal(campaign), refused)
    messages.success(request, notice or "Nothing was different, so nothing was changed.")
    return redirect("organizer:protocol", campaign.slug)


def _keep_protocol(campaign: Campaign, form: ProtocolForm, actor: User) -> str:
    data = form.cleaned_data
    made = change_protocol(
        campaign=campaign, settings=form.settings, seal=data["seal"], reason=data["reason"], actor=actor
    )
    return f"Saved: version {made.version} is in force." if form.differences else ""


def _keep_defaults(campaign: Campaign, form: DefaultsForm, actor: User) -> str:
    data = form.cleaned_data
    changed = change_defaults(
        campaign=campaign, defaults=form.defaults, seal=data["seal"], reason=data["reason"], actor=actor
    )
    return f"Saved: {changed} {plural(changed, 'condition')} changed." if changed else ""


def _change_page(
    request: UserRequest, campaign: Campaign, form: ProtocolForm, refused: Refused | None = None
) -> HttpResponse:
    looks = form.is_bound and form.is_valid()
    context = {
        "groups": list(form.groups()),
        "in_force": Campaign.objects.get(pk=campaign.pk).protocol,  # not the one that the form has filled
        "looks": looks,
        "differences": form.differences if looks else [],
        "preview": clean_html(form.cleaned_data["guidelines"]) if looks else "",
    }
    return _form_page(request, campaign, form, refused, "organizer/protocol_change.html", context)


def _defaults_page(
    request: UserRequest, campaign: Campaign, form: DefaultsForm, refused: Refused | None = None
) -> HttpResponse:
    context = {"rows": list(form.rows())}
    return _form_page(request, campaign, form, refused, "organizer/protocol_defaults.html", context)


def _form_page(
    request: UserRequest,
    campaign: Campaign,
    form: ProtocolForm | DefaultsForm,
    refused: Refused | None,
    template: str,
    context: dict[str, Any],
) -> HttpResponse:
    context |= {"campaign": campaign, "form": form, "refused": refused, "judged": is_judged(campaign)}
    return render(request, template, context, status=422 if refused or form.errors else 200)


def _sent(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


def _groups(settings: dict[str, Any]) -> list[tuple[SettingGroup, list[tuple[str, str]]]]:
    """Settings in words under their headings, without the guidelines."""
    return [
        (
            group,
            [
                (setting.label, setting.text(settings[setting.name]))
                for setting in SETTINGS.values()
                if setting.group is group and setting is not GUIDELINES
            ],
        )
        for group in SettingGroup
    ]


def _version(protocol: Protocol) -> str:
    return f"Version {protocol.version}"
