"""One's own keys and reading size: a plain form, which works without a script."""

from collections.abc import Iterator

from django import forms
from django.contrib import messages
from django.forms import BoundField
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from accounts.desk_settings import READING_SIZES, DeskSettings, desk_settings_of, save_desk_settings
from accounts.http import UserRequest
from assessor.keymap import Action, BadKey, actions_of, collisions, default_actions, groups, parse_keys

PREFIX = "key-"


class DeskSettingsForm(forms.Form):
    """Reading size, hints, the switch of single keys, and a field per action with the keys, a space between."""

    reading_size = forms.TypedChoiceField(
        coerce=int, choices=[(size, f"{size} px") for size in READING_SIZES], label="Size of the reading text"
    )
    single_keys = forms.BooleanField(
        required=False, label="Single keys act on the highlighted row, wherever the focus is but in a field"
    )
    hints = forms.BooleanField(required=False, label="Show the keys on the buttons")
    move_on = forms.BooleanField(required=False, label="Move on after a label, to the next one without a label")
    start_at_text = forms.BooleanField(
        required=False, label="Label answers: start at the text of an answer, not at the first nugget to label"
    )
    auto_scroll = forms.BooleanField(required=False, label="Scroll to the evidence when a nugget gets the focus")

    def __init__(self, data: object = None, *, settings: DeskSettings) -> None:
        self._own = actions_of(settings)
        initial = {name: getattr(settings, name) for name in self.base_fields}
        super().__init__(data, initial=initial, label_suffix="")  # type: ignore[arg-type]
        for action in self._own:
            if not action.fixed:
                self.fields[PREFIX + action.id] = _key_field(action)

    def grouped(self) -> Iterator[tuple[str, list[BoundField]]]:
        for group in groups():
            yield group, [self[PREFIX + key.id] for key in self._own if key.group == group and not key.fixed]

    def clean(self) -> None:
        self._keys: dict[str, tuple[str, ...]] = {}
        for action in default_actions():
            if not action.fixed:
                self._take(action)
        if self.errors:
            return
        for chord, *actions in collisions(actions_of(DeskSettings(keys=self._keys))):
            for this, that in (actions, reversed(actions)):
                if not this.fixed:
                    self.add_error(PREFIX + this.id, f"“{chord}” is also the key of “{that.full_label}”.")

    def _take(self, action: Action) -> None:
        try:
            self._keys[action.id] = parse_keys(self.cleaned_data.get(PREFIX + action.id, ""), action)
        except BadKey as fault:
            self.add_error(PREFIX + action.id, str(fault))

    def settings(self) -> DeskSettings:
        defaults = {action.id: action.keys for action in default_actions()}
        return DeskSettings(
            **{name: self.cleaned_data[name] for name in self.base_fields},
            keys={name: keys for name, keys in self._keys.items() if keys != defaults[name]},
        )


def _key_field(action: Action) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"})
    return forms.CharField(
        required=False, max_length=60, label=action.full_label, initial=" ".join(action.keys), widget=widget
    )


@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: UserRequest) -> HttpResponse:
    back = _back(request)
    if request.method != "POST":
        return _page(request, DeskSettingsForm(settings=desk_settings_of(request.user)), back)
    if "defaults" in request.POST:
        save_desk_settings(request.user, DeskSettings())
        messages.success(request, "All settings are as they were at first.")
        return redirect(_own_address(back))
    form = DeskSettingsForm(request.POST, settings=desk_settings_of(request.user))
    if not form.is_valid():
        return _page(request, form, back, status=422)
    save_desk_settings(request.user, form.settings())
    messages.success(request, "Your settings are saved. They hold on every device where you sign in.")
    return redirect(_own_address(back))


def _page(request: UserRequest, form: DeskSettingsForm, back: str, status: int = 200) -> HttpResponse:
    return render(request, "assessor/keys.html", {"form": form, "back": back}, status=status)


def _own_address(back: str) -> str:
    return reverse("assessor:keys", query={"next": back} if back else None)


def _back(request: UserRequest) -> str:
    address = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if safe else ""
