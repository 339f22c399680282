"""What labels of a run rest on: where two runs differ in it, a difference of their scores says nothing of the runs."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from django.db.models import Q, QuerySet

from evaluation.campaigns.pseudonyms import Names
from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.judges import PARAMETERS
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import AnswerProvenance, Assignment, Judge, ListedNugget, NuggetList, Run, SupportJudgment
from llmjobs.models import Call
from reports.metrics.policies import Policies, SupportPolicies, policies_document

Choice = NuggetCondition | CitationCondition
Parts = Mapping[str, Any]
OF_TOPICS: Final = ("text", "language", "problem_statement", "background", "article")
OF_PROTOCOL: Final = (
    "batch_size",
    "first_citations",
    "identical_once",
    "markdown",
    "nugget_sweep",
    "place_help",
    "scoring",
    "show_importance",
    "support_measure",
)
"""Settings that can change what somebody answers, or which answers count."""
SHOWN: Final = 6
"""Digits of a hash, and names of topics, in a sentence."""


def fingerprint_of(choice: Choice, policies: Policies | SupportPolicies, run: Run, alias: str) -> dict[str, Any]:
    """Return the parts of a fingerprint. Runs, moments and names of people are not in it."""
    labels = NUGGET_LABELS if isinstance(choice, NuggetCondition) else CITATION_LABELS
    protocol = choice.campaign.protocol
    return {
        "condition": str(choice),
        "policies": policies_document(policies),
        "labels": list(labels.words),
        "judges": [_judge(choice, judge, run, alias) for judge in choice.judges],
        "nuggets": _lists(choice) if isinstance(choice, NuggetCondition) else {},
        "topics": {
            topic_id: digest(texts)
            for topic_id, *texts in choice.campaign.topics.order_by("topic_id").values_list("topic_id", *OF_TOPICS)
        },
        "protocol": {name: getattr(protocol, name) for name in OF_PROTOCOL},
    }


def digest(parts: object) -> str:
    return sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _judge(choice: Choice, judge: Judge, run: Run, alias: str) -> dict[str, Any]:
    names, prompts = Names([choice.campaign], alias), _calls(choice, judge, run)
    return {
        "name": names.judge(choice.campaign.pk, judge.pk),
        "kind": judge.kind,
        "model": judge.model,
        "host": urlsplit(judge.base_url).hostname or "",
        "parameters": {
            name: str(judge.prompt_versions[name]) for name in PARAMETERS if name in judge.prompt_versions
        },
        # As they were sent, not as the judge asks now; labels that were loaded name none.
        "prompts": {f"{name}/{version}": sha for name, version, sha in prompts},
    }


def _calls(choice: Choice, judge: Judge, run: Run) -> QuerySet[Any, tuple[str, int, str]]:
    answers = AnswerProvenance.objects.filter(run=run).values("answer")
    labels: QuerySet[Any]
    if isinstance(choice, NuggetCondition):
        labels = Assignment.objects.current().filter(answer__in=answers)
    else:
        labels = SupportJudgment.objects.current().filter(sentence__answer__in=answers, condition=choice.condition)
    events: QuerySet[Any] = labels.filter(judge=judge).values("event")
    calls = Call.objects.filter(event__in=events).order_by("template_sha256")
    return calls.values_list("template", "template_version", "template_sha256").distinct()


def _lists(choice: NuggetCondition) -> dict[str, str]:
    """Return a hash of each topic's list: wordings, importance and weights, in their order."""
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__in=choice.nugget_sets)
    counting = Q()
    for nugget_set, _, topics in choice.keys:
        counting |= Q(nugget_set=nugget_set) & (Q() if topics is None else Q(topic__in=topics))
    items = ListedNugget.objects.filter(nugget_list__in=lists.filter(counting))
    by_topic: dict[str, list[Any]] = {}
    fields = ("nugget_version__text", "importance", "weight")
    rows = items.order_by("nugget_list__topic__topic_id", "nugget_list", "position")
    for topic_id, text, importance, weight in rows.values_list("nugget_list__topic__topic_id", *fields):
        by_topic.setdefault(topic_id, []).append([text, importance, weight])
    return {topic_id: digest(nuggets) for topic_id, nuggets in by_topic.items()}


def differences(baseline: Parts, candidate: Parts) -> Iterator[str]:
    """Yield a sentence for each part in which two fingerprints differ, without its full stop."""
    for part, told in TOLD.items():
        if baseline.get(part) != candidate.get(part):
            yield told(part, baseline.get(part), candidate.get(part))


def _of_judges(_part: str, baseline: Any, candidate: Any) -> str:
    if [_but_prompts(judge) for judge in baseline] == [_but_prompts(judge) for judge in candidate]:
        return (
            f"the judge's prompt differs ({_sides(_prompts(baseline), _prompts(candidate))}); judge both with one"
        )
    described = (", ".join(filter(None, map(_described, judges))) for judges in (baseline, candidate))
    prompts = _prompts(baseline), _prompts(candidate)
    of_prompts = f", and its prompt ({_sides(*prompts)})" if prompts[0] != prompts[1] else ""
    return f"the judge differs ({_sides(*described)}){of_prompts}; judge both by one"


def _but_prompts(judge: Parts) -> Parts:
    return {name: value for name, value in judge.items() if name != "prompts"}


def _described(judge: Parts) -> str:
    details = filter(None, [judge["model"], judge["host"], *map(" ".join, sorted(judge["parameters"].items()))])
    text = ", ".join(details)
    return f"{judge['name']} ({text})" if text else str(judge["name"])


def _prompts(judges: Iterable[Parts]) -> str:
    listed = (f"{ref} {sha[:SHOWN]}" for judge in judges for ref, sha in sorted(judge["prompts"].items()))
    return ", ".join(listed) or "none known"


def _sides(baseline: str, candidate: str) -> str:
    return f"baseline {baseline}, candidate {candidate}"


def _of_each(part: str, baseline: Any, candidate: Any) -> str:
    names = [name for name in sorted({*baseline, *candidate}) if baseline.get(name) != candidate.get(name)]
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    what = {"nuggets": "nuggets of these topics differ", "topics": "these topics differ"}[part]
    return f"{what}: {shown}"


def _of_settings(part: str, baseline: Any, candidate: Any) -> str:
    names = sorted(name for name in {*baseline, *candidate} if baseline.get(name) != candidate.get(name))
    texts = (", ".join(f"{name} {side.get(name)}" for name in names) for side in (baseline, candidate))
    return f"the {part} differ{'s' if part == 'protocol' else ''} ({_sides(*texts)})"


def _of_words(part: str, baseline: Any, candidate: Any) -> str:
    texts = (side if isinstance(side, str) else ", ".join(side) for side in (baseline, candidate))
    return f"the {part} differ{'s' if part == 'condition' else ''} ({_sides(*texts)})"


TOLD: Final[dict[str, Callable[[str, Any, Any], str]]] = {
    "judges": _of_judges,
    "condition": _of_words,
    "policies": _of_settings,
    "labels": _of_words,
    "protocol": _of_settings,
    "nuggets": _of_each,
    "topics": _of_each,
}
"""Parts of a fingerprint, and the sentence for each."""
