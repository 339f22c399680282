"""Making and finding judges, and whose grades a source of qrels has."""

from collections.abc import Iterable, Mapping
from typing import Any

from accounts.models import User
from evaluation.errors import Refused
from evaluation.formats.lines import name_problem
from evaluation.models import Judge, Study, Task
from evaluation.models.judges import IN_STUDY, OF_PEOPLE
from evaluation.rules.text import check_name
from evaluation.terms import PROVENANCE_KEY, JudgeKind
from web.outbound import address_problem

MAX_URL = 200  # what the column holds
# Keys beside a judge's prompt versions: if it wants JSON for a reply, a temperature other than 0 or none at all, and
# what reasoning models take.
REPLY_FORM, JSON_SCHEMA = "reply_form", "json_schema"
TEMPERATURE, NOT_SENT = "temperature", "none"
REASONING_EFFORT, MAX_COMPLETION_TOKENS = "reasoning_effort", "max_completion_tokens"
# Not sent: words of a passage beyond which its best paragraphs are.
PASSAGE_WORDS = "passage_words"
PARAMETERS = (REPLY_FORM, TEMPERATURE, REASONING_EFFORT, MAX_COMPLETION_TOKENS, PASSAGE_WORDS)
LONGEST_IN_STUDY = 60  # so that a judge's name has room for the study's and the campaign's


def add_judge(
    *,
    name: str,
    kind: JudgeKind,
    model: str = "",
    base_url: str = "",
    user: User | None = None,
    prompt_versions: Mapping[str, str] | None = None,
) -> tuple[Judge, bool]:
    """Make a judge; return it and whether it is new. The same judge again changes nothing.

    `prompt_versions`: how an LLM asks where that is not the built-in way; whoever gives them has checked them.
    Raises `Refused` when the name is taken by another judge, a person has a model, or an LLM none.
    """
    check_name("judge", name)
    versions = dict(prompt_versions or {})
    _check_shape(kind, model, base_url, user)
    if kind is JudgeKind.HUMAN and versions:
        raise Refused("usage", "A person who judges has no prompts.")
    _check_account(name, user)
    fields = {"kind": kind, "model": model, "base_url": base_url, "user": user, "prompt_versions": versions}
    judge, is_new = Judge.objects.get_or_create(name=name, defaults=fields)
    if any(getattr(judge, key) != value for key, value in fields.items()):
        raise Refused("judge_differs", f"There is another judge named {name}: {describe(judge)}.")
    return judge, is_new


def _check_shape(kind: JudgeKind, model: str, base_url: str, user: User | None) -> None:
    if kind is JudgeKind.LLM and (user or not model):
        raise Refused("usage", "An LLM judge has a model and no user.")
    if kind is JudgeKind.HUMAN and (model or base_url or not user):
        raise Refused("usage", "A person who judges has a user, and neither model nor endpoint.")
    if model:
        check_name("model", model)
    # Not a URLField's rules: in a compose file an endpoint's host is a word such as `ollama`.
    if len(base_url) > MAX_URL:
        raise Refused("usage", f"base URL: at most {MAX_URL} characters.")
    problem = address_problem(base_url) if base_url else ""
    if problem:
        raise Refused("address_refused", problem)


def _check_account(name: str, user: User | None) -> None:
    # With two judges, agreement would compare a person with themselves.
    other = Judge.objects.filter(user=user, aside=False).exclude(name=name).first() if user else None
    if other:
        raise Refused("judge_account", f"{user} judges as {other} already.")


def judge_named(name: str, kind: JudgeKind, *, aside: bool = False) -> Judge:
    """Return the judge that an import names, not stored if unknown. Raises `Refused` when it is of the other kind.

    `aside`: where it is made, its labels are those of a study.
    """
    new = Judge(name=check_name("judge", name), kind=kind, aside=aside)
    judge = Judge.objects.filter(name=name).first() or new
    if judge.kind != kind:
        raise Refused("judge_kind", f"{name} is {describe(judge)}, not {describe(Judge(kind=kind))}.")
    if judge.aside != aside:
        raise Refused(
            "judge_aside",
            f"{name} gives labels of a study, and these are ordinary labels."
            if judge.aside
            else f"{name} gives ordinary labels, and these are labels of a study.",
        )
    return judge


def describe(judge: Judge) -> str:
    if judge.kind == JudgeKind.HUMAN:
        return f"a person ({judge.user.username})" if judge.user else "a person"
    way = ", ".join(f"{key} {text}" for key, text in sorted(judge.prompt_versions.items()))
    text = "; ".join(filter(None, (judge.model, way)))
    return f"an LLM ({text})" if text else "an LLM"


def judge_of(user: User) -> Judge:
    """Return the judge that an account is; made, under the person's name or one like it, if it is none yet."""
    there = Judge.objects.filter(user=user, aside=False).first()
    if there:
        return there
    # Exports carry the judge's name, and not every person's name can stand in a file.
    name = user.username if name_problem(user.name) else user.name
    if Judge.objects.filter(name=name).exists():
        name = f"{name} ({user.username})"
    return add_judge(name=name, kind=JudgeKind.HUMAN, user=user)[0]


def judge_at(task: Task) -> Judge:
    own = judge_of(task.assessor)
    return study_judge(task.study, own) if task.study else own


def study_judge(study: Study, judge: Judge) -> Judge:
    return stored_judge(judge_in(study, judge))


def stored_judge(judge: Judge) -> Judge:
    """Return a judge as it is in the database; another window may have stored it meanwhile."""
    if judge.pk:
        return judge
    fields = ("kind", "user", "model", "base_url", "study", "aside", "prompt_versions")
    defaults = {field: getattr(judge, field) for field in fields}
    return Judge.objects.get_or_create(name=judge.name, defaults=defaults)[0]


def judge_in(study: Study, judge: Judge) -> Judge:
    """Return the judge that a person or an LLM is in a study, not stored where it has given no label yet."""
    who = {"user": judge.user, "model": judge.model, "base_url": judge.base_url}
    way = judge.prompt_versions
    # Compared here: databases differ in what makes two JSON values equal.
    for there in Judge.objects.filter(study=study, **who).order_by("pk"):
        if there.prompt_versions == way:
            return there
    name = f"{judge.name[:LONGEST_IN_STUDY]}{IN_STUDY}{study.name}"
    if Judge.objects.filter(name=name).exists():
        name = f"{name} ({study.pk}-{judge.pk or judge.model[-20:]})"
    return Judge(name=name, kind=judge.kind, study=study, aside=True, prompt_versions=way, **who)


def judge_from_elsewhere(study: Study, name: str) -> Judge:
    """Return the judge that somebody is in a study whose labels of it come in a file, not stored where it is new.

    Raises `Refused` for an LLM.
    """
    there = Judge.objects.filter(name=check_name("judge", name)).first()
    if there and there.kind != JudgeKind.HUMAN:
        raise Refused("judge_kind", f"{name} is {describe(there)}, not a person.")
    if there and there.user and not there.aside:
        return judge_in(study, there)
    own = f"{name[:LONGEST_IN_STUDY]}{IN_STUDY}{study.name}"
    taken = Judge.objects.filter(name=own).exclude(study=study).exists()
    own = f"{own} ({study.pk})" if taken else own
    new = Judge(name=own, kind=JudgeKind.HUMAN, study=study, aside=True)
    return Judge.objects.filter(name=own).first() or new


def names_study(extras: Iterable[Mapping[str, Any]]) -> bool:
    ours = (extra.get(PROVENANCE_KEY) for extra in extras)
    return any(isinstance(our, dict) and bool(our.get("study")) for our in ours)


def judge_of_source(name: str) -> Judge | None:
    """Return who gives the grades of a source; None for one that a file or a job fills."""
    return Judge.objects.filter(name=name.removeprefix(OF_PEOPLE)).first() if name.startswith(OF_PEOPLE) else None


def check_source(name: str) -> str:
    """Return the name of a source that a file or a job fills. Raises `Refused` for one of a person."""
    if name.startswith(OF_PEOPLE):
        text = f"Sources called {OF_PEOPLE}… hold what people grade here: take another name."
        raise Refused("source_of_person", text, field="source")
    return check_name("source", name)
