"""Wordings from files: TOML with the two texts; see docs/formats.md."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from accounts.models import User
from evaluation.errors import BadInput, Problem
from evaluation.formats.source import Source
from evaluation.formats.toml import line_of, read_toml
from llmjobs.models import Prompt
from llmjobs.prompts import TEMPLATES, Task
from llmjobs.stored_prompts import UnusableError, save_prompt

LARGEST_FILE = 262_144
Text = Annotated[str, Field(strict=True)]


class PromptFile(BaseModel):
    """A wording; task and name may be said when it is loaded instead."""

    model_config = ConfigDict(extra="forbid")

    task: Text = ""
    name: Text = ""
    system: Text
    user: Text


def import_prompt(
    source: Source, *, task: str = "", name: str = "", actor: User | None = None
) -> tuple[Prompt, bool]:
    """Save a file's wording as a version of a name; return it and whether it is new.

    Raises `BadInput` naming file, line and field, also where the file says another task or name than the caller.
    """
    file = read_toml(source, PromptFile)
    problems = [
        *_other(source, "task", file.task, task),
        *_other(source, "name", file.name, name),
    ]
    known = _task(file.task or task)
    if known is None:
        problems.append(_problem(source, "task", f"one of {', '.join(TEMPLATES)}, here or when it is loaded"))
    if problems or known is None:
        raise BadInput(problems)
    try:
        return save_prompt(task=known, name=file.name or name, system=file.system, user=file.user, actor=actor)
    except UnusableError as refusal:
        raise BadInput([_problem(source, field, said) for field, said in refusal.problems]) from refusal


def _task(said: str) -> Task | None:
    return next((task for task in TEMPLATES if task == said), None)


def _other(source: Source, field: str, in_file: str, wanted: str) -> list[Problem]:
    """Return the problem that a file says something else than whoever loads it."""
    if not in_file or not wanted or in_file == wanted:
        return []
    return [_problem(source, field, f"{wanted}, as was said when it was loaded, found {in_file}")]


def _problem(source: Source, field: str, said: str) -> Problem:
    """Place a problem at the placeholder that it is about, or at its field."""
    placeholder = said.partition(" ")[0]
    lines = [line for line, text in source.lines if placeholder.startswith("{") and placeholder in text]
    return Problem(source.name, lines[0] if lines else line_of(source, [field]), field, said)
