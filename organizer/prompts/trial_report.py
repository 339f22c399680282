"""A trial of prompts in figures: how each agrees with the people who labelled the same pairs."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from django.db.models import QuerySet
from django.db.models.functions import Left

from accounts.models import User
from evaluation.corpus.answers import provenance_for
from evaluation.corpus.topics import SNIPPET, topics_for
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import AnswerProvenance, Campaign, Judge, NuggetVersion, Segment, Sentence, Topic
from jobs.models import WorkItem
from llmjobs.job_status import callable_judges_for
from llmjobs.kinds import WINNERS
from llmjobs.models import Trial, TrialJob
from llmjobs.prompts.texts import TEMPLATES
from llmjobs.trials import Tried, outcome_of
from reports.metrics.arrays import Bytes
from reports.metrics.confusion import Confusion, confusion
from reports.metrics.label_matrix import FAILED, UNJUDGED

Pairs = Sequence[tuple[int, int]]
First = TypeVar("First")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A nugget and whose answer it is looked for in; a sentence, and the cited segment's id in `docid`; or a nugget, or
    the beginning of a segment, or the runs of a battle, and its topic, without an answer.
    """

    text: str
    docid: str
    topic: Topic
    given: AnswerProvenance | None = None


def shown_pairs(viewer: User, campaign: Campaign, trial: Trial) -> list[ShownPair | None]:
    """Pairs in the order of their items; None for a pair whose rows are gone or that the viewer may not see."""
    # Every prompt is tried on the same pairs, so the items of the first job are those of all.
    first = TrialJob.objects.filter(trial=trial).order_by("llm").first()
    payloads = [item.payload for item in WorkItem.objects.filter(job=first.llm_id).order_by("pk")] if first else []
    answers = provenance_for(viewer, campaign).select_related("run", "topic")
    topics = topics_for(viewer, campaign)
    match trial.task:
        case "assign":
            pairs = [(item["answer"], nugget) for item in payloads for nugget in item["nuggets"]]
            answers_by_key = answers.in_bulk([answer for answer, _ in pairs])
            return _shown(
                pairs, answers_by_key, _nugget_texts(pairs), lambda row, text: ShownPair(text, "", row.topic, row)
            )
        case "support":
            pairs = [(item["sentence"], item["segment"]) for item in payloads]
            docids = dict(
                Segment.objects.filter(pk__in=[segment for _, segment in pairs]).values_list("pk", "docid")
            )
            return _shown(pairs, _sentences(pairs, answers), docids, lambda row, docid: replace(row, docid=docid))
        case "importance":
            pairs = [(item["topic"], nugget) for item in payloads for nugget in item["nuggets"]]
            about = topics.in_bulk([topic for topic, _ in pairs])
            return _shown(pairs, about, _nugget_texts(pairs), lambda topic, text: ShownPair(text, "", topic))
        case "battle":
            pairs = [(item["topic"], item["battle"]) for item in payloads]
            run_of = {row.pk: row.run.run_id for row in answers.filter(pk__in=_sides(payloads))}
            sides = {item["battle"]: _against(item, run_of) for item in payloads}
            about = topics.in_bulk([topic for topic, _ in pairs])
            return _shown(pairs, about, sides, lambda topic, text: ShownPair(text, "", topic))
        case _:
            pairs = [(item["topic"], item["segment"]) for item in payloads]
            about = topics.in_bulk([topic for topic, _ in pairs])
            # Only the beginning is shown, and a segment may be long.
            segments = Segment.objects.annotate(start=Left("text", SNIPPET)).only("docid")
            by_key = segments.in_bulk([segment for _, segment in pairs])
            return _shown(pairs, about, by_key, lambda topic, row: ShownPair(row.start, row.docid, topic))


def _sides(payloads: Sequence[Mapping[str, int]]) -> set[int]:
    return {item[side] for item in payloads for side in ("left", "right")}


def _against(item: Mapping[str, int], run_of: Mapping[int, str]) -> str:
    left, right = (run_of.get(item[side], "an answer that is gone") for side in ("left", "right"))
    return f"{left} on the left, {right} on the right"


def _shown(
    pairs: Pairs, rows: Mapping[int, First], others: Mapping[int, Other], show: Callable[[First, Other], ShownPair]
) -> list[ShownPair | None]:
    return [
        show(rows[first], others[other]) if first in rows and other in others else None for first, other in pairs
    ]


def _sentences(pairs: Pairs, answers: QuerySet[AnswerProvenance]) -> dict[int, ShownPair]:
    """Sentences of answers that the viewer may see, still without a passage."""
    sentences = Sentence.objects.in_bulk([sentence for sentence, _ in pairs])
    answers_by_key = answers.in_bulk([sentence.answer_id for sentence in sentences.values()])
    return {
        pk: ShownPair(
            sentence.text, "", answers_by_key[sentence.answer_id].topic, answers_by_key[sentence.answer_id]
        )
        for pk, sentence in sentences.items()
        if sentence.answer_id in answers_by_key
    }


def _nugget_texts(pairs: Pairs) -> dict[int, str]:
    wordings = NuggetVersion.objects.filter(pk__in={nugget for _, nugget in pairs})
    return dict(wordings.values_list("pk", "text"))


LABELS_OF = {"assign": NUGGET_LABELS, "support": CITATION_LABELS}
"""Label sets of the tasks in which LLMs label answers."""


@dataclass(frozen=True, slots=True)
class TriedPrompt:
    """One prompt: `against` has its labels in rows and people's in columns; `judges` ask by it in jobs."""

    tried: Tried
    judges: list[Judge]
    against: Confusion
    codes: list[int]
    failed: int

    @property
    def pending(self) -> int:
        return sum(code is None for code in self.tried.labels)

    @property
    def harsh(self) -> int:
        return int(self.against.counts[0][-1] + self.against.counts[-1][0])

    @property
    def rows(self) -> list[tuple[int, list[int]]]:
        return list(zip(self.codes, self.against.counts.tolist(), strict=True))


TrialDifference = tuple[ShownPair | None, int, tuple[int | None, ...]]
"""A pair on which a prompt differs from people, their label, and that of each prompt."""


@dataclass(frozen=True, slots=True)
class TrialReport:
    trial: Trial
    labels: tuple[str, ...]
    prompts: tuple[TriedPrompt, ...]
    differing: tuple[TrialDifference, ...]

    @property
    def what(self) -> str:
        words = {"support": "sentence", "relevance": "segment", "battle": "battle"}
        return words.get(self.trial.task, "nugget")

    @property
    def leaning(self) -> tuple[str, str]:
        """Word for a prompt's mean label less that of people, and what its sign says."""
        if self.trial.task == "battle":
            return "To the left", "to the left is positive where the prompt favours the answer on that side more"
        return "Strictness", "strictness is negative where the prompt is the stricter one"

    @property
    def of_answers(self) -> bool:
        return self.trial.task in ("assign", "support")

    @property
    def simulated(self) -> bool:
        return any(prompt.tried.simulated for prompt in self.prompts)

    @property
    def moving(self) -> bool:
        return any(prompt.tried.llm.job.state == "running" for prompt in self.prompts)


def trial_report(viewer: User, campaign: Campaign, trial: Trial) -> TrialReport:
    tried = outcome_of(trial)
    labels = _words_by_code(trial.task, tried[0].top)
    judges = defaultdict[str, list[Judge]](list)
    built_in = next(template.ref for template in TEMPLATES.values() if template.task == trial.task)
    for judge in callable_judges_for(viewer, campaign):
        judges[judge.prompt_versions.get(trial.task, built_in)].append(judge)
    differing = _differing(shown_pairs(viewer, campaign, trial), tried)
    prompts = [_prompt(prompt, judges[prompt.prompt], [*labels]) for prompt in tried]
    return TrialReport(trial, tuple(labels.values()), tuple(prompts), tuple(differing))


def _words_by_code(task: str, top: int) -> dict[int, str]:
    """Return the labels of a task by their codes, in the order of the scale."""
    if label_set := LABELS_OF.get(task):
        return {int(label.code): label.word for label in label_set.ascending}
    if task == "importance":
        return {0: "okay", 1: "vital"}
    if task == "battle":
        return dict(enumerate(WINNERS))
    return {grade: f"grade {grade}" for grade in range(top + 1)}


def _differing(pairs: list[ShownPair | None], tried: list[Tried]) -> Iterator[TrialDifference]:
    for number, pair in enumerate(pairs):
        people = tried[0].people[number]
        codes = tuple(prompt.labels[number] for prompt in tried)
        # A label that is still to come is no difference.
        if any(code not in (people, None) for code in codes):
            yield pair, people, codes


def _prompt(tried: Tried, judges: list[Judge], scale: list[int]) -> TriedPrompt:
    own, people = _cells(tried.labels, scale), _cells(tried.people, scale)
    return TriedPrompt(tried, judges, confusion(own, people, len(scale)), scale, int((own == FAILED).sum()))


def _cells(codes: tuple[int | None, ...], scale: list[int]) -> Bytes:
    """Places of labels on a scale of codes: a code outside of it becomes negative."""
    place = {code: place for place, code in enumerate(scale)}
    return np.array([UNJUDGED if code is None else place.get(code, FAILED) for code in codes], dtype=np.int8)
