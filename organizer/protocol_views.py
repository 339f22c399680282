"""The protocol: the settings in force and before, what was changed by whom, and changing them."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import UserRequest
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


@require_safe
@never_cache
def protocol(request: UserRequest, slug: str) -> HttpResponse:
    """One version in words, beside another where one is asked for; all versions, and all changes."""
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
    versions = protocol_rows.versions_for(viewer, campaign)
    by_number = {str(one.protocol.version): one.protocol for one in versions}
    in_force = versions[0].protocol
    shown = by_number.get(request.GET.get("version", ""), in_force)
    other = by_number.get(request.GET.get("against", ""))
    said = settings_of(shown)
    context = {
        "campaign": campaign,
        "shown": shown,
        "in_force": in_force,
        "groups": _groups(said),
        "guidelines": clean_html(shown.guidelines),
        "other": other,
        "was": _version(other) if other else "",
        "becomes": _version(shown),
        "differences": list(differences(settings_of(other), said)) if other else [],
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
    """Change settings: see what would differ and how the guidelines look, then save."""
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    if request.method != "POST":
        return _change_page(request, campaign, ProtocolForm(campaign))
    form = ProtocolForm(campaign, request.POST)
    if not form.is_valid():
        return _change_page(request, campaign, form, status=422)
    if "save" not in request.POST:
        return _change_page(request, campaign, form, looks=True)
    try:
        made = change_protocol(
            campaign=campaign,
            settings=form.settings,
            seal=form.cleaned_data["seal"],
            reason=form.cleaned_data["reason"],
            actor=request.user,
        )
    except Refused as refused:
        again = form.with_new_seal(campaign)
        return _change_page(request, campaign, again, looks=again.is_valid(), refused=refused, status=422)
    said = gettext("Saved: version %(version)s is in force.") % {"version": made.version}
    _say(request, bool(form.differences), said)
    return redirect("organizer:protocol", campaign.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def defaults(request: UserRequest, slug: str) -> HttpResponse:
    """Name the judge and the nugget set that each condition means."""
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    if request.method != "POST":
        return _defaults_page(request, campaign, DefaultsForm(request.user, campaign))
    form = DefaultsForm(request.user, campaign, request.POST)
    if not form.is_valid():
        return _defaults_page(request, campaign, form, status=422)
    try:
        changed = change_defaults(
            campaign=campaign,
            defaults=form.defaults,
            seal=form.cleaned_data["seal"],
            reason=form.cleaned_data["reason"],
            actor=request.user,
        )
    except Refused as refused:
        said = request.POST.copy()
        said["seal"] = DefaultsForm(request.user, campaign).initial["seal"]
        again = DefaultsForm(request.user, campaign, said)
        return _defaults_page(request, campaign, again, refused=refused, status=422)
    done = ngettext("Saved: %(count)d condition changed.", "Saved: %(count)d conditions changed.", changed)
    _say(request, bool(changed), done % {"count": changed})
    return redirect("organizer:protocol", campaign.slug)


def _change_page(
    request: UserRequest,
    campaign: Campaign,
    form: ProtocolForm,
    *,
    looks: bool = False,
    refused: Refused | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "form": form,
        "groups": list(form.groups()),
        "in_force": Campaign.objects.get(pk=campaign.pk).protocol,  # not the one that the form has filled
        "looks": looks,
        "differences": form.differences if looks else [],
        "preview": clean_html(form.cleaned_data["guidelines"]) if looks else "",
        "refused": refused,
        "judged": is_judged(campaign),
    }
    return render(request, "organizer/protocol_change.html", context, status=status)


def _defaults_page(
    request: UserRequest,
    campaign: Campaign,
    form: DefaultsForm,
    *,
    refused: Refused | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "form": form,
        "rows": list(form.rows()),
        "refused": refused,
        "judged": is_judged(campaign),
    }
    return render(request, "organizer/protocol_defaults.html", context, status=status)


def _groups(said: dict[str, Any]) -> list[tuple[Group, list[tuple[str, str]]]]:
    """Return the settings under their headings in words, all but the guidelines."""
    return [
        (
            group,
            [
                (one.label, one.said(said[one.name]))
                for one in SETTINGS.values()
                if one.group is group and one is not GUIDELINES
            ],
        )
        for group in Group
    ]


def _version(one: Protocol) -> str:
    return gettext("Version %(version)s") % {"version": one.version}


def _say(request: HttpRequest, changed: bool, said: str) -> None:
    messages.success(request, said if changed else gettext("Nothing was different, so nothing was changed."))
