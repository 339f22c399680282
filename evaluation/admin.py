"""The domain in Django's admin: to look things up. What only services may write is read-only here.

Runs and assessors never meet in one list: whoever judges and may also sign in here learns nothing from it.
"""

from typing import TYPE_CHECKING, Any

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
    Citation,
    ConditionDefault,
    Event,
    Finding,
    Judge,
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
)
from evaluation.rules.tasks import giving_problem
from evaluation.terms import Role

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """For rows that only services may write: labels, nuggets, events, submissions."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


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

    def has_add_permission(self, request: Any) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False


class MembershipForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's is no generic when the program runs
    """A role to give."""

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
        give_role(campaign=obj.campaign, username=name, role=role, actor=actor, to_oneself=True)
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


@admin.register(Protocol)
class ProtocolAdmin(ReadOnlyAdmin):
    """The settings a campaign is judged under: changed on its own page, which asks why and keeps what was."""

    list_display = ["campaign", "version", "first_citations", "grade_threshold", "nugget_cap", "created_at"]
    list_filter = ["campaign"]
    list_select_related = ["campaign"]


@admin.register(ConditionDefault)
class ConditionDefaultAdmin(ReadOnlyAdmin):
    """Defaults of conditions where several nugget sets or judges fit."""

    list_display = ["campaign", "condition", "nuggets", "judge"]
    list_filter = ["campaign", "condition"]
    list_select_related = ["campaign"]


@admin.register(Topic)
class TopicAdmin(ReadOnlyAdmin):
    list_display = ["topic_id", "text", "campaign"]
    list_filter = ["campaign"]
    list_select_related = ["campaign"]
    search_fields = ["topic_id", "text"]


@admin.register(Segment)
class SegmentAdmin(BigTableAdmin):
    list_display = ["docid", "has_text", "campaign"]
    list_filter = ["campaign", "has_text"]
    list_select_related = ["campaign"]
    search_fields = ["docid"]
    ordering = ["id"]

    def get_queryset(self, request: Any) -> Any:
        return super().get_queryset(request).defer("text", "headings")


@admin.register(QrelSource)
class QrelSourceAdmin(ReadOnlyAdmin):
    list_display = ["name", "campaign"]
    list_select_related = ["campaign"]


@admin.register(Qrel)
class QrelAdmin(BigTableAdmin):
    list_display = ["source", "topic", "segment", "grade"]
    list_filter = ["source", "grade"]
    list_select_related = ["source", "topic", "segment"]
    search_fields = ["topic__topic_id", "segment__docid"]
    ordering = ["id"]


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ["run_id", "group", "task", "priority", "control", "pool", "campaign"]
    list_filter = ["campaign", "task", "control"]
    list_select_related = ["campaign"]
    search_fields = ["run_id", "group"]


@admin.register(Answer)
class AnswerAdmin(BigTableAdmin):
    list_display = ["public_id", "topic", "words"]
    list_select_related = ["topic"]
    search_fields = ["public_id", "topic__topic_id"]
    ordering = ["id"]


@admin.register(AnswerProvenance)
class AnswerProvenanceAdmin(BigTableAdmin):
    list_display = ["answer", "run", "topic", "response_length", "line"]
    list_select_related = ["answer", "run", "topic"]
    search_fields = ["run__run_id", "topic__topic_id"]
    ordering = ["answer_id"]


@admin.register(Sentence)
class SentenceAdmin(BigTableAdmin):
    list_display = ["answer", "index", "text"]
    list_select_related = ["answer"]
    search_fields = ["answer__public_id"]
    ordering = ["id"]


@admin.register(Citation)
class CitationAdmin(BigTableAdmin):
    list_display = ["sentence", "position", "raw", "segment"]
    list_select_related = ["sentence", "segment"]
    search_fields = ["raw"]
    ordering = ["id"]


@admin.register(Judge)
class JudgeAdmin(ReadOnlyAdmin):
    list_display = ["name", "kind", "model", "created_at"]
    list_filter = ["kind"]
    search_fields = ["name", "model"]
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}  # Django 6's default, said early


@admin.register(NuggetSet)
class NuggetSetAdmin(ReadOnlyAdmin):
    list_display = ["name", "origin", "judge", "campaign"]
    list_filter = ["origin", "campaign"]
    list_select_related = ["judge", "campaign"]
    search_fields = ["name"]


@admin.register(NuggetList)
class NuggetListAdmin(ReadOnlyAdmin):
    list_display = ["nugget_set", "topic", "version", "submitted"]
    list_filter = ["nugget_set", "submitted"]
    list_select_related = ["nugget_set", "topic"]
    search_fields = ["topic__topic_id"]
    ordering = ["id"]


@admin.register(NuggetVersion)
class NuggetVersionAdmin(BigTableAdmin):
    list_display = ["text", "nugget", "number"]
    list_select_related = ["nugget"]
    search_fields = ["text"]
    ordering = ["id"]


@admin.register(ListedNugget)
class ListedNuggetAdmin(BigTableAdmin):
    list_display = ["nugget_version", "nugget_list", "position", "importance", "raw_importance"]
    list_filter = ["importance"]
    list_select_related = ["nugget_version", "nugget_list__nugget_set", "nugget_list__topic"]
    search_fields = ["nugget_version__text", "nugget_list__topic__topic_id"]
    ordering = ["id"]


@admin.register(Assignment)
class AssignmentAdmin(BigTableAdmin):
    list_display = ["answer", "nugget_version", "label", "judge", "given_at"]
    list_filter = ["label", "judge"]
    list_select_related = ["answer", "nugget_version", "judge"]
    search_fields = ["answer__public_id", "nugget_version__text"]
    ordering = ["id"]


@admin.register(SupportJudgment)
class SupportJudgmentAdmin(BigTableAdmin):
    list_display = ["sentence", "segment", "label", "condition", "judge", "given_at"]
    list_filter = ["label", "condition", "judge"]
    list_select_related = ["sentence", "segment", "judge"]
    search_fields = ["segment__docid", "sentence__answer__public_id"]
    ordering = ["id"]


@admin.register(Event)
class EventAdmin(BigTableAdmin):
    list_display = ["at", "kind", "actor", "campaign"]
    list_filter = ["kind", "campaign"]
    list_select_related = ["actor", "campaign"]


@admin.register(Finding)
class FindingAdmin(BigTableAdmin):
    list_display = ["code", "message", "run_id", "topic_id", "file", "line", "campaign"]
    list_filter = ["code", "campaign"]
    list_select_related = ["campaign"]
    search_fields = ["message", "run_id", "topic_id", "file"]
