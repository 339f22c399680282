"""How a judge asks: by which prompts, and in which form it wants the replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evaluation.models import Judge
from evaluation.services.judges import JSON_SCHEMA, REPLY_FORM, add_judge
from evaluation.terms import JudgeKind
from llmjobs.prompts import TEMPLATES, WITH_TEXTS, PromptTask, Template, TopicTexts
from llmjobs.stored_prompts import checked_versions, templates_by_ref


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The template of each task, with the form of its replies in it.

    `with_texts`: for tasks by a built-in template, the one for topics that have more than a title.
    """

    templates: Mapping[PromptTask, Template]
    with_texts: Mapping[PromptTask, Template] = field(default_factory=dict)

    def template(self, task: PromptTask, texts: TopicTexts) -> Template:
        return self.with_texts.get(task, self.templates[task]) if texts else self.templates[task]


BUILT_IN_PROMPTS = PromptSet(TEMPLATES, WITH_TEXTS)


def way_of(judge: Judge) -> PromptSet:
    """Return how a judge asks: what it chose no prompt for, by the built-in one. Raises `Refused` for a lost prompt."""
    versions = judge.prompt_versions
    if not versions:
        return BUILT_IN_PROMPTS
    chosen = {task: versions[task] for task in TEMPLATES if task in versions}
    found = templates_by_ref(list(chosen.items()))
    structured = is_structured(judge)
    return PromptSet(
        {
            task: replace(found[chosen[task]] if task in chosen else built_in, structured=structured)
            for task, built_in in TEMPLATES.items()
        },
        {
            task: replace(built_in, structured=structured)
            for task, built_in in WITH_TEXTS.items()
            if task not in chosen
        },
    )


def ways_of(judges: Sequence[Judge]) -> list[PromptSet]:
    """Prompt set of each judge, each judge looked up once."""
    known: dict[int | None, PromptSet] = {}
    return [known[one.pk] if one.pk in known else known.setdefault(one.pk, way_of(one)) for one in judges]


def is_structured(judge: Judge) -> bool:
    return bool(judge.prompt_versions.get(REPLY_FORM) == JSON_SCHEMA)


def versions_of(prompts: Mapping[str, str], *, structured: bool) -> dict[str, str]:
    """Return what a judge keeps of its way. Raises `Refused` for a task or a prompt that there is not."""
    return checked_versions(prompts) | ({REPLY_FORM: JSON_SCHEMA} if structured else {})


def add_llm_judge(
    *,
    name: str,
    model: str,
    base_url: str = "",
    prompts: Mapping[str, str] | None = None,
    structured: bool = False,
) -> tuple[Judge, bool]:
    """Make an LLM judge that asks in its own way; return it and whether it is new. The same again changes nothing.

    `prompts` by task, as `name@version`. Raises `Refused` for a prompt that there is not, and as `add_judge` does.
    """
    versions = versions_of(prompts or {}, structured=structured)
    return add_judge(name=name, kind=JudgeKind.LLM, model=model, base_url=base_url, prompt_versions=versions)
