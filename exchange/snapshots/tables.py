"""Rows of a campaign, found by walking the models: a new table is in snapshots from its first day."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import chain
from typing import Any, TypeAlias
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import ForeignKey, Q, QuerySet

from accounts.models import User
from evaluation.models import Campaign, Event, Judge
from llmjobs.models import Attempt, Call, CallUse, NuggetCalls, Text
from reports.judges.imports import DROPPED
from web.text import cut

Model: TypeAlias = type[models.Model]
Field: TypeAlias = "models.Field[Any, Any]"

ROOMS = ("evaluation", "assessor", "reports", "jobs", "llmjobs")
CALLS = ("jobs", "llmjobs")
"""Rooms whose rows quote passages and answers: left out of a file without texts."""

LEFT_OUT = {
    "jobs.Worker": "processes of one server",
    "jobs.Notice": "news for those who wait for a job here",
    "llmjobs.Prompt": "prompts are kept beside campaigns; each call has the text that was sent",
    "llmjobs.Connection": "ways to LLMs of one server; each judge has its model and address",
    "llmjobs.EndpointLimits": "limits of one server",
    "llmjobs.EndpointUse": "what counts against the limits of one server",
}
KNOWN_PATHS = {"evaluation.Campaign": "pk", "jobs.Job": "llm__campaign"}
TEXTS = {
    "evaluation.Topic": ("article",),
    "evaluation.Segment": ("text", "title", "headings", "url"),
    "evaluation.Sentence": ("text",),
    "evaluation.SupportJudgment": ("quote",),
    "assessor.PracticeItem": ("text",),
    "evaluation.AnswerProvenance": ("extra",),
    "reports.Adjudication": ("note",),  # it may quote
}
"""What a licence may forbid to hand on: passages, answers, and the other fields of a run's file."""

NEVER_IN_A_FILE = ("evaluation.Campaign", "deleted_at")

TEXTS_A_QUERY = 2000


@dataclass(frozen=True, slots=True)
class SnapshotTable:
    model: Model
    fields: tuple[Field, ...]

    @property
    def name(self) -> str:
        return str(self.model._meta.label)

    @property
    def numbered(self) -> bool:
        """True where the key is a number, which a file replaces by the row's place."""
        return isinstance(self.model._meta.pk, models.AutoField)


@cache
def tables() -> tuple[SnapshotTable, ...]:
    """Every table of a campaign; tables that lend others their key come first."""
    ordered: list[str] = []
    for label in sorted((*_paths(), *SPECIAL)):
        _place(label, ordered)
    return tuple(SnapshotTable(model, _columns(model)) for model in map(apps.get_model, ordered))


def _place(label: str, ordered: list[str]) -> None:
    key = apps.get_model(label)._meta.pk
    if isinstance(key, ForeignKey):
        _place(key.related_model._meta.label, ordered)
    if label not in ordered:
        ordered.append(label)


def _columns(model: Model) -> tuple[Field, ...]:
    fields = (field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField))
    return tuple(field for field in fields if (model._meta.label, field.name) != NEVER_IN_A_FILE)


def missing() -> list[str]:
    labels = {*_paths(), *SPECIAL, *LEFT_OUT}
    return [model._meta.label for model in _models() if model._meta.label not in labels]


def _models() -> Iterator[Model]:
    for room in ROOMS:
        yield from apps.get_app_config(room).get_models()


@cache
def _paths() -> dict[str, str]:
    """Shortest path from each table to its campaign."""
    # Only over columns that are never null: a row without the relation would be lost.
    paths, more = dict(KNOWN_PATHS), dict(KNOWN_PATHS)
    open_ = [model for model in _models() if model._meta.label not in {*paths, *LEFT_OUT, *SPECIAL}]
    while more:
        more = {model._meta.label: path for model in open_ if (path := _path_over(model, paths))}
        paths |= more
        open_ = [model for model in open_ if model._meta.label not in paths]
    return paths


def _path_over(model: Model, paths: dict[str, str]) -> str:
    for field in relations(model):
        path = "" if field.null else paths.get(field.related_model._meta.label, "")
        if path:
            return field.name if path == "pk" else f"{field.name}__{path}"
    return ""


def relations(model: Model) -> list[Any]:
    return [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]


Rows = Iterable[tuple[Any, ...]]


@dataclass(frozen=True)
class CampaignRows:
    """A campaign's rows, read over one connection. `texts`: with passages, answers, and the calls that quote them."""

    campaign: Campaign
    alias: str
    texts: bool = True

    @property
    def tables(self) -> list[SnapshotTable]:
        return [table for table in tables() if self.texts or table.model._meta.app_label not in CALLS]

    def keys(self, table: SnapshotTable) -> list[int]:
        return list(self._rows(table.model).values_list("pk", flat=True))

    def rows(self, table: SnapshotTable) -> Rows:
        names = [field.attname for field in table.fields]
        if table.model is Text:
            return _texts(self, names)
        return self._rows(table.model).values_list(*names).iterator()

    def people(self) -> list[User]:
        # People who worked here count too, though no row may name their judge yet.
        judges = Judge.objects.using(self.alias).filter(pk__in=self.keys_referred_to(Judge), user__isnull=False)
        keys = {*self.keys_referred_to(User), *judges.values_list("user_id", flat=True)}
        return list(User.objects.using(self.alias).filter(pk__in=keys).order_by("username"))

    def judges(self) -> list[Judge]:
        return list(_all_judges(self))

    def keys_referred_to(self, target: Model) -> set[int]:
        keys = set[int | None]()
        for table in self.tables:
            for field in relations(table.model):
                if field.related_model is target and table.model is not Judge:
                    keys.update(
                        self._rows(table.model).order_by().values_list(field.attname, flat=True).distinct()
                    )
        return {key for key in keys if key is not None}

    def _rows(self, model: Model) -> QuerySet[Any]:
        label = model._meta.label
        if label in SPECIAL:
            return SPECIAL[label](self)
        everything = model._default_manager.using(self.alias)
        return everything.filter(**{_paths()[label]: self.campaign.pk}).order_by("pk")


def _all_judges(rows: CampaignRows) -> QuerySet[Judge]:
    own = Q(user__in=rows.keys_referred_to(User), aside=False)
    return Judge.objects.using(rows.alias).filter(Q(pk__in=rows.keys_referred_to(Judge)) | own).order_by("name")


def _events(rows: CampaignRows) -> QuerySet[Event]:
    # A call made for another campaign may serve here too, and its event with it.
    own = Q(campaign=rows.campaign.pk)
    if rows.texts:
        own |= Q(pk__in=_calls(rows).filter(event__isnull=False).order_by().values("event"))
    return Event.objects.using(rows.alias).filter(own).order_by("pk")


def _calls(rows: CampaignRows) -> QuerySet[Call]:
    uses = CallUse.objects.using(rows.alias).filter(item__job__llm__campaign=rows.campaign.pk)
    nuggets = NuggetCalls.objects.using(rows.alias)
    nuggets = nuggets.filter(listed__nugget_list__nugget_set__campaign=rows.campaign.pk)
    used = Q(pk__in=uses.order_by().values("call")) | Q(event__campaign=rows.campaign.pk)
    used |= Q(pk__in=nuggets.values("worded")) | Q(pk__in=nuggets.values("weighed"))
    return Call.objects.using(rows.alias).filter(used).order_by("pk")


def _attempts(rows: CampaignRows) -> QuerySet[Attempt]:
    return Attempt.objects.using(rows.alias).filter(call__in=_calls(rows).order_by()).order_by("pk")


def _texts(rows: CampaignRows, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    listed = chain.from_iterable(_calls(rows).values_list("messages", flat=True).iterator())
    hashes = sorted({message["sha256"] for message in listed if isinstance(message, dict)})
    for start in range(0, len(hashes), TEXTS_A_QUERY):
        texts = Text.objects.using(rows.alias).filter(pk__in=hashes[start : start + TEXTS_A_QUERY]).order_by("pk")
        yield from texts.values_list(*names)


SPECIAL: dict[str, Callable[[CampaignRows], QuerySet[Any]]] = {
    "evaluation.Judge": _all_judges,
    "evaluation.Event": _events,
    "llmjobs.Call": _calls,
    "llmjobs.Attempt": _attempts,
    # Texts are found by the hashes in the calls' messages, never by a key.
    "llmjobs.Text": lambda rows: Text.objects.using(rows.alias).none(),
}


def _judges_changed(labels: list[dict[str, Any]], change: Callable[[int], Any]) -> list[dict[str, Any]]:
    return [label | {"judge": change(label["judge"])} for label in labels]


def _imports_changed(payload: dict[str, Any], change: Callable[[int], Any]) -> dict[str, Any]:
    """Change the keys of imports that were taken back, or lost aggregates."""
    if "import" in payload:
        payload = payload | {"import": change(payload["import"])}
    if DROPPED in payload:
        payload = payload | {DROPPED: {str(change(int(key))): count for key, count in payload[DROPPED].items()}}
    return payload


KEYS_IN_JSON: dict[tuple[str, str], tuple[Model, Callable[[Any, Callable[[int], Any]], Any]]] = {
    ("reports.Adjudication", "labels"): (Judge, _judges_changed),
    ("evaluation.Event", "payload"): (Event, _imports_changed),
}
"""Columns of JSON that name rows by their keys, and how those are changed."""


@cache
def referred_to() -> frozenset[Model]:
    return frozenset(field.related_model for table in tables() for field in relations(table.model))


Coder = Callable[[Any], Any]


def encoder(field: Field) -> Coder | None:
    """Writer of a column's values; None where JSON has their type."""
    if isinstance(field, models.DateField):  # DateTimeField is one
        return lambda value: None if value is None else value.isoformat()
    if isinstance(field, models.DecimalField | models.UUIDField):
        return lambda value: None if value is None else str(value)
    return None


def decoder(field: Field) -> Coder:
    """Return the reader of a column's values, which raises ValueError with the expectation."""
    for kind, (read, expected) in READERS.items():
        if isinstance(field, kind):
            return _checked(field, read, expected)
    raise TypeError(f"{field} has values that no file can hold")


def _checked(field: Field, read: Coder, expected: str) -> Coder:
    longest = field.max_length if isinstance(field, models.CharField) else None

    def checked(value: Any) -> Any:
        if value is None:
            if field.null:
                return None
            raise ValueError(f"{expected}, not null")
        try:
            content = read(value)
        except (ValueError, TypeError, InvalidOperation, OverflowError):
            raise ValueError(f"{expected}, found {cut(repr(value), 40)}") from None
        if longest and len(content) > longest:
            raise ValueError(f"at most {longest} characters, found {len(content)}")
        return content

    return checked


def _only(*kinds: type) -> Coder:
    # The exact type: `True` is an int in Python, but no number in a file.
    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise TypeError
        return value

    return read


def _time(value: Any) -> datetime:
    # As it is kept: a time of the year 1 may have none.
    return datetime.fromisoformat(value).astimezone(UTC)


def _decimal(value: Any) -> Decimal:
    number = Decimal(_only(str)(value))
    if not number.is_finite():
        raise ValueError
    return number


def _whole(value: Any) -> int:
    number: int = _only(int)(value)
    if not -LARGEST <= number < LARGEST:
        raise OverflowError
    return number


LARGEST = 2**63  # SQLite's; narrower columns say so themselves
READERS: dict[Any, tuple[Coder, str]] = {
    models.DateTimeField: (_time, "a time"),
    models.DateField: (date.fromisoformat, "a day"),
    models.DecimalField: (_decimal, "a decimal number as text"),
    models.UUIDField: (lambda value: UUID(_only(str)(value)), "a UUID"),
    models.BooleanField: (_only(bool), "true or false"),
    models.FloatField: (lambda value: float(_only(int, float)(value)), "a number"),
    models.JSONField: (lambda value: value, "any JSON"),
    models.IntegerField: (_whole, "a whole number of ordinary size"),
    ForeignKey: (_only(int), "the number of a row"),
    models.CharField: (_only(str), "text"),
    models.TextField: (_only(str), "text"),
}
