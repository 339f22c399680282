"""Organizers read an answer as its Markdown means where the protocol says so, and as it was written where not."""

from pathlib import Path

import pytest
from django.urls import reverse

from evaluation.models import AnswerProvenance, Protocol, SupportJudgment
from tests.worlds.judging_desk import JudgeWorld, make_judge_world

WRITTEN, READ = "**Rivers** of answer 1 carry sand", "<strong>Rivers</strong> of answer 1 carry sand"


def addresses(world: JudgeWorld) -> list[str]:
    slug = world.campaign.slug
    given = AnswerProvenance.objects.get(run__run_id="canary-run-1")
    label = SupportJudgment.objects.get(sentence__answer=given.answer)
    return [
        reverse("organizer:topic", args=[slug, given.topic.public_id]),
        f"{reverse('organizer:run', args=[slug, given.run_id])}?topic={given.topic.public_id}",
        reverse("organizer:support_label", args=[slug, label.pk]),
    ]


@pytest.mark.parametrize(("markdown", "there", "gone"), [(True, READ, WRITTEN), (False, WRITTEN, READ)])
@pytest.mark.django_db
def test_the_protocol_decides_how_answers_are_read(tmp_path: Path, markdown: bool, there: str, gone: str) -> None:
    world = make_judge_world(tmp_path, runs=2)
    Protocol.objects.update(markdown=markdown)
    client = world.client("olga")
    for address in addresses(world):
        page = client.get(address).content.decode()
        assert there in page
        assert gone not in page
