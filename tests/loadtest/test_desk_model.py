"""What the soak holds a desk against is itself right about versions."""

from assessor.desk.nugget_ops import changes_json
from assessor.rules.undo import UndoEntry, stacks
from loadtest.desk.model import Json, NuggetModel


def test_a_nugget_that_comes_back_has_a_version_above_all_that_it_had() -> None:
    """Added, rated, both undone, added again: the model's steps are those that are told from the log."""
    model, log = NuggetModel(), list[UndoEntry]()

    def do(kind: str, payload: Json, step: str) -> None:
        before, after = model.do(kind, payload, step)
        log.append(UndoEntry(step, kind, payload.get("target", ""), changes_json(before), changes_json(after)))

    do("add", {"key": "n", "text": "rivers bend", "evidence": [], "after": None}, "a")
    do("importance", {"key": "n", "importance": 2}, "b")
    do("undo", {"target": "b"}, "c")
    do("undo", {"target": "a"}, "d")
    do("redo", {"target": "a"}, "e")
    assert model.rows["n"].version == 4
    undo, redo = stacks(log)
    for logged, had in ((undo, model.undo), (redo, model.redo)):
        assert [(entry.step, entry.after) for entry in logged] == [
            (entry.step, changes_json(entry.after)) for entry in had
        ]
