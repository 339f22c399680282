"""Wordings from files: TOML with the two texts; see docs/formats.md."""

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from accounts.models import User
from evaluation.errors import BadInput, Problem
from evaluation.formats.source import Source
from evaluation.formats.toml import read_toml
from evaluation.models import Campaign
from llmjobs.models import Prompt
from llmjobs.prompts import TEMPLATES, Template
from llmjobs.stored_prompts import UnusableError, save_prompt, text_problems

LARGEST_FILE = 262_144
Text = Annotated[str, Field(strict=True)]


class PromptFile(BaseModel):
    """A wording; task and name may be said when it is loaded instead."""

    model_config = ConfigDict(extra="forbid")

    task: Text = ""
    name: Text = ""
    system: Text
    user: Text


def read_wording(source: Source, *, task: str = "", name: str = "") -> Template:
    """Read a file's wording for the task and under the name that it or the caller says.

    Raises `BadInput` naming file, line and field, also where the file says another task or name than the caller.
    """
    file = read_toml(source, PromptFile)
    problems = [*_other(source, "task", file.task, task), *_other(source, "name", file.name, name)]
    known = next((one for one in TEMPLATES if one == (file.task or task)), None)
    if known is None:
        problems.append(_problem(source, "task", f"one of {', '.join(TEMPLATES)}, here or when it is loaded"))
    if problems or known is None:
        raise BadInput(problems)
    template = Template(known, file.name or name, 1, file.system, file.user)
    wrong = [_problem(source, field, problem) for field, problem in text_problems(template)]
    if wrong:
        raise BadInput(sorted(wrong, key=lambda one: one.line))
    return template


def import_prompt(
    source: Source,
    *,
    task: str = "",
    name: str = "",
    campaign: Campaign | None = None,
    actor: User | None = None,
) -> tuple[Prompt, bool]:
    """Save a file's wording as a version of a name; return it and whether it is new. No campaign: it is common.

    Raises `BadInput` as `read_wording` does, and for a name that is taken.
    """
    wording = read_wording(source, task=task, name=name)
    try:
        return save_prompt(
            task=wording.task,
            name=wording.name,
            system=wording.system,
            user=wording.user,
            campaign=campaign,
            actor=actor,
        )
    except UnusableError as refusal:
        raise BadInput([_problem(source, field, problem) for field, problem in refusal.problems]) from refusal


def _other(source: Source, field: str, in_file: str, wanted: str) -> list[Problem]:
    if not in_file or not wanted or in_file == wanted:
        return []
    return [_problem(source, field, f"{wanted}, as was said when it was loaded, found {in_file}")]


def _problem(source: Source, field: str, problem: str) -> Problem:
    # At the placeholder, where one is to blame: a field may be many lines long.
    placeholder = problem.partition(" ")[0]
    key = re.compile(rf"\s*{field}\s*=")
    lines = [line for line, text in source.lines if placeholder.startswith("{") and placeholder in text]
    lines += [line for line, text in source.lines if key.match(text)]
    return Problem(source.name, lines[0] if lines else 1, field, problem)
