"""The domain in Django's admin: to look things up. Rows that only services may write are read-only here.

No list has both runs and assessors: an assessor who may sign in here as well learns nothing from it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.db import models, transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import User
from evaluation.campaigns.people import give_role, member_facts, take_role
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Campaign,
    Candidate,
    Citation,
    ConditionDefault,
    Event,
    Finding,
    Judge,
    Judgment,
    ListedNugget,
    Membership,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Protocol,
    Qrel,
    QrelSource,
    Run,
    Segment,
    Sentence,
    SupportJudgment,
    Topic,
    Verdict,
)
from evaluation.rules.tasks import giving_problem
from evaluation.terms import Role

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """For rows that only services may write: labels, nuggets, events, submissions."""

    related: ClassVar[Sequence[str]] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        # By name: Django itself follows no relation that may be empty, and asks for those row by row.
        names = {str(column) for column in self.list_display}
        keys = (field.name for field in self.model._meta.concrete_fields if isinstance(field, models.ForeignKey))
        return [*self.related, *(key for key in keys if key in names)]


class BigTableAdmin(ReadOnlyAdmin):
    """A table that may hold a million rows: no second count, no dates to group by."""

    show_full_result_count = False
    list_per_page = 50


@admin.register(Campaign)
class CampaignAdmin(ModelAdmin):
    """Campaigns are made by their command; name and description may be put right here."""

    list_display = ["name", "slug", "created_at", "revision"]
    search_fields = ["name", "slug"]
    readonly_fields = ["slug", "created_at", "revision"]

    # The command and the page make a protocol with it.
    def has_add_permission(self, request: Any) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False


class MembershipForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's is no generic when the program runs
    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        data = cleaned or {}
        if {"campaign", "user", "role"} <= data.keys():
            why = giving_problem(Role(data["role"]), member_facts(data["campaign"], data["user"]))
            if why:
                raise forms.ValidationError(why)
        return cleaned


@admin.register(Membership)
class MembershipAdmin(ModelAdmin):
    """Roles, given and taken by the rules of the people page, with its events. A role is not changed into another."""

    form = MembershipForm
    list_display = ["user", "role", "campaign"]
    list_filter = ["role", "campaign"]
    list_select_related = ["user", "campaign"]
    search_fields = ["user__username", "user__email", "campaign__slug"]
    raw_id_fields = ["user", "campaign"]  # boxes that complete have no name for screen readers
    readonly_fields = ["paused_at"]  # people are paused on the page of their work, which notes who did it

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        role, name, actor = Role(obj.role), obj.user.username, _actor(request)
        # By the service, which checks blindness and writes the event.
        give_role(campaign=obj.campaign, username=name, role=role, actor=actor, to_oneself=True)
        # The service made the row; the admin goes on with its key.
        obj.pk = Membership.objects.get(campaign=obj.campaign, user=obj.user, role=role).pk

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        name, role = obj.user.username, Role(obj.role)
        take_role(campaign=obj.campaign, username=name, role=role, actor=_actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """Take the roles that were ticked, all or none."""
        with transaction.atomic():
            for membership in queryset.select_related("user", "campaign"):
                self.delete_model(request, membership)


def _actor(request: HttpRequest) -> User:
    return User.objects.get(username=request.user.get_username())


class SegmentAdmin(BigTableAdmin):
    """Segments without their texts, of which a page of the list would read megabytes."""

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).defer("text", "headings")


def _look_up(
    model: type[models.Model],
    columns: str,
    *,
    filters: str = "",
    search: str = "",
    by: type[ReadOnlyAdmin] = ReadOnlyAdmin,
    **options: Any,
) -> None:
    """Register a model: its columns in the list, filters beside it, and the columns that its search box reads."""
    options |= {"list_display": columns.split(), "list_filter": filters.split(), "search_fields": search.split()}
    admin.site.register(model, by, **options)


BIG: Any = {"by": BigTableAdmin, "ordering": ["id"]}
"""Ordered by key: any other order has the database sort a million rows for a page of 50."""

# A protocol is changed on its own page, which asks why and keeps the former version.
_look_up(Protocol, "campaign version first_citations grade_threshold nugget_cap created_at", filters="campaign")
_look_up(ConditionDefault, "campaign condition nuggets judge", filters="campaign condition")
_look_up(Topic, "topic_id text campaign", filters="campaign", search="topic_id text")
_look_up(
    Segment, "docid has_text campaign", filters="campaign has_text", search="docid", **BIG | {"by": SegmentAdmin}
)
_look_up(Candidate, "topic segment", search="topic__topic_id segment__docid", **BIG)
_look_up(QrelSource, "name campaign")
_look_up(
    Qrel, "source topic segment grade", filters="source grade", search="topic__topic_id segment__docid", **BIG
)
_look_up(
    Run, "run_id group task priority control pool campaign", filters="campaign task control", search="run_id group"
)
_look_up(Answer, "public_id topic words", search="public_id topic__topic_id", **BIG)
_look_up(
    AnswerProvenance,
    "answer run topic response_length line",
    search="run__run_id topic__topic_id",
    **BIG | {"ordering": ["answer_id"]},
)
_look_up(Sentence, "answer index text", search="answer__public_id", **BIG)
_look_up(Citation, "sentence position raw segment", search="raw", **BIG)
_look_up(
    Judge,
    "name kind model created_at",
    filters="kind",
    search="name model",
    formfield_overrides={models.URLField: {"assume_scheme": "https"}},  # Django 6's default, chosen early
)
_look_up(NuggetSet, "name origin judge campaign", filters="origin campaign", search="name")
_look_up(
    NuggetList,
    "nugget_set topic version submitted",
    filters="nugget_set submitted",
    search="topic__topic_id",
    ordering=["id"],
)
_look_up(NuggetVersion, "text nugget number", search="text", **BIG)
_look_up(
    ListedNugget,
    "nugget_version nugget_list position importance raw_importance",
    filters="importance",
    search="nugget_version__text nugget_list__topic__topic_id",
    related=["nugget_list__nugget_set", "nugget_list__topic"],
    **BIG,
)
_look_up(
    Assignment,
    "answer nugget_version label judge given_at",
    filters="label judge",
    search="answer__public_id nugget_version__text",
    **BIG,
)
_look_up(
    SupportJudgment,
    "sentence segment label condition judge given_at",
    filters="label condition judge",
    search="segment__docid sentence__answer__public_id",
    **BIG,
)
_look_up(
    Judgment,
    "stage topic unit label judge given_at",
    filters="stage label judge",
    search="unit topic__topic_id",
    **BIG,
)
_look_up(
    Verdict,
    "battle label judge second_opinion given_at",
    filters="label judge",
    search="battle__public_id battle__topic__topic_id",
    **BIG,
)
_look_up(Event, "at kind actor campaign", filters="kind campaign", by=BigTableAdmin)
_look_up(
    Finding,
    "code message run_id topic_id file line campaign",
    filters="code campaign",
    search="message run_id topic_id file",
    by=BigTableAdmin,
)
