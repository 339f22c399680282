"""The protocol: versions, changes, and the forms that change it."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.blind.guidelines import clean_html
from evaluation.errors import Refused
from evaluation.models import Campaign, Protocol
from evaluation.protocols import defaults_of, is_judged, settings_of
from evaluation.queries import protocols as protocol_rows
from evaluation.queries.work import may_organize
from evaluation.rules.protocol import GUIDELINES, SETTINGS, Group, differences
from evaluation.services.protocols import change_defaults, change_protocol
from organizer import getters, work_getters
from organizer.protocol_forms import DefaultsForm, ProtocolForm
from web.text import plural

SealedForm = TypeVar("SealedForm", ProtocolForm, DefaultsForm)


@require_safe
@never_cache
def protocol(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
    versions = protocol_rows.versions_for(viewer, campaign)
    by_number = {str(one.protocol.version): one.protocol for one in versions}
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
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    form = ProtocolForm(campaign, _sent(request))
    if form.is_bound and "save" not in request.POST:
        return _change_page(request, campaign, form)
    return _edited(request, campaign, form, _keep_protocol, _change_page)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def defaults(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
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


def _groups(settings: dict[str, Any]) -> list[tuple[Group, list[tuple[str, str]]]]:
    """Settings in words under their headings, without the guidelines."""
    return [
        (
            group,
            [
                (one.label, one.text(settings[one.name]))
                for one in SETTINGS.values()
                if one.group is group and one is not GUIDELINES
            ],
        )
        for group in Group
    ]


def _version(one: Protocol) -> str:
    return f"Version {one.version}"
