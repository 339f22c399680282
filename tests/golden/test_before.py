"""A campaign's file that an earlier version wrote is loaded, and its reports are those of that version."""

from pathlib import Path

import pytest

from evaluation.models import Campaign
from tests.golden.commands import report_documents
from tests.golden.keeping import differences
from tests.golden.making import Made
from tests.golden.pinned import pinned
from tests.worlds.imported import run

FILE = Path(__file__).parent / "before-moves.zip"
"""The campaign with shared topics, written before its tables were moved to other rooms and renamed."""


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.django_db
def test_a_file_of_before_is_loaded_with_its_reports() -> None:
    made = Made()
    with pinned():
        loaded = run("import_campaign", str(FILE))
        assert loaded.code == 0, loaded.err
        made.take(report_documents(Campaign.objects.get(), "shared"))
    found = [differences(f"shared/{name}", documents, may_renew=False) for name, documents in made.groups.items()]
    assert not any(found), "\n\n".join(filter(None, found))
