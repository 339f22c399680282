"""Which prompts there are, and which judges ask by them. For organizers."""

from dataclasses import dataclass

from accounts.models import User
from evaluation.models import Campaign, Judge
from llmjobs.models import Prompt
from llmjobs.prompts import BUILT_IN, TEMPLATES, Task, Template
from llmjobs.queries import callable_judges_for


@dataclass(frozen=True, slots=True)
class PromptRow:
    """A prompt; `stored` has who made it, and is None for a built-in one. `judges` ask by it."""

    template: Template
    stored: Prompt | None
    judges: tuple[Judge, ...]


def prompts_by_task(viewer: User, campaign: Campaign) -> list[tuple[Task, list[PromptRow]]]:
    """Return all prompts by task, the built-in one first, of the others the newest first: two queries."""
    judges = callable_judges_for(viewer, campaign)
    stored = list(Prompt.objects.select_related("made_by").order_by("name", "-version"))
    return [
        (
            task,
            [
                *(PromptRow(one, None, _asking_by(one, judges)) for one in BUILT_IN if one.task == task),
                *(
                    PromptRow(one.template, one, _asking_by(one.template, judges))
                    for one in stored
                    if one.task == task
                ),
            ],
        )
        for task in TEMPLATES
    ]


def prompt_for(viewer: User, campaign: Campaign, ref: str) -> PromptRow:
    """Return one prompt by its reference, or raise `Prompt.DoesNotExist`."""
    judges = callable_judges_for(viewer, campaign)
    for template in BUILT_IN:
        if template.ref == ref:
            return PromptRow(template, None, _asking_by(template, judges))
    name, _, version = ref.partition("@")
    number = int(version) if version.isascii() and version.isdecimal() and len(version) < 10 else 0
    stored = Prompt.objects.select_related("made_by").get(name=name, version=number)
    return PromptRow(stored.template, stored, _asking_by(stored.template, judges))


def ref_of_call(name: str, version: int, sha256: str) -> str:
    """Return the reference of the prompt by which a call was made, '' where its wording is not here any more."""
    templates = [one for one in BUILT_IN if (one.name, one.version, one.sha256) == (name, version, sha256)]
    if templates or Prompt.objects.filter(name=name, version=version, sha256=sha256).exists():
        return f"{name}@{version}"
    return ""


def _asking_by(template: Template, judges: list[Judge]) -> tuple[Judge, ...]:
    """Return the judges that chose a prompt; those that chose none for its task ask by the built-in one."""
    unsaid = template.ref if template in BUILT_IN else ""
    return tuple(one for one in judges if one.prompt_versions.get(template.task, unsaid) == template.ref)
