"""Nuggets that a run lost or gained against another, and what it newly says though it must not."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.conf import settings
from django.urls import reverse

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.labels import NUGGET_LABELS
from evaluation.terms import Importance
from reports.frames import assignment_keys, assignment_sheet, nugget_texts
from reports.metrics.label_matrix import FULL, AssignmentSheet
from reports.metrics.registry import Profile
from web.consistent_read import consistent_read

Change = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """Each list is None where one side has scores alone, or the labels are of citations."""

    lost: list[Change] | None
    gained: list[Change] | None
    violations: list[Change] | None


NO_CHANGES: Final = Changes(None, None, None)


def changes_between(choice: NuggetCondition | CitationCondition, baseline: str, candidate: str) -> Changes:
    """Compare the labels of two runs, vital nuggets first; of several samples the one with the fullest label."""
    if not isinstance(choice, NuggetCondition):
        return NO_CHANGES
    with consistent_read():
        # A rubric's sheet has all nuggets, also those that an answer must not contain.
        sheet = assignment_sheet(choice, Profile.RUBRIC)
        texts, (_, answers) = nugget_texts(choice, Profile.RUBRIC), assignment_keys(choice, Profile.RUBRIC)
    columns = [sheet.columns_of(np.array([sheet.run_ids.index(run)])) for run in (baseline, candidate)]
    before, after = (sheet.labels[:, of_run].max(axis=1) for of_run in columns)
    fullest = columns[1][sheet.labels[:, columns[1]].argmax(axis=1)]
    judged = (before >= 0) & (after >= 0)
    avoided = sheet.weight < 0
    masks = (
        judged & (after < before) & ~avoided,
        judged & (after > before) & ~avoided,
        avoided & (after == FULL) & (before >= 0) & (before < FULL),
    )

    def change(place: int) -> Change:
        topic = int(sheet.nugget_topic[place])
        address = reverse(
            "organizer:answer_labels", args=[choice.campaign.slug, int(answers[topic, fullest[place]])]
        )
        return {
            "topic": sheet.topic_ids[topic],
            "nugget": texts[place],
            "importance": Importance(int(sheet.importance[place])).name.lower(),
            "from": NUGGET_LABELS.scale[before[place]],
            "to": NUGGET_LABELS.scale[after[place]],
            "url": f"{settings.PUBLIC_URL}{address}",
        }

    return Changes(*([change(place) for place in _in_order(sheet, mask.nonzero()[0].tolist())] for mask in masks))


def _in_order(sheet: AssignmentSheet, places: list[int]) -> list[int]:
    return sorted(places, key=lambda place: (-int(sheet.importance[place]), int(sheet.nugget_topic[place]), place))
