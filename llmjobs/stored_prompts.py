"""Prompts by name: the built-in ones and those that organizers wrote. A version that was saved stays as it is."""

import re
from collections.abc import Mapping, Sequence

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from llmjobs.models import LONGEST_NAME, Prompt
from llmjobs.prompts import BUILT_IN, TEMPLATES, PromptTask, Template
from llmjobs.prompts.template import Part

LONGEST_TEXT = 50_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class UnusableError(Refused):
    """A wording that cannot be used, with what is wrong by field: `name`, `system` or `user`."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        sentences = (f"{field}: {problem}." for field, problem in problems)
        super().__init__("unusable_prompt", " ".join(sentences))


def save_prompt(
    *,
    task: PromptTask,
    name: str,
    system: str,
    user: str,
    campaign: Campaign | None = None,
    actor: User | None = None,
) -> tuple[Prompt, bool]:
    """Save a wording as the next version of its name; return it and whether it is new. No campaign: it is common.

    The wording of a version that is there changes nothing and returns that version. Raises `UnusableError` for a name
    that belongs to another campaign or task or to a built-in prompt, and for a wording that the task cannot use.
    """
    template = Template(task, name, 1, _unix(system), _unix(user))
    problems = [("name", problem) for problem in _name_problems(task, name, campaign)] + text_problems(template)
    if problems:
        raise UnusableError(problems)
    try:
        with transaction.atomic():
            return _saved(template, campaign, actor)
    except IntegrityError:  # somebody saved a version of that name just now
        with transaction.atomic():
            return _saved(template, campaign, actor)


def _saved(template: Template, campaign: Campaign | None, actor: User | None) -> tuple[Prompt, bool]:
    versions = list(Prompt.objects.filter(name=template.name).order_by("version"))
    same = next((one for one in versions if one.sha256 == template.sha256), None)
    if same:
        return same, False
    made = Prompt.objects.create(
        campaign=campaign,
        task=template.task,
        name=template.name,
        version=versions[-1].version + 1 if versions else 1,
        system=template.system,
        user=template.user,
        sha256=template.sha256,
        made_by=actor,
    )
    return made, True


def _unix(text: str) -> str:
    """Return a text as it is kept: forms send CRLF, and the same wording must have the same hash."""
    return text.replace("\r\n", "\n").strip()


def text_problems(template: Template) -> list[tuple[str, str]]:
    """Problems of a wording, each with its text, `system` or `user`."""
    texts: tuple[tuple[Part, str], ...] = (("system", template.system), ("user", template.user))
    found: list[tuple[str, str]] = []
    for part, text in texts:
        if not text.strip():
            found.append((part, "a text is needed"))
        if len(text) > LONGEST_TEXT:
            found.append(
                (
                    part,
                    f"at most {LONGEST_TEXT:,} characters, found {len(text):,}",
                )
            )
        if CONTROL.search(text):
            found.append((part, "control characters cannot be sent"))
    return [*found, *template.problems_by_text()]


def _name_problems(task: PromptTask, name: str, campaign: Campaign | None) -> list[str]:
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        return [f"letters, digits, dots, hyphens and underscores, at most {LONGEST_NAME}, beginning with no mark"]
    if name in {template.name for template in TEMPLATES.values()}:
        return [f"{name} is built in; choose another name"]
    there = Prompt.objects.filter(name=name).first()
    if there and there.campaign_id != (campaign.pk if campaign else None):
        return [_taken(name, there)]
    if there and there.task != task:
        return [f"{name} is a prompt for the task {there.task}; choose another name"]
    return []


def _taken(name: str, there: Prompt) -> str:
    # Nothing more is told of a campaign's prompt: whoever asks may not see that campaign.
    if there.campaign_id is None:
        return f"{name} is common: mark this version as common too, or choose another name"
    return f"The name {name} is taken; choose another one"


def the_template(ref: str, task: PromptTask | None = None) -> Template:
    """Return the template that a reference such as `strict@2` names. Raises `Refused` where its task has none."""
    return templates_by_ref([(task, ref)])[ref]


def templates_by_ref(wanted: Sequence[tuple[PromptTask | None, str]]) -> dict[str, Template]:
    """Return templates by reference, in one query at most. Raises `Refused` where one is not there for its task."""
    found = {template.ref: template for template in BUILT_IN}
    names = {ref.partition("@")[0] for _, ref in wanted if ref not in found}
    if names:
        found |= {str(one): _unchanged(one) for one in Prompt.objects.filter(name__in=names)}
    for task, ref in wanted:
        if ref not in found or task not in (None, found[ref].task):
            raise Refused(
                "no_such_prompt",
                f"There is no prompt {ref} for the task {task}; there are: {_those_there(task)}."
                if task
                else f"There is no prompt {ref}; there are: {_those_there(task)}.",
            )
    return {ref: found[ref] for _, ref in wanted}


def _unchanged(prompt: Prompt) -> Template:
    """Return a saved wording. Raises `Refused` where somebody changed it: labels rest on what it was."""
    template = prompt.template
    if template.sha256 != prompt.sha256:
        raise Refused(
            "prompt_changed", f"The words of {prompt} are not those that were saved; make another version."
        )
    return template


def all_templates(prompts: QuerySet[Prompt], task: PromptTask | None = None) -> list[Template]:
    """Built-in prompts and some saved ones, by task, name and version."""
    rows = [one.template for one in (prompts if task is None else prompts.filter(task=task))]
    built_in = [one for one in TEMPLATES.values() if task in (None, one.task)]
    return [one for first in built_in for one in (first, *(row for row in rows if row.task == first.task))]


def _those_there(task: PromptTask | None) -> str:
    # Of a campaign's prompts not even the names: whoever asks may not see the campaign.
    return ", ".join(template.ref for template in all_templates(Prompt.objects.filter(campaign=None), task))


def checked_versions(prompts: Mapping[str, str]) -> dict[str, str]:
    """Return a judge's choice of prompts, by task. Raises `Refused` for a task or a prompt that there is not."""
    wanted: list[tuple[PromptTask | None, str]] = []
    for task, ref in prompts.items():
        if task not in TEMPLATES:
            raise Refused("usage", f"There is no task {task}; there are: {', '.join(TEMPLATES)}.")
        wanted.append((next(one for one in TEMPLATES if one == task), ref))
    templates_by_ref(wanted)
    return dict(sorted(prompts.items()))
