"""The migrations are those of the models."""

import pytest
from django.apps import apps
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

OURS = [app.label for app in apps.get_app_configs() if "." not in app.name]


def test_no_model_is_ahead_of_its_migrations() -> None:
    loader = MigrationLoader(None)
    detector = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    changes = detector.changes(graph=loader.graph)
    assert {app: [migration.operations for migration in changes[app]] for app in OURS if app in changes} == {}


@pytest.mark.parametrize("app", OURS)
def test_an_app_has_one_last_migration(app: str) -> None:
    assert len(MigrationLoader(None).graph.leaf_nodes(app)) <= 1


def test_the_user_is_ours_from_the_first_migration() -> None:
    loader = MigrationLoader(None)
    assert ("accounts", "0001_initial") in loader.graph.nodes
    assert "user" in loader.project_state(("accounts", "0001_initial")).apps.all_models["accounts"]
