"""An upgrade finds which campaigns are copies of each other, and to which campaign a prompt belongs."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.timezone import now

from tests.factories import make_user

BEFORE = [("evaluation", "0013_numbers"), ("exchange", "0002_imports_and_exports"), ("llmjobs", "0006_trials")]


def upgraded(fill: Any) -> Any:
    """Fill a database of the version before; return the models of this version, once it is upgraded."""
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    try:
        fill(executor.loader.project_state(BEFORE).apps.get_model)
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    return executor.loader.project_state(executor.loader.graph.leaf_nodes()).apps.get_model


def fill(model: Any) -> None:
    """Write four campaigns, of which one is an opened snapshot and one a loaded copy; and prompts of each fate."""
    make = {slug: campaign(model, slug) for slug in ("river", "lake", "river--rev1", "copy")}
    loaded = {"content": "?", "revision": 0, "made_at": now()}
    copies = model("exchange", "LoadedCampaign").objects
    copies.create(campaign=make["river--rev1"], slug="river", **loaded)
    copies.create(campaign=make["copy"], slug="river--rev1", **loaded)
    olga = make_user("olga").pk  # accounts are at this version already
    model("evaluation", "Membership").objects.create(campaign=make["lake"], user_id=olga, role="organizer")
    for name, author in (("written", olga), ("commanded", None), ("used", olga), ("shared", olga)):
        model("llmjobs", "Prompt").objects.create(
            task="assign", name=name, version=1, system="s", user="u", sha256=name, made_by_id=author
        )
    uses(model, "used", make["river"])
    uses(model, "shared", make["river"], make["lake"])


def campaign(model: Any, slug: str) -> Any:
    return model("evaluation", "Campaign").objects.create(slug=slug, name=slug)


def uses(model: Any, name: str, *campaigns: Any) -> None:
    """Give jobs to a judge who asks by a prompt."""
    judge = model("evaluation", "Judge").objects.create(
        name=name, kind="llm", model="m", prompt_versions={"assign": f"{name}@1"}
    )
    for one in campaigns:
        job = model("jobs", "Job").objects.create(kind="llm", title=name)
        model("llmjobs", "LlmJob").objects.create(job=job, campaign=one, judge=judge)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_copies_and_prompts_find_their_campaigns() -> None:
    model = upgraded(fill)
    families = dict(model("evaluation", "Campaign").objects.values_list("slug", "family"))
    assert families["river"] == families["river--rev1"] == families["copy"] != families["lake"]
    owners = dict(model("llmjobs", "Prompt").objects.values_list("name", "campaign__slug"))
    assert owners == {"written": "lake", "commanded": None, "used": "river", "shared": None}
