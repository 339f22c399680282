"""Forms of the data page: files to import with their options, and exports."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django import forms
from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest
from django.utils.timezone import localtime

from evaluation.models import Campaign, QrelSource
from evaluation.terms import Condition, JudgeKind, Origin, RagTask, SupportCondition
from exchange.exports.lines import CAMPAIGN, EXPORTS, NUGGET_FORMS
from exchange.exports.service import ExportOrder
from exchange.imports.kinds import ImportKind, ImportOptions
from exchange.imports.service import CHOSEN
from exchange.models import Snapshot
from organizer.forms import choice_field, named

LONGEST = 200
REQUIRED = {
    "qrels": ("source",),
    "nuggets": ("origin", "judge"),
    "assignments": ("origin", "judge", "by"),
    "support": ("judge", "by"),
    "scores": ("name",),
}


class FilesInput(forms.ClearableFileInput):
    """A choice of several files."""

    # Django refuses a widget of several files without it: its own field would keep the last file only.
    allow_multiple_selected = True


class FilesField(forms.FileField):
    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        several = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(file, initial) for file in several]


class ImportForm(forms.Form):
    """The files of one kind, and the options that its command has."""

    def __init__(self, campaign: Campaign, kind: ImportKind, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files)
        self.kind = kind
        widget = FilesInput() if kind.several else forms.FileInput()
        widget.attrs["data-files"] = ""
        self.fields["files"] = FilesField(label="Files" if kind.several else "File", widget=widget)
        offered = _fields(campaign)
        for name in kind.options:
            self.fields[name] = offered[name]
            self.fields[name].required = name in REQUIRED.get(kind.key, ())
        self.fields["replace"] = forms.BooleanField(
            required=False, label="Change what is loaded already, where no label hangs on it"
        )

    @property
    def texts(self) -> list[forms.BoundField]:
        return [self[name] for name in self.kind.options if not isinstance(self.fields[name], forms.BooleanField)]

    @property
    def ticks(self) -> list[forms.BoundField]:
        ticked = [name for name in self.kind.options if isinstance(self.fields[name], forms.BooleanField)]
        return [self[name] for name in [*ticked, "replace"]]

    @property
    def chosen(self) -> ImportOptions:
        values = {
            name: value for name, value in self.cleaned_data.items() if name != "files" and value not in ("", None)
        }
        return CHOSEN.validate_python(values)

    @property
    def sent(self) -> Sequence[Any]:
        return list(self.cleaned_data["files"])


def _fields(campaign: Campaign) -> dict[str, forms.Field]:
    drafts = campaign.nugget_sets.filter(origin=Origin.DRAFT).values_list("name", flat=True)
    return {
        "needed_only": forms.BooleanField(label="Only segments that qrels or runs name"),
        "source": _words("Who graded", "such as NIST or UMBRELA"),
        "group": _words("Group", "without it what the files say"),
        "task": choice_field("Task", "as the files say", named(RagTask)),
        "priority": forms.IntegerField(
            min_value=1, max_value=32767, label="Priority", help_text="1 is judged first"
        ),
        "control": forms.BooleanField(label="Control runs of the organizers"),
        "pool": forms.BooleanField(label="Judge these runs whatever their priority"),
        "origin": choice_field("Origin", "choose", named(Origin)),
        "judge": _words("Judge", "who gave or made what is in the files; made if unknown"),
        "by": choice_field("A person or an LLM", "as usual", named(JudgeKind)),
        "set": _words("Name of the set", "ORIGIN-JUDGE without it"),
        "drafts": choice_field("Made from the drafts", "none", named(drafts)),
        "nuggets": choice_field("Nugget set", "the one of that origin", _sets(campaign)),
        "condition": choice_field("Condition", "as the files say", named(SupportCondition)),
        "name": _words("Name of the table", "under which reports compare with it"),
    }


def _sets(campaign: Campaign) -> list[tuple[str, str]]:
    return [(row.name, f"{row.name} ({row.origin})") for row in campaign.nugget_sets.all()]


def _words(label: str, help_text: str) -> forms.CharField:
    return forms.CharField(max_length=LONGEST, label=label, help_text=help_text)


WHAT = {
    CAMPAIGN: "the whole campaign, as a new snapshot",
    "nuggets": "nuggets",
    "assignments": "assignments",
    "support": "support labels",
    "scores": "scores",
    "qrels": "qrels",
    "time": "time",
    "events": "event log",
}
FORMS = {"nuggetizer": "nuggetizer", "argue": "ARGUE nugget bank"}
POLICY_WORDS = {"missing": "Missing", "unjudged": "Unjudged", "no_vital": "No vital"}
POLICIES = {"missing": ("zero", "skip"), "unjudged": ("exclude", "zero"), "no_vital": ("zero", "skip")}


class ExportForm(forms.Form):
    """Collection to export, and the state it is taken from."""

    what = forms.ChoiceField(choices=[(choice, WHAT[choice]) for choice in (CAMPAIGN, *EXPORTS)], label="What")
    format = forms.ChoiceField(
        choices=[(nugget_form, FORMS[nugget_form]) for nugget_form in NUGGET_FORMS],
        required=False,
        label="Nuggets as",
    )
    name = forms.CharField(max_length=60, required=False, label="Name of the new snapshot")
    judge = forms.CharField(max_length=LONGEST, required=False, label="Judge, where several fit")
    texts = forms.BooleanField(required=False, initial=True, label="With passages, answers and calls")
    pseudonyms = forms.BooleanField(required=False, label="People by pseudonyms")
    segments = forms.BooleanField(required=False, label="Time as recorded stretches")

    def __init__(self, campaign: Campaign, data: Any = None) -> None:
        # A campaign's snapshots have names of their own, and a moment is one.
        now = f"{localtime():%Y-%m-%d-%H%M}"
        super().__init__(data, initial={"name": now}, auto_id="export_%s")
        kept = Snapshot.objects.filter(campaign=campaign)
        graded = QrelSource.objects.filter(campaign=campaign).values_list("name", flat=True)
        self.fields["condition"] = choice_field("Condition", "none", named((*Condition, *SupportCondition)))
        self.fields["nuggets"] = choice_field("Nugget set", "the one that fits", _sets(campaign))
        self.fields["source"] = choice_field("Graded passages of", "the only ones", named(graded))
        self.fields["snapshot"] = forms.ModelChoiceField(
            kept,
            required=False,
            label="State",
            empty_label="as it is now",
            widget=SnapshotSelect(),
        )
        for name, values in POLICIES.items():
            self.fields[name] = forms.ChoiceField(choices=named(values), required=False, label=POLICY_WORDS[name])

    @property
    def policies(self) -> list[forms.BoundField]:
        return [self[name] for name in POLICIES]

    @property
    def order(self) -> ExportOrder:
        data = self.cleaned_data
        names = ("condition", "nuggets", "judge", "source", "format", "segments", *POLICIES)
        # A snapshot is of the whole campaign, whatever was chosen for a collection before.
        options = {name: data[name] for name in names if data[name]} if data["what"] != CAMPAIGN else {}
        return ExportOrder(
            what=data["what"],
            options=options,
            snapshot=data["snapshot"],
            name=data["name"],
            texts=data["texts"],
            names=not data["pseudonyms"],
        )


class SnapshotSelect(forms.Select):
    """Snapshots by the moment that they are of."""

    def create_option(self, name: str, value: Any, label: Any, *args: Any, **more: Any) -> dict[str, Any]:
        kept = getattr(value, "instance", None)
        if kept:
            label = f"{localtime(kept.made_at):%Y-%m-%d %H:%M}, snapshot {kept.name}"
        return super().create_option(name, value, label, *args, **more)


TOO_LARGE = "assay.too_large"
OF_STRANGERS = 1024**2
"""Bytes that a request may bring before anybody is known: the CSRF check reads forms of strangers too."""

View = TypeVar("View", bound=Callable[..., Any])


def takes_large_files(view: View) -> View:
    view.takes_large_files = True  # type: ignore[attr-defined]
    return view


class BoundedUploadHandler(FileUploadHandler):
    """Lets the files of a request pass up to a limit together; then none of them is there.

    The fields before them are, so that the form can say what happened: see `is_too_large`.
    """

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self.received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Count, and pass on. Raises `StopUpload`."""
        self.received += len(raw_data)
        if self.received > _limit(self.request):
            if self.request is not None:
                self.request.META[TOO_LARGE] = True
            # The rest of an import is read and dropped, so that its form can answer; of others it is not read.
            raise StopUpload(connection_reset=not _is_import(self.request))
        return raw_data

    def file_complete(self, file_size: int) -> Any:
        return None


def is_too_large(request: HttpRequest) -> bool:
    return bool(request.META.get(TOO_LARGE))


def _limit(request: HttpRequest | None) -> int:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return OF_STRANGERS
    return int(settings.API_UPLOAD_MAX_BYTES if _is_import(request) else settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def _is_import(request: HttpRequest | None) -> bool:
    match = request.resolver_match if request else None
    view = getattr(match, "func", None)
    return bool(getattr(getattr(view, "cls", view), "takes_large_files", False))
