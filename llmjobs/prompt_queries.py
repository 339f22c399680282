"""Which prompts there are, and which judges ask by them. For organizers."""

from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import User
from evaluation.models import Campaign, Judge, Membership
from llmjobs.models import Prompt
from llmjobs.prompts import BUILT_IN, TEMPLATES, PromptTask, Template
from llmjobs.queries import callable_judges_for, prompts_for


@dataclass(frozen=True, slots=True)
class PromptRow:
    """A prompt; `stored` is None for a built-in one. `judges` ask by it. `author`: empty for who may not know."""

    template: Template
    stored: Prompt | None
    judges: tuple[Judge, ...]
    author: str = ""


def prompts_by_task(viewer: User, campaign: Campaign) -> list[tuple[PromptTask, list[PromptRow]]]:
    judges = callable_judges_for(viewer, campaign)
    stored = list(_stored(viewer).order_by("name", "-version"))
    known = _known_to(viewer)
    return [
        (
            task,
            [
                *(PromptRow(one, None, _asking_by(one, judges)) for one in BUILT_IN if one.task == task),
                *(_row(one, judges, known) for one in stored if one.task == task),
            ],
        )
        for task in TEMPLATES
    ]


def prompt_for(viewer: User, campaign: Campaign, ref: str) -> PromptRow:
    judges = callable_judges_for(viewer, campaign)
    for template in BUILT_IN:
        if template.ref == ref:
            return PromptRow(template, None, _asking_by(template, judges))
    name, _, version = ref.partition("@")
    number = int(version) if version.isascii() and version.isdecimal() and len(version) < 10 else 0
    return _row(_stored(viewer).get(name=name, version=number), judges, _known_to(viewer))


def _stored(viewer: User) -> QuerySet[Prompt]:
    return prompts_for(viewer).select_related("made_by", "campaign")


def _known_to(viewer: User) -> set[int]:
    mine = Membership.objects.filter(user=viewer).values("campaign")
    shared = Campaign.objects.all() if viewer.is_superuser else Campaign.objects.filter(pk__in=mine)
    people = Membership.objects.filter(campaign__in=shared).values_list("user", flat=True)
    return {viewer.pk, *people}


def _row(stored: Prompt, judges: list[Judge], known: set[int]) -> PromptRow:
    author = stored.made_by.name if stored.made_by and stored.made_by.pk in known else ""
    return PromptRow(stored.template, stored, _asking_by(stored.template, judges), author)


def ref_of_call(viewer: User, name: str, version: int, sha256: str) -> str:
    templates = [one for one in BUILT_IN if (one.name, one.version, one.sha256) == (name, version, sha256)]
    if templates or prompts_for(viewer).filter(name=name, version=version, sha256=sha256).exists():
        return f"{name}@{version}"
    return ""


def _asking_by(template: Template, judges: list[Judge]) -> tuple[Judge, ...]:
    default_ref = template.ref if template in BUILT_IN else ""
    return tuple(one for one in judges if one.prompt_versions.get(template.task, default_ref) == template.ref)
