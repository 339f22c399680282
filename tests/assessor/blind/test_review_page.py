"""What is said before submitting: the counts, and what still waits, by name."""

from assessor.blind.review import review_summary
from tests.assessor.desk_client import Window
from tests.worlds.desk import DeskWorld, draft_of


def test_the_summary_counts_and_names(world: DeskWorld) -> None:
    ann = Window(world.client(), world.post_edit).open()
    passage = world.segments()[0].public_id
    ann.do("decide", key="d1", decision="kept")
    ann.do("importance", key="d1", importance=2)
    ann.do("link", key="d1", segment=passage, sentence=0)
    ann.do("decide", key="d2", decision="rejected")
    ann.do("edit", key="d3", text="in other words")
    ann.do("add", key="own", text="my own", importance=1, evidence=[], after=None)
    ann.do("mark", segment=passage, mark="read")
    summary = review_summary(world.post_edit.public_id, world.people["ann"])
    counts = summary.counts
    assert (counts.kept, counts.rejected, counts.added, counts.reworded) == (3, 1, 1, 1)
    assert (summary.passages, summary.unread) == (6, 5)
    assert [(nugget.name, nugget.text) for nugget in summary.undecided] == [
        ("N4", draft_of(4)),
        ("N5", draft_of(5)),
    ]
    assert [nugget.name for nugget in summary.without_importance] == ["N3"]
    assert [nugget.name for nugget in summary.without_evidence] == ["N3", "N6"]
    assert summary.first == "d4"
    part = ann.client.get(ann.url("review/?part")).content.decode()
    assert 'data-complete="no"' in part
    assert "<html" not in part
    assert f'href="/desk/{world.post_edit.public_id}/#n-d4"' in part


def test_a_finished_list_may_be_submitted(world: DeskWorld) -> None:
    ann = Window(world.client(), world.post_edit).open()
    ann.finish()
    page = ann.client.get(ann.url("review/")).content.decode()
    assert 'data-complete="yes"' in page
    assert "Before you submit" in page


def test_a_task_that_was_not_started_has_nothing_to_review(world: DeskWorld) -> None:
    assert world.client().get(f"/desk/{world.post_edit.public_id}/review/").status_code == 404
