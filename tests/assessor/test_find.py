"""What an assessor finds: their tasks, by the names of their first page, which tell no condition."""

from pathlib import Path

import pytest

from tests.worlds.judging_desk import make_judge_world

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["ann", "ben"])
def test_a_task_has_the_name_of_the_first_page(tmp_path: Path, name: str) -> None:
    client = make_judge_world(tmp_path).client(name)
    found = client.get("/desk/find/?words=rivers").content.decode()
    assert "Judge citations" in found
    assert "unaided" not in found
    assert "machine" not in found
    assert "judge citations" in client.get("/desk/").content.decode()
