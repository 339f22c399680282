"""Prompts by name: built-in and saved ones. A saved version never changes, because labels rest on it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Annotated

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from pydantic import BaseModel, ConfigDict, Field

from accounts.models import User
from evaluation.errors import BadInput, InputProblem, Refused, no_such
from evaluation.formats.lines import read_toml
from evaluation.formats.source import Source
from evaluation.judges import (
    JSON_SCHEMA,
    MAX_COMPLETION_TOKENS,
    NOT_SENT,
    PASSAGE_WORDS,
    REASONING_EFFORT,
    REPLY_FORM,
    TEMPERATURE,
    add_judge,
)
from evaluation.models import Campaign, Event, Judge, Membership
from evaluation.rules.places import LONG_PASSAGE, words_in
from evaluation.terms import JudgeKind
from llmjobs.job_status import JUDGE_MADE, callable_judges_for, prompts_for
from llmjobs.models import LONGEST_NAME, Prompt
from llmjobs.prompts.template import PromptTask, Template, TopicTexts
from llmjobs.prompts.texts import BUILT_IN, OF_LONG_PASSAGES, TEMPLATES, VARIANTS, WITH_TEXTS
from web.text import trimmed

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
    template: Template, campaign: Campaign | None = None, actor: User | None = None
) -> tuple[Prompt, bool]:
    """Save a wording as the next version of its name; return it and whether it is new. No campaign: it is common.

    The wording of a version that is there changes nothing and returns that version. Raises `UnusableError` for a name
    that belongs to another campaign or task or to a built-in prompt, and for a wording that the task cannot use.
    """
    check_wording(template, campaign)
    try:
        with transaction.atomic():
            return _saved(template, campaign, actor)
    except IntegrityError:  # somebody saved a version of that name just now
        with transaction.atomic():
            return _saved(template, campaign, actor)


def _saved(template: Template, campaign: Campaign | None, actor: User | None) -> tuple[Prompt, bool]:
    versions = list(Prompt.objects.filter(name=template.name).order_by("version"))
    same = next((version for version in versions if version.sha256 == template.sha256), None)
    if same:
        return same, False
    prompt = Prompt.objects.create(
        campaign=campaign,
        task=template.task,
        name=template.name,
        version=versions[-1].version + 1 if versions else 1,
        system=template.system,
        user=template.user,
        sha256=template.sha256,
        made_by=actor,
    )
    return prompt, True


def new_wording(task: PromptTask, name: str, *texts: str) -> Template:
    # Forms send CRLF, and the same wording must have the same hash.
    system, user = (text.replace("\r\n", "\n").strip() for text in texts)
    return Template(task, name, 1, system, user)


def check_wording(template: Template, campaign: Campaign | None) -> None:
    """Raise `UnusableError` where no version of that name can have these words."""
    problems = [("name", problem) for problem in _name_problems(template.task, template.name, campaign)]
    problems += text_problems(template)
    if problems:
        raise UnusableError(problems)


def text_problems(template: Template) -> list[tuple[str, str]]:
    problems: list[tuple[str, str]] = []
    for part, text in (("system", template.system), ("user", template.user)):
        if not trimmed(text):
            problems.append((part, "a text is needed"))
        if len(text) > LONGEST_TEXT:
            problems.append((part, f"at most {LONGEST_TEXT:,} characters, found {len(text):,}"))
        if CONTROL.search(text):
            problems.append((part, "control characters cannot be sent"))
    return [*problems, *template.problems_by_text()]


def _name_problems(task: PromptTask, name: str, campaign: Campaign | None) -> list[str]:
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        return [f"letters, digits, dots, hyphens and underscores, at most {LONGEST_NAME}, beginning with no mark"]
    if name in {template.name for template in BUILT_IN}:
        return [f"{name} is built in; choose another name"]
    there = Prompt.objects.filter(name=name).first()
    if there and there.campaign_id != (campaign.pk if campaign else None):
        if there.campaign_id is None:
            return [f"{name} is common: mark this version as common too, or choose another name"]
        # Nothing more of a campaign's prompt: whoever saves this may not see that campaign.
        return [f"The name {name} is taken; choose another one"]
    if there and there.task != task:
        return [f"{name} is a prompt for the task {there.task}; choose another name"]
    return []


def the_template(ref: str, task: PromptTask | None = None) -> Template:
    """Return the template that a reference such as `strict@2` names. Raises `Refused` where its task has none."""
    return templates_by_ref([(task, ref)])[ref]


def templates_by_ref(wanted: Sequence[tuple[PromptTask | None, str]]) -> dict[str, Template]:
    """Return templates by reference, in one query at most. Raises `Refused` where a reference has none for its task."""
    templates = {template.ref: template for template in BUILT_IN}
    names = {ref.partition("@")[0] for _, ref in wanted if ref not in templates}
    if names:
        templates |= {str(prompt): _unchanged(prompt) for prompt in Prompt.objects.filter(name__in=names)}
    for task, ref in wanted:
        if ref not in templates or task not in (None, templates[ref].task):
            # Of a campaign's prompts not even the names: whoever asks may not see the campaign.
            there = all_templates(Prompt.objects.filter(campaign=None), task)
            wanted_prompt = f"prompt {ref} for the task {task}" if task else f"prompt {ref}"
            raise no_such("no_such_prompt", wanted_prompt, (template.ref for template in there))
    return {ref: templates[ref] for _, ref in wanted}


def _unchanged(prompt: Prompt) -> Template:
    """Return a saved wording. Raises `Refused` where somebody changed it: labels rest on what it was."""
    template = prompt.template
    if template.sha256 != prompt.sha256:
        raise Refused(
            "prompt_changed", f"The words of {prompt} are not those that were saved; make another version."
        )
    return template


def all_templates(prompts: QuerySet[Prompt], task: PromptTask | None = None) -> list[Template]:
    """Templates in the order of their tasks, built-in ones before the saved ones."""
    everything = (*BUILT_IN, *(prompt.template for prompt in prompts))
    templates = [template for template in everything if task in (None, template.task)]
    return sorted(templates, key=lambda template: [*TEMPLATES].index(template.task))


@dataclass(frozen=True, slots=True)
class PromptRow:
    """A prompt; `stored` is None for a built-in prompt. `judges` ask by it. `author` may be hidden, then empty."""

    template: Template
    stored: Prompt | None
    judges: tuple[Judge, ...]
    author: str = ""


def prompts_by_task(viewer: User, campaign: Campaign) -> list[tuple[PromptTask, list[PromptRow]]]:
    judges, known = callable_judges_for(viewer, campaign), _known_to(viewer)
    rows = [PromptRow(template, None, _judges_by(template, judges)) for template in BUILT_IN]
    for stored in prompts_for(viewer).select_related("made_by", "campaign").order_by("name", "-version"):
        author = stored.made_by.name if stored.made_by and stored.made_by.pk in known else ""
        rows.append(PromptRow(stored.template, stored, _judges_by(stored.template, judges), author))
    return [(task, [row for row in rows if row.template.task == task]) for task in TEMPLATES]


def prompt_for(viewer: User, campaign: Campaign, ref: str) -> PromptRow:
    by_ref = {row.template.ref: row for _, rows in prompts_by_task(viewer, campaign) for row in rows}
    if ref not in by_ref:
        raise Prompt.DoesNotExist
    return by_ref[ref]


def _known_to(viewer: User) -> set[int]:
    mine = Membership.objects.filter(user=viewer).values("campaign")
    shared = Campaign.objects.all() if viewer.is_superuser else Campaign.objects.filter(pk__in=mine)
    people = Membership.objects.filter(campaign__in=shared).values_list("user", flat=True)
    return {viewer.pk, *people}


def ref_of_call(viewer: User, name: str, version: int, sha256: str) -> str:
    """Reference of a call's template; empty where the viewer may not read its wording."""
    built_in = any((known.name, known.version, known.sha256) == (name, version, sha256) for known in BUILT_IN)
    if built_in or prompts_for(viewer).filter(name=name, version=version, sha256=sha256).exists():
        return f"{name}@{version}"
    return ""


def _judges_by(template: Template, judges: list[Judge]) -> tuple[Judge, ...]:
    default_ref = template.ref if template in BUILT_IN else ""
    return tuple(
        judge for judge in judges if judge.prompt_versions.get(template.task, default_ref) == template.ref
    )


LARGEST_FILE = 262_144
Text = Annotated[str, Field(strict=True)]


class PromptFile(BaseModel):
    """A wording; task and name may be given when it is loaded instead."""

    model_config = ConfigDict(extra="forbid")

    task: Text = ""
    name: Text = ""
    system: Text
    user: Text


def read_wording(source: Source, *, task: str = "", name: str = "") -> Template:
    """Read a file's wording for the task and under the name that the file or the caller gives.

    Raises `BadInput` naming file, line and field, also where the file gives another task or name than the caller.
    """
    file = read_toml(source, PromptFile)
    problems = [
        _problem(source, field, f"{wanted}, as was said when it was loaded, found {in_file}")
        for field, in_file, wanted in (("task", file.task, task), ("name", file.name, name))
        if in_file and wanted and in_file != wanted
    ]
    template_task = next((each for each in TEMPLATES if each == (file.task or task)), None)
    if template_task is None:
        problems.append(_problem(source, "task", f"one of {', '.join(TEMPLATES)}, here or when it is loaded"))
    if problems or template_task is None:
        raise BadInput(problems)
    template = new_wording(template_task, file.name or name, file.system, file.user)
    wrong = [_problem(source, field, problem) for field, problem in text_problems(template)]
    if wrong:
        raise BadInput(sorted(wrong, key=attrgetter("line")))
    return template


def import_prompt(
    source: Source, *, task: str = "", name: str = "", campaign: Campaign | None = None, actor: User | None = None
) -> tuple[Prompt, bool]:
    """Save a file's wording as a version of a name; return it and whether it is new. No campaign: it is common.

    Raises `BadInput` as `read_wording` does, and for a name that is taken.
    """
    try:
        return save_prompt(read_wording(source, task=task, name=name), campaign, actor)
    except UnusableError as refusal:
        raise BadInput([_problem(source, field, problem) for field, problem in refusal.problems]) from refusal


def _problem(source: Source, field: str, problem: str) -> InputProblem:
    # At the placeholder that is to blame, if one is: a field may be many lines long.
    placeholder = problem.partition(" ")[0]
    key = re.compile(rf"\s*{field}\s*=")
    lines = [line for line, text in source.lines if placeholder.startswith("{") and placeholder in text]
    lines += [line for line, text in source.lines if key.match(text)]
    return InputProblem(source.name, lines[0] if lines else 1, field, problem)


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The template of each task, with the form of its replies in it.

    For tasks by a built-in template: `variants`, as `VARIANTS` of the built-in texts, `of_long_passages`, and
    `with_texts`, by name, its variant for topics that have more than a title. `passage_words`: most words of a passage
    that are sent; 0: all.
    """

    templates: Mapping[PromptTask, Template]
    variants: Mapping[PromptTask, Template] = field(default_factory=dict)
    with_texts: Mapping[str, Template] = field(default_factory=dict)
    of_long_passages: Mapping[PromptTask, Template] = field(default_factory=dict)
    passage_words: int = 0

    def template(self, task: PromptTask, texts: TopicTexts, *, variant: bool = False) -> Template:
        own = self.templates[task]
        template = self.variants.get(task, own) if variant else own
        return self.with_texts.get(template.name, template) if texts else template

    def of_passage(self, task: PromptTask, passage: str) -> Template:
        own = self.templates[task]
        return self.of_long_passages.get(task, own) if words_in(passage) > LONG_PASSAGE else own


BUILT_IN_PROMPTS = PromptSet(TEMPLATES, VARIANTS, WITH_TEXTS, OF_LONG_PASSAGES)


def way_of(judge: Judge) -> PromptSet:
    """Return a judge's prompts: for a task without a choice the built-in prompt. Raises `Refused` for a lost prompt."""
    versions = judge.prompt_versions
    if not versions:
        return BUILT_IN_PROMPTS
    refs = {task: versions[task] for task in TEMPLATES if task in versions}
    templates = templates_by_ref(list(refs.items()))

    temperature, parameters = parameters_of(versions)

    def by_judge(template: Template) -> Template:
        structured = versions.get(REPLY_FORM) == JSON_SCHEMA
        return replace(template, structured=structured, temperature=temperature, parameters=parameters)

    return PromptSet(
        {
            task: by_judge(templates[refs[task]] if task in refs else built_in)
            for task, built_in in TEMPLATES.items()
        },
        {task: by_judge(built_in) for task, built_in in VARIANTS.items() if task not in refs},
        {name: by_judge(built_in) for name, built_in in WITH_TEXTS.items() if built_in.task not in refs},
        {task: by_judge(built_in) for task, built_in in OF_LONG_PASSAGES.items() if task not in refs},
        int(versions.get(PASSAGE_WORDS, 0)),
    )


def parameters_of(versions: Mapping[str, str]) -> tuple[float | None, tuple[tuple[str, str | int], ...]]:
    """The temperature with which a judge asks, None where it is not sent, and further parameters."""
    temperature = versions.get(TEMPERATURE, "0")
    parameters: list[tuple[str, str | int]] = []
    if effort := versions.get(REASONING_EFFORT):
        parameters.append((REASONING_EFFORT, effort))
    if most := versions.get(MAX_COMPLETION_TOKENS):
        parameters.append((MAX_COMPLETION_TOKENS, int(most)))
    return None if temperature == NOT_SENT else float(temperature), tuple(parameters)


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
HOTTEST = 2.0


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of a judge's requests beside the form of its replies. None or empty is not sent.

    `passage_words`: most words of a passage, of which the best paragraphs are sent; None: all. Raises `Refused` for a
    value that cannot be.
    """

    temperature: float | None = 0.0
    reasoning_effort: str = ""
    max_completion_tokens: int | None = None
    passage_words: int | None = None

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= HOTTEST:
            raise Refused("usage", f"temperature: a number from 0 to {HOTTEST:g}, or none.")
        if self.reasoning_effort and self.reasoning_effort not in EFFORTS:
            raise Refused("usage", f"reasoning effort: one of {', '.join(EFFORTS)}.")
        if self.max_completion_tokens is not None and self.max_completion_tokens < 1:
            raise Refused("usage", "completion tokens: at least 1.")
        if self.passage_words is not None and self.passage_words < 0:
            raise Refused("usage", "passage words: at least 0, which sends each passage whole.")

    @property
    def versions(self) -> dict[str, str]:
        """As a judge keeps them; a temperature of 0 is every judge's."""
        temperature = NOT_SENT if self.temperature is None else f"{self.temperature:g}" if self.temperature else ""
        return {
            TEMPERATURE: temperature,
            REASONING_EFFORT: self.reasoning_effort,
            MAX_COMPLETION_TOKENS: str(self.max_completion_tokens or ""),
            PASSAGE_WORDS: str(self.passage_words or ""),
        }


DEFAULT_PARAMETERS = Parameters()


def prompt_sets_of(judges: Sequence[Judge]) -> list[PromptSet]:
    sets: dict[int | None, PromptSet] = {}
    return [sets[judge.pk] if judge.pk in sets else sets.setdefault(judge.pk, way_of(judge)) for judge in judges]


def versions_of(
    prompts: Mapping[str, str], *, structured: bool, parameters: Parameters = DEFAULT_PARAMETERS
) -> dict[str, str]:
    """Return the prompt versions and parameters of a judge. Raises `Refused` for an unknown task or prompt."""
    refs: list[tuple[PromptTask | None, str]] = []
    for task, ref in prompts.items():
        if task not in TEMPLATES:
            raise Refused("usage", f"There is no task {task}; there are: {', '.join(TEMPLATES)}.")
        refs.append((next(each for each in TEMPLATES if each == task), ref))
    templates_by_ref(refs)
    kept = {REPLY_FORM: JSON_SCHEMA if structured else "", **parameters.versions}
    return dict(sorted(prompts.items())) | {name: text for name, text in kept.items() if text}


VERSION = re.compile(r"@([0-9]{1,6})$")


def name_and_version(name: str) -> tuple[str, int]:
    """Name and version of an LLM judge: its first version has the name alone, the second is `NAME@2`."""
    version = VERSION.search(name)
    return (name[: version.start()], int(version[1])) if version else (name, 1)


def add_llm_judge(
    *,
    name: str,
    model: str,
    base_url: str = "",
    prompts: Mapping[str, str] | None = None,
    structured: bool = False,
    parameters: Parameters = DEFAULT_PARAMETERS,
) -> tuple[Judge, bool]:
    """Make the next version of an LLM judge; return it and whether it is new. The same again changes nothing.

    `prompts` by task, as `name@version`. Raises `Refused` for a prompt that there is not, and as `add_judge` does.
    """
    versions = versions_of(prompts or {}, structured=structured, parameters=parameters)
    description: dict[str, object] = {"model": model, "base_url": base_url, "prompt_versions": versions}
    stem, number = name_and_version(name)[0], 1
    there = Judge.objects.filter(name=stem).first()
    while (
        there
        and there.kind == JudgeKind.LLM
        and any(getattr(there, key) != description[key] for key in description)
    ):
        number += 1
        there = Judge.objects.filter(name=f"{stem}@{number}").first()
    full_name = stem if number == 1 else f"{stem}@{number}"
    return add_judge(name=full_name, kind=JudgeKind.LLM, model=model, base_url=base_url, prompt_versions=versions)


def record_judge(campaign: Campaign, judge: Judge, actor: User) -> None:
    """Log that a judge was made for a campaign, once: by this event it is offered there, and not elsewhere."""
    payload = {"name": judge.name, "model": judge.model, "prompts": judge.prompt_versions}
    if not Event.objects.filter(campaign=campaign, kind=JUDGE_MADE, payload__name=judge.name).exists():
        Event.objects.create(campaign=campaign, kind=JUDGE_MADE, actor=actor, payload=payload)
