"""What `make run` starts: at the port that the documents name, unless another is given."""

import pytest

from tests.worlds.imported import run


@pytest.mark.parametrize(("given", "port"), [("", "8000"), ("8123", "8123")])
def test_the_port_is_that_of_the_documents_or_the_one_that_is_given(
    monkeypatch: pytest.MonkeyPatch, given: str, port: str
) -> None:
    monkeypatch.setenv("PORT", given)
    assert run("processes").out.startswith(f"--port {port} web worker")
