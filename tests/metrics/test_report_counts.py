"""What the report pages count, against plain loops over the same sheets."""

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.terms import SupportMeasure
from reports.metrics.descriptives import STEPS, group_of, nugget_findings, share_counts
from reports.metrics.label_matrix import FAILED, UNJUDGED, AssignmentSheet
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.scores import SCORE_NAMES, on_front, run_scores
from reports.metrics.support import SUPPORT_SCORES, citing, run_support

from .sheet_makers import assignment_sheet, support_sheet

LABELS = st.sampled_from([0, 1, 2, UNJUDGED, FAILED])
SUPPORT = st.sampled_from([0, 1, 2, -1, -2, -3])
FEW = 5


@st.composite
def sheets(draw: st.DrawFn) -> AssignmentSheet:
    """A few topics with short lists, some of them empty or missing, and a few runs."""
    runs = draw(st.integers(1, 4))
    lists: list[str | None] = draw(
        st.lists(st.one_of(st.none(), st.text("vo?", max_size=4)), min_size=1, max_size=FEW)
    )
    nuggets = sum(len(each or "") for each in lists)
    row = st.lists(LABELS, min_size=runs, max_size=runs)
    labels = draw(st.lists(row, min_size=nuggets, max_size=nuggets))
    answered = draw(arrays(np.bool_, (len(lists), runs)))
    return assignment_sheet(lists, labels, answered.tolist())


@settings(max_examples=30)
@given(sheets(), st.data())
def test_a_sheet_of_some_topics_scores_as_the_restricted_whole(
    sheet: AssignmentSheet, data: st.DataObject
) -> None:
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=(n := len(sheet.topic_ids)), max_size=n)))
    policies = Policies(missing="skip")
    part, whole = run_scores(sheet.of_topics(chosen), policies), run_scores(sheet, policies, chosen)
    for name in SCORE_NAMES:
        np.testing.assert_array_equal(part.of(name), whole.of(name))
    for counts in ("judged", "failed", "unjudged", "excluded", "missing"):
        np.testing.assert_array_equal(getattr(part, counts), getattr(whole, counts))


@settings(max_examples=30)
@given(sheets())
def test_findings_are_those_of_a_loop(sheet: AssignmentSheet) -> None:
    found = nugget_findings(sheet)
    for nugget, topic in enumerate(sheet.nugget_topic):
        there = [
            sheet.labels[nugget, run]
            for run in range(len(sheet.run_ids))
            if sheet.answered[topic, run] and sheet.labelled[run]
        ]
        judged = [label for label in there if label >= 0]
        counts = tuple(counts[nugget] for counts in found.labels)
        assert counts == tuple(judged.count(label) for label in (0, 1, 2))
        assert found.unjudged[nugget] == len(there) - len(judged)
        assert found.nobody[nugget] == (bool(judged) and max(judged) == 0)
        assert found.everybody[nugget] == (bool(judged) and min(judged) == 2)


@settings(max_examples=30)
@given(sheets())
def test_groups_and_steps_add_up(sheet: AssignmentSheet) -> None:
    found = nugget_findings(sheet)
    everything = np.ones(len(sheet.importance), dtype=np.bool_)
    group, steps = group_of(found, everything), share_counts(found, everything)
    shares = [float(share) for share in found.share if not math.isnan(share)]
    assert group["judged"] == len(shares) == steps.sum()
    assert len(steps) == len(STEPS)
    assert (steps[0], steps[-1]) == (shares.count(0.0), shares.count(1.0))
    assert steps[1] == sum(0 < share <= 0.25 for share in shares)
    assert math.isclose(group["share"] or 0, sum(shares) / len(shares)) if shares else group["share"] is None


ANSWERS = st.lists(st.lists(SUPPORT, max_size=2), max_size=3)


@settings(max_examples=30)
@given(
    st.integers(1, 3).flatmap(lambda runs: st.lists(st.lists(ANSWERS, min_size=runs, max_size=runs), min_size=1))
)
def test_citing_is_counted_as_a_loop_counts(answers: Sequence[Sequence[Sequence[Sequence[int]]]]) -> None:
    found = citing(support_sheet(answers))
    for topic, row in enumerate(answers):
        for run, each in enumerate(row):
            labels = [label for sentence in each for label in sentence]
            at = (topic, run)
            assert tuple(counts[at] for counts in found.labels) == tuple(map(labels.count, (0, 1, 2)))
            assert (found.sentences[at], found.uncited[at]) == (len(each), list(each).count([]))
            judged = [label for label in labels if label >= 0]
            assert math.isnan(found.over[at]) if not judged else found.over[at] == judged.count(0) / len(judged)


@settings(max_examples=30)
@given(st.lists(st.lists(ANSWERS, min_size=2, max_size=2), min_size=1, max_size=FEW), st.data())
def test_support_of_some_topics_is_that_of_their_own_answers(
    answers: list[list[list[list[int]]]], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.booleans(), min_size=len(answers), max_size=len(answers)))
    if not any(chosen):
        return
    part = support_sheet(answers).of_topics(np.array(chosen))
    alone = support_sheet([each for each, is_in in zip(answers, chosen, strict=True) if is_in])
    policies = SupportPolicies(data.draw(st.sampled_from(SupportMeasure)))
    of_part, of_alone = run_support(part, policies), run_support(alone, policies)
    for name in SUPPORT_SCORES:
        np.testing.assert_array_equal(of_part.means[name], of_alone.means[name])
    for name in ("sentences_total", "judged", "unjudged", "failed"):
        np.testing.assert_array_equal(getattr(of_part, name), getattr(of_alone, name))


POINTS = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.0, math.nan]), st.sampled_from([0.1, 0.2, 0.3, math.nan]))
)


@settings(max_examples=30)
@given(POINTS)
def test_the_front_is_what_no_other_run_beats(points: list[tuple[float, float]]) -> None:
    found = on_front(np.array([x for x, _ in points]), np.array([y for _, y in points]))
    for at, (length, score) in enumerate(points):
        beaten = any(x <= length and y >= score and (x, y) != (length, score) for x, y in points)
        assert found[at] == (not beaten and not math.isnan(length) and not math.isnan(score))
