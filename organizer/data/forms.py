"""Forms of the data page: files to import with their options, and exports."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from enum import StrEnum
from typing import Any, TypeVar, cast

from django import forms
from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest, QueryDict
from django.utils.formats import date_format
from django.utils.timezone import localtime

from accounts.models import User
from assessor.models import TimeSegment
from evaluation.campaigns import contents
from evaluation.campaigns.access import may_organize
from evaluation.domain.conditions import ALL_PEOPLE, names_to_choose
from evaluation.errors import Refused
from evaluation.formats import score_files
from evaluation.imports.battles import IMPORTED
from evaluation.models import BattleSet, Campaign, Event, Run, Task
from evaluation.terms import Condition, JudgeKind, Origin, RagTask, SupportCondition
from exchange.exports import lines
from exchange.exports.lines import EXPORT_FORMS
from exchange.exports.service import ExportOrder, check_order
from exchange.imports.kinds import ImportKind, ImportOptions
from exchange.imports.service import CHOSEN
from exchange.models import Snapshot
from organizer.campaigns.views import judged_conditions
from organizer.forms import choice_field, named
from reports.forms import PolicyForm
from reports.profiles import WORDS, profiles_of
from web.fields import TextField
from web.text import plural

LONGEST = 200
ORIGINS = [
    (Origin.AUTO.value, "automatic: an LLM wrote them (A)"),
    (Origin.DRAFT.value, "drafts: an LLM wrote them, for people to edit here"),
    (Origin.EDITED.value, "edited: a person edited drafts (E)"),
    (Origin.MANUAL.value, "manual: a person wrote them (M)"),
]
SCORE_FORMS = [
    (score_files.TABLE, "table of runs, CSV"),
    *((form.name, f"{form.name}: {' '.join(form.columns)}") for form in score_files.FORMS.values()),
]
BY = [(JudgeKind.HUMAN.value, "a person"), (JudgeKind.LLM.value, "an LLM")]
REQUIRED = {
    "qrels": ("source",),
    "nuggets": ("origin", "judge"),
    "assignments": ("origin", "judge", "by"),
    "support": ("judge", "by"),
    "battles": ("by",),
}


class FilesInput(forms.ClearableFileInput):
    # Django refuses a widget of several files without it: its own field would keep the last file only.
    allow_multiple_selected = True


class FilesField(forms.FileField):
    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        several = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(file, initial) for file in several]


class ImportForm(forms.Form):
    def __init__(self, campaign: Campaign, kind: ImportKind, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files)
        self.kind = kind
        widget = FilesInput() if kind.several else forms.FileInput()
        widget.attrs["data-files"] = ""
        # Of several files the reader says which one is empty.
        label = "Files" if kind.several else "File"
        self.fields["files"] = FilesField(label=label, widget=widget, allow_empty_file=True)
        offered = _fields(campaign)
        for name in kind.options:
            self.fields[name] = offered[name]
            field = self.fields[name]
            field.required = name in REQUIRED.get(kind.key, ())
            if field.required and name == "by":
                self.fields[name] = choice_field("A person or an LLM", "choose", BY)
                self.fields[name].required = True
            if name == "judge" and not field.required:
                field.help_text = "where the file does not say, or in its place; made if unknown"
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
        values = {name: self.cleaned_data[name] for name in (*self.kind.options, "replace")}
        return CHOSEN.validate_python({name: value for name, value in values.items() if value not in ("", None)})

    @property
    def sent(self) -> Sequence[Any]:
        return list(self.cleaned_data["files"])


def _fields(campaign: Campaign) -> dict[str, forms.Field]:
    drafts = campaign.nugget_sets.filter(origin=Origin.DRAFT).values_list("name", flat=True)
    sets = [(row.name, f"{row.name} ({row.origin})") for row in campaign.nugget_sets.all()]
    battle_sets = BattleSet.objects.filter(campaign=campaign).exclude(name=IMPORTED).values_list("name", flat=True)
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
        "origin": choice_field("Origin of the nuggets", "choose", ORIGINS),
        "judge": _words("Judge", "who gave or made what is in the files; made if unknown"),
        "by": choice_field("A person or an LLM", "by the origin of the nuggets", BY),
        "set": _words("Name of the set", "ORIGIN-JUDGE without it"),
        "drafts": choice_field("Made from the drafts", "none", named(drafts)),
        "nuggets": choice_field("Nugget set", "the one of that origin", sets),
        "condition": choice_field("Condition", "as the files say", named(SupportCondition)),
        "battle_set": choice_field("Battle set", "the one that was drawn", named([*battle_sets, IMPORTED])),
        "table": _words(
            "Name of the judge or table", "under which reports compare with it; not with a judges.yml"
        ),
        "form": choice_field("Form", "by the looks of the file", SCORE_FORMS),
        "method": _words("Method", "how the judge judges"),
        "model": _words("Model", "the LLM that the judge asks"),
        "has_header": forms.BooleanField(label="The first line names the columns"),
        "topics_as_they_are": forms.BooleanField(label="Topics need not be loaded"),
        "keep_aggregates": forms.BooleanField(label="Aggregates count that are not the mean of their topics"),
        "run": _words("Name of the run", "of all answers in the files"),
        "run_field": _column("Or the column that names it", "where one file has answers of several runs"),
        "question": _column("Column of the question", "not for files of ragas"),
        "answer": _column("Column of the answer", "not for files of ragas"),
        "contexts": _column("Column of the contexts", "a JSON list, one text, or texts with a divider"),
        "contexts_split": _words("Divider of the contexts", "such as \\n---\\n, where \\n is a line's end"),
        "topic_id": _column("Column of the topic's id", "without it the question says it"),
        "trace_id": _column("Column of the trace's id", "kept beside the answer"),
        "keep": _words("Columns to keep", "beside the answer, with commas between"),
        "sample": _column("Column of the sample", "1, 2, 3 of several answers of a run to one question"),
        "number_samples": forms.BooleanField(label="Number the answers to one question in their order"),
        "uncited": choice_field(
            "Sentences are judged by",
            "what they cite",
            [("retrieved", "the first five contexts, as they cite nothing")],
        ),
        "skip_empty": forms.BooleanField(label="Leave out traces without an answer"),
    }


def _words(label: str, help_text: str) -> TextField:
    return TextField(max_length=LONGEST, label=label, help_text=help_text)


def _column(label: str, help_text: str) -> TextField:
    field = _words(label, help_text)
    field.widget.attrs["list"] = "columns"
    return field


class ExportKind(StrEnum):
    LABELS = "assignments"
    CITATIONS = "support"
    SCORES = "scores"
    TIMES = "time"
    CAMPAIGN = lines.CAMPAIGN
    NUGGETS = "nuggets"
    GRADES = "qrels"
    EVENTS = "events"


EXPORT_KINDS = {
    ExportKind.LABELS: ("Nugget labels", "Which answers say which nuggets"),
    ExportKind.CITATIONS: ("Citation labels", "Which passages back which sentences"),
    ExportKind.SCORES: ("Scores", "Of each run, and of each of its answers"),
    ExportKind.TIMES: ("Times", "How long people worked on each task"),
    ExportKind.CAMPAIGN: ("Everything", "The whole campaign, to keep or to load elsewhere"),
    ExportKind.NUGGETS: ("Nuggets", "The list of each topic"),
    ExportKind.GRADES: ("Grades of passages", "How relevant each passage is to a topic"),
    ExportKind.EVENTS: ("Event log", "All that was done, in its order"),
}
OWN_FIELDS = {
    ExportKind.LABELS: ("condition", "pseudonyms", "snapshot"),
    ExportKind.CITATIONS: ("condition", "pseudonyms", "snapshot"),
    ExportKind.SCORES: ("condition", "pseudonyms", "snapshot"),
    ExportKind.TIMES: ("segments", "pseudonyms", "snapshot"),
    ExportKind.CAMPAIGN: ("snapshot", "name", "pseudonyms", "texts"),
    ExportKind.NUGGETS: ("nuggets", "form", "pseudonyms", "snapshot"),
    ExportKind.GRADES: ("source", "snapshot"),
    ExportKind.EVENTS: ("pseudonyms", "snapshot"),
}
POLICIES = ("missing", "unjudged", "no_vital")
RARE_FIELDS = {
    ExportKind.LABELS: ("form", "judge", "nuggets"),
    ExportKind.CITATIONS: ("form", "judge"),
    ExportKind.SCORES: ("form", "profile", "judge", "nuggets", *POLICIES),
    ExportKind.NUGGETS: ("condition",),
}
FORMS = {ExportKind.TIMES: "CSV", ExportKind.CAMPAIGN: "ZIP", ExportKind.GRADES: "TREC, a grade on each line"}
FORM_WORDS = {
    "nuggetizer": "JSON lines of nuggetizer",
    "argue": "ARGUE nugget bank",
    "pairs": "JSON lines",
    "citations": "the organizers' judgments, an answer a line",
    "rubric": "rubric of RAGDoll",
    "research-rubrics": "ResearchRubrics",
    "graded": "graded criteria",
    **{name: "score file, " + name for name in score_files.FORMS if not score_files.FORMS[name].is_of_one_run},
}


def _choice_of_two(label: str, no: str, yes: str, no_value: str = "") -> forms.BooleanField:
    """Programs send whatever a box would."""
    return forms.BooleanField(
        required=False, label=label, widget=forms.Select(choices=[(no_value, no), ("on", yes)])
    )


class ExportForm(forms.Form):
    """Kind of data to take out, and the fields of that kind alone.

    With `proposes` what is not chosen is filled in, so that the form can be sent as it opens.
    """

    what = forms.ChoiceField(choices=[(kind.value, words) for kind, (words, _) in EXPORT_KINDS.items()])
    name = TextField(max_length=60, required=False, label="Name of the snapshot")
    judge = TextField(max_length=LONGEST, required=False, label="Judge")
    texts = _choice_of_two("Passages, answers, calls", "left out", "with them", no_value="false")
    pseudonyms = _choice_of_two("People", "by their names", "by pseudonyms")
    segments = _choice_of_two("Times as", "figures of each task", "recorded stretches")

    def __init__(self, viewer: User, campaign: Campaign, given: QueryDict, *, proposes: bool) -> None:
        self.campaign = campaign
        self.opened = Task.objects.filter(campaign=campaign).exclude(opened_at=None)
        self.sets = contents.nugget_sets_for(viewer, campaign)
        self.sources = contents.sources_for(viewer, campaign)
        labels = contents.assignment_counts_for(viewer, campaign)
        citations = contents.support_counts_for(viewer, campaign)
        needs = {
            ExportKind.LABELS: (labels, "No nugget is labelled yet"),
            ExportKind.CITATIONS: (citations, "No citation is labelled yet"),
            ExportKind.SCORES: (labels, "No nugget is labelled yet"),
            ExportKind.TIMES: (self.opened.exists(), "Nobody has worked here yet"),
            ExportKind.NUGGETS: (self.sets, "There is no nugget yet"),
            ExportKind.GRADES: (self.sources, "No passage is graded yet"),
        }
        self.unavailable = {kind: reason for kind, (there, reason) in needs.items() if not there}
        data = given.copy()
        if proposes:
            data.setdefault("what", next(kind for kind in EXPORT_KINDS if kind not in self.unavailable))
        self.kind = ExportKind(str(data["what"])) if data.get("what") in list(ExportKind) else ExportKind.CAMPAIGN
        self.counts = citations if self.kind is ExportKind.CITATIONS else labels
        if proposes:
            for name, value in self._proposals().items():
                data.setdefault(name, value)
        super().__init__(data, auto_id="export_%s")
        people = {row.judge for row in self.counts if not row.is_llm}
        several = {ALL_PEOPLE} if len(people) > 1 else set()
        self._offer({row.judge for row in self.counts} | several | {data.get("judge", "")} - {""})
        own = {"what", *OWN_FIELDS[self.kind], *RARE_FIELDS.get(self.kind, ())}
        if self.kind is ExportKind.CAMPAIGN and data.get("snapshot"):
            own = {"what", "snapshot"}  # it was written when it was taken
        self.fields = {name: field for name, field in self.fields.items() if name in own}

    def _proposals(self) -> dict[str, str]:
        # A campaign's snapshots have names of their own, and a moment is one.
        found = {"texts": "on", "name": f"{localtime():%Y-%m-%d-%H%M}"}
        if self.kind in (ExportKind.LABELS, ExportKind.SCORES):
            judged = (choice.condition for choice in judged_conditions(self.campaign))
            found["condition"] = next(judged, Condition.AA)
        elif self.kind is ExportKind.CITATIONS:
            found["condition"] = next((row.of for row in self.counts), SupportCondition.LLM)
        elif self.kind is ExportKind.NUGGETS:
            found["nuggets"] = next((row.name for row in self.sets), "")
        elif self.kind is ExportKind.GRADES:
            found["source"] = next((row.name for row in self.sources), "")
        return found

    def _offer(self, judges: set[str]) -> None:
        conditions = SupportCondition if self.kind is ExportKind.CITATIONS else Condition
        of_lists = self.kind is ExportKind.NUGGETS
        self.fields["condition"] = choice_field(
            "Lists of a condition" if of_lists else "Condition",
            "none: the list above" if of_lists else "choose",
            [(str(condition), f"{condition.words} ({condition})") for condition in conditions],
        )
        self.fields["condition"].required = not of_lists
        self.fields["condition"].error_messages["required"] = "Say which condition."
        origins = {row.name: f"{row.name} ({Origin(row.origin).words})" for row in self.sets}
        sets = [
            (name, origins.get(name, name))
            for name in names_to_choose(self.sets)
            if name in origins or not of_lists
        ]
        self.fields["nuggets"] = choice_field("Nugget list", "the one that fits", sets)
        file_forms = [(form, FORM_WORDS[form]) for form in EXPORT_FORMS.get(self.kind, ()) if form in FORM_WORDS]
        self.fields["form"] = forms.ChoiceField(choices=file_forms, required=False, label="Form")
        # A snapshot may hold labels of others, so a name that is typed or sent is taken as it is.
        self.fields["judge"].widget = forms.Select(choices=[("", "the one that fits"), *named(sorted(judges))])
        sources = named(row.name for row in self.sources)
        profiles = [(profile.value, WORDS[profile]) for profile in profiles_of(self.campaign)]
        if len(profiles) > 1:
            self.fields["profile"] = choice_field("Scored", "as the protocol says", profiles)
        self.fields["source"] = choice_field("Graded by", "the only ones", sources)
        self.fields["snapshot"] = forms.ModelChoiceField(
            Snapshot.objects.filter(campaign=self.campaign),
            required=False,
            label="State",
            empty_label="as it is now",
            widget=SnapshotSelect(),
        )
        for name in POLICIES:
            self.fields[name] = deepcopy(PolicyForm.base_fields[name])
            self.fields[name].required, self.fields[name].help_text = False, ""

    def clean(self) -> dict[str, Any]:
        if not self.errors:
            try:
                check_order(self.campaign, self.order)
            except Refused as refusal:
                of_kind = {ExportKind.CAMPAIGN: "name", ExportKind.NUGGETS: "nuggets", ExportKind.GRADES: "source"}
                field = refusal.field or of_kind.get(self.kind, "condition")
                field = "judge" if refusal.code == "no_such_judge" else field
                self.add_error(field if field in self.fields else None, refusal.message)
        return self.cleaned_data

    @property
    def cards(self) -> list[tuple[ExportKind, str, str, str]]:
        return [(kind, *words, self.unavailable.get(kind, "")) for kind, words in EXPORT_KINDS.items()]

    @property
    def own_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in OWN_FIELDS[self.kind] if name in self.fields]

    @property
    def rare_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in RARE_FIELDS.get(self.kind, ()) if name in self.fields]

    @property
    def rare_set(self) -> str:
        chosen = [
            field for field in self.rare_fields if self.data.get(field.name) not in (None, "", field.initial)
        ]
        return ", ".join(field.label.lower() for field in chosen) or "none set"

    @property
    def file_form(self) -> str:
        if self.kind in EXPORT_FORMS:
            return FORM_WORDS[self.cleaned_data["form"] or next(iter(EXPORT_FORMS[self.kind]))]
        return FORMS.get(self.kind, "JSON lines")

    @property
    def order(self) -> ExportOrder:
        data = {name: value for name, value in self.cleaned_data.items() if value}
        names = ("condition", "nuggets", "judge", "source", "form", "segments", "profile", *POLICIES)
        return ExportOrder(
            what=self.kind,
            options={name: data[name] for name in names if name in data},
            snapshot=data.get("snapshot"),
            name=data.get("name", ""),
            texts=bool(data.get("texts")),
            names="pseudonyms" not in data,
        )

    @property
    def amount(self) -> str:
        """Amount of data in words, as far as counts that are there tell; the file's bytes depend on its lines."""
        data, campaign = self.cleaned_data, self.campaign
        match self.kind:
            case ExportKind.CAMPAIGN:
                return f"snapshot {data['snapshot'] or data['name']}"
            case ExportKind.SCORES:
                return f"scores of {count_of(Run.objects.filter(campaign=campaign).count(), 'run')}"
            case ExportKind.TIMES if data["segments"]:
                stretches = TimeSegment.objects.filter(task__campaign=campaign)
                return count_of(stretches.count(), "stretch", "stretches")
            case ExportKind.TIMES:
                return f"times of {count_of(self.opened.count(), 'task')}"
            case ExportKind.EVENTS:
                return count_of(Event.objects.filter(campaign=campaign).count(), "event")
        return self._rows_held()

    def _rows_held(self) -> str:
        data = self.cleaned_data
        nuggets, judge = data.get("nuggets"), data.get("judge")
        if self.kind is ExportKind.NUGGETS:
            return count_of(sum(row.topics for row in self.sets if nuggets in ("", row.name)), "nugget list")
        if self.kind is ExportKind.GRADES:
            return count_of(sum(row.grades for row in self.sources if data["source"] in ("", row.name)), "grade")
        rows = [row for row in self.counts if judge in ("", ALL_PEOPLE, row.judge)]
        if self.kind is ExportKind.CITATIONS:
            return count_of(sum(row.total for row in rows if row.of == data["condition"]), "citation label")
        wanted = Condition(data["condition"])
        fitting = {
            row.name for row in self.sets if row.origin == wanted.origin and nuggets in ("", ALL_PEOPLE, row.name)
        }
        is_llm = wanted.judge_kind is JudgeKind.LLM
        labels = sum(row.total for row in rows if row.of in fitting and row.is_llm is is_llm)
        return count_of(labels, "nugget label")


def count_of(number: int, singular: str, many: str = "") -> str:
    return f"{number:,} {plural(number, singular, many)}"


class SnapshotSelect(forms.Select):
    def create_option(self, name: str, value: Any, label: Any, *args: Any, **more: Any) -> dict[str, Any]:
        kept = getattr(value, "instance", None)
        if kept:
            label = f"{date_format(localtime(kept.made_at), 'j M Y, H:i')}, snapshot {kept.name}"
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
        self.received, self._most = 0, 0

    @property
    def most(self) -> int:
        # Asked once, and only where a file comes: who may load files is in the database.
        self._most = self._most or _limit(self.request)
        return self._most

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Count, and pass on. Raises `StopUpload`."""
        self.received += len(raw_data)
        if self.received > self.most:
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
    return int(settings.API_UPLOAD_MAX_BYTES if _may_import(request) else settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def _may_import(request: HttpRequest | None) -> bool:
    """Return whether a request loads data by an account that may: nobody else fills a disk."""
    if request is None or not _is_import(request):
        return False
    slug = request.resolver_match.kwargs["slug"] if request.resolver_match else ""
    campaign = Campaign.objects.filter(slug=slug).first()
    return campaign is not None and may_organize(cast(User, request.user), campaign)


def _is_import(request: HttpRequest | None) -> bool:
    match = request.resolver_match if request else None
    view = getattr(match, "func", None)
    return bool(getattr(getattr(view, "cls", view), "takes_large_files", False))
