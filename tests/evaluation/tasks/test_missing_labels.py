"""Labels that a submitted task lacks since more was imported: the same by its desk and by what was submitted."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from assessor.desk.task_progress import progress_of
from evaluation.errors import Refused
from evaluation.imports.segments import import_segments
from evaluation.models import Nugget, NuggetList, Protocol, Task
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH
from evaluation.tasks.pooling import missing_labels, renew_assigning
from evaluation.terms import TaskState
from tests.worlds.judging import (
    BENDS,
    SAND,
    JudgingWorld,
    current_task,
    finish,
    load_machine,
    make_judging_world,
)

STEPS = 24
STAGES = (ASSIGN, ASSIGN, SUPPORT_SCRATCH, SUPPORT_POST_EDIT)


class RandomCampaign:
    """A campaign in which things happen by chance: tasks are done, runs, texts and lists come and change."""

    def __init__(self, world: JudgingWorld, seed: int) -> None:
        self.world, self.chance, self.done = world, Random(seed), list[str]()  # noqa: S311
        Protocol.objects.update(
            first_citations=self.chance.choice([1, 2, None]), identical_once=self.chance.choice([True, False])
        )
        labels = [
            ("alpha", 0, "d1"),
            ("alpha", 1, "d2"),
            ("alpha", 1, "d1"),
            ("gamma", 0, "d2"),
            ("gamma", 1, "d2"),
        ]
        load_machine(world, *((*pair, "full_support") for pair in labels))

    def step(self, number: int) -> None:
        acts: list[Callable[[int], None]] = [self.task, self.task, self.reopened, self.run, self.text, self.list]
        self.chance.choice(acts)(number)

    def task(self, _number: int) -> None:
        person, topic = self.chance.choice(["ann", "ben"]), self.chance.choice(["t1", "t1", "t2"])
        try:
            task = self.world.hand(self.chance.choice(STAGES), person, topic, again=True)
            finish(task)
        except Refused:  # has it already, nothing to judge, or labels of the machine are missing
            return
        self.done.append(task.public_id)

    def reopened(self, _number: int) -> None:
        for task in map(current_task, self.done):
            if task.state == TaskState.REOPENED:
                finish(task)

    def run(self, number: int) -> None:
        texts = (BENDS, SAND) if self.chance.random() < 0.4 else (f"Text {number}.", "More.")
        cited = [self.chance.choices([0, 1, 2], k=self.chance.randint(0, 3)) for _ in texts]
        topic = self.chance.choice(["t1", "t2"])
        self.world.run(f"run-{number}", *zip(texts, cited, strict=True), topic=topic)

    def text(self, _number: int) -> None:
        """Load the text of a passage that was cited without."""
        text = self.world.source("late.jsonl", {"docid": "d3", "segment": "The text of d3."})
        import_segments(campaign=self.world.campaign, sources=[text])

    def list(self, number: int) -> None:
        newest = NuggetList.objects.filter(nugget_set__name="edited").order_by("version").last()
        assert newest
        further = NuggetList.objects.create(
            nugget_set=newest.nugget_set, topic=newest.topic, version=newest.version + 1
        )
        wordings = [item.nugget_version for item in newest.items.select_related("nugget_version__nugget")]
        if len(wordings) > 1 and self.chance.random() < 0.5:
            wordings.pop()
        if self.chance.random() < 0.5:
            nugget = wordings[0].nugget
            wordings[0] = nugget.versions.create(number=nugget.versions.count() + 1, text=f"wording {number}")
        if self.chance.random() < 0.5:
            nugget = Nugget.objects.create(nugget_set=newest.nugget_set, topic=newest.topic)
            wordings.append(nugget.versions.create(number=1, text=f"nugget {number}"))
        for position, wording in enumerate(wordings):
            further.items.create(nugget_version=wording, position=position)
        renew_assigning(newest.nugget_set, newest.topic)

    def missing(self) -> dict[int, int]:
        """Count what the tasks that were submitted lack now; a desk says the same."""
        tasks: list[Task] = [current_task(public_id) for public_id in self.done]
        missing = missing_labels(tasks)
        assert missing == {pk: progress.labels - progress.judged for pk, progress in progress_of(tasks).items()}
        return missing


@pytest.mark.parametrize("seed", range(4))
def test_desks_and_submissions_lack_the_same_labels(db: None, tmp_path: Path, seed: int) -> None:
    campaign = RandomCampaign(make_judging_world(tmp_path), seed)
    found = set[int]()
    for number in range(STEPS):
        campaign.step(number)
        found |= set(campaign.missing().values())
    assert 0 in found
    assert len(found) > 1
