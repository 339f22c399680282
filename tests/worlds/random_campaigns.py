"""Campaigns by chance, with judging tasks and a machine's labels: any number of answers, any texts and citations."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import import_runs
from evaluation.judges import add_judge
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Citation,
    ConditionDefault,
    Judge,
    NuggetVersion,
    SupportJudgment,
)
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH
from evaluation.terms import JudgeKind, Origin, SupportCondition
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.judging_desk import JudgeWorld, load_topic, make_judging_task

REFERENCES = ["p1", "p2", "p3", "p-unknown"]
LABELS = [0, 1, 2, 9, None]
"""What a machine may say: a label, that it failed, or nothing."""

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30)
TEXTS = WORDS.map(lambda words: f"Water {words}.")
SENTENCES = st.fixed_dictionaries(
    {"text": TEXTS, "citations": st.lists(st.integers(0, 3), max_size=3, unique=True)}
)
NUGGETS = st.fixed_dictionaries({"text": TEXTS, "importance": st.sampled_from(["vital", "okay"])})


@dataclass(frozen=True, slots=True)
class Drawn:
    """A campaign as it was drawn: the sentences of each run's answer, the nuggets, and a seed of machine labels."""

    answers: list[list[dict[str, Any]]]
    nuggets: list[dict[str, Any]]
    labels: list[int | None]


DRAWN = st.builds(
    Drawn,
    answers=st.lists(st.lists(SENTENCES, min_size=1, max_size=4), min_size=1, max_size=5),
    nuggets=st.lists(NUGGETS, min_size=1, max_size=5, unique_by=lambda nugget: nugget["text"].strip()),
    labels=st.lists(st.sampled_from(LABELS), min_size=1, max_size=20),
)
LABEL_LISTS = st.lists(st.sampled_from(LABELS), min_size=1, max_size=20)


SILENT = Drawn([[{"text": "Water.", "citations": []}]], [{"text": "Water runs.", "importance": "vital"}], [None])
"""A campaign in which the machine has labelled nothing."""


def make_random_world(drawn: Drawn, folder: Path) -> JudgeWorld:
    """Load a campaign, hand its tasks out, and let a machine label everything as was drawn."""
    campaign = make_campaign()
    people = make_cast(campaign)
    load_topic(campaign, folder)
    # One pair at least can be judged, or no support task could be handed out.
    answers = [[{"text": "Water runs.", "citations": [0]}], *drawn.answers]
    for number, answer in enumerate(answers):
        row = {"run_id": f"run{number}", "topic_id": "t1", "references": REFERENCES, "answer": answer}
        import_runs(campaign=campaign, sources=[write_source(folder, f"r{number}.jsonl", f"{json.dumps(row)}\n")])
    row = {"qid": "t1", "query": "q", "nuggets": drawn.nuggets}
    source = write_source(folder, "n.jsonl", f"{json.dumps(row)}\n")
    import_nuggets(campaign=campaign, source=source, origin=Origin.EDITED, judge="maker", name="edited")
    add_judge(name="robot", kind=JudgeKind.LLM, model="robot")
    # It may be drawn to have said nothing at all.
    ConditionDefault.objects.create(campaign=campaign, condition=SupportCondition.LLM, judge="robot")
    say(campaign, drawn.labels)
    stages = (("ann", ASSIGN), ("ben", SUPPORT_SCRATCH), ("ann", SUPPORT_POST_EDIT))
    return JudgeWorld(
        campaign, people, *(make_judging_task(campaign, people[name], stage) for name, stage in stages)
    )


def say(campaign: Campaign, labels: list[int | None]) -> None:
    """Let the machine say this of all pairs, round and round, instead of what it said before."""
    robot = Judge.objects.get(name="robot")
    Assignment.objects.filter(judge=robot).delete()
    SupportJudgment.objects.filter(judge=robot).delete()
    answers = (
        AnswerProvenance.objects.filter(run__campaign=campaign).order_by("pk").values_list("answer", flat=True)
    )
    wordings = NuggetVersion.objects.filter(nugget__nugget_set__campaign=campaign).order_by("pk")
    pairs = [(answer, wording) for answer in answers for wording in wordings.values_list("pk", flat=True)]
    for place, (answer, wording) in enumerate(pairs):
        if (label := labels[place % len(labels)]) is not None:
            Assignment.objects.create(
                judge=robot, answer_id=answer, nugget_version_id=wording, label=label, given_at=campaign.created_at
            )
    cited = Citation.objects.filter(sentence__answer__topic__campaign=campaign, segment__isnull=False)
    for place, (sentence, segment) in enumerate(cited.order_by("pk").values_list("sentence", "segment")):
        if (label := labels[place % len(labels)]) is not None:
            SupportJudgment.objects.create(
                judge=robot,
                condition=SupportCondition.LLM,
                sentence_id=sentence,
                segment_id=segment,
                label=label,
                given_at=campaign.created_at,
            )
