"""Databases of before the nine models of the desks moved from `evaluation` to `assessor`, carried over in one step.

Since then each app has one initial migration, so `migrate` alone cannot tell how such a database is built.
"""

from django.contrib.contenttypes.models import ContentType
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connection, connections, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState

from evaluation.append_only import POSTGRESQL_REMOVE, SQLITE_REMOVE, install_triggers
from evaluation.errors import Refused

RETIRED = {
    "accounts": ("0002_desk_settings", "0003_api_tokens", "0004_people", "0005_names_in_any_case"),
    "api": ("0001_idempotency_keys",),
    "evaluation": (
        *("0002_work", "0003_judging", "0004_second_opinions", "0005_practice", "0006_study", "0007_salt"),
        *("0008_addresses_judge", "0009_protocol_changes", "0010_dashboard", "0011_hourly_rate"),
        *("0012_labels_of_nuggets", "0013_numbers", "0014_families", "0015_nugget_numbers", "0016_holder_page"),
    ),
    "exchange": ("0001_snapshots", "0002_imports_and_exports", "0003_families", "0004_imports_begun_at"),
    "jobs": ("0002_priority", "0003_told"),
    "llmjobs": (
        *("0002_nugget_calls", "0003_budget", "0004_endpoints", "0005_prompts", "0006_trials"),
        "0007_prompts_of_campaigns",
    ),
    "reports": ("0002_adjudications",),
}
"""The migrations that each app had, in order, beside an initial one of the name it still has."""

INITIAL = [
    *((app, "0001_initial") for app in ("assessor", *RETIRED)),
    ("accounts", "0002_invitations"),  # invitations lead to campaigns, which lead to accounts
]
"""The migrations that build the same tables today."""

RETIRED_NAMES = {f"{app}.{name}" for app, names in RETIRED.items() for name in names}
DESK_MODELS = (
    *("Desk", "WorkingNugget", "MarkedPassage", "Operation", "WorkingAssignment", "WorkingSupport"),
    *("PracticeItem", "PracticeAnswer", "TimeSegment"),
)
OLD_LOG = "evaluation_operation"


def missing_before(applied: set[str]) -> list[str]:
    """Return the migrations that a database of before still lacks, such as `jobs.0003_told`, sorted."""
    return sorted(RETIRED_NAMES - applied)


def is_of_before(applied: set[str]) -> bool:
    """Whether migrations that were applied, such as `evaluation.0002_work`, are those of before."""
    return not RETIRED_NAMES.isdisjoint(applied)


def applied_migrations(using: str) -> set[str]:
    return {f"{app}.{name}" for app, name in MigrationRecorder(connections[using]).applied_migrations()}


def refuse_to_migrate(using: str = "default", **_signal: object) -> None:
    """Stop `migrate` on a database of before, where it would make empty tables beside the full ones."""
    if is_of_before(applied_migrations(using)):
        raise CommandError(
            "This database is of an earlier version, whose migrations were joined into one for each app. "
            "Take a backup, then run: manage.py adopt_database. Nothing was changed."
        )


def adopt() -> bool:
    """Carry a database of before over, in one transaction; return False where it needs nothing.

    Raises `Refused` where it is older than the last version of before.
    """
    applied = applied_migrations(DEFAULT_DB_ALIAS)
    if not is_of_before(applied):
        return False
    if missing := missing_before(applied):
        raise Refused(
            "too_old",
            f"This database lacks {', '.join(missing)}. Put the last version that has these migrations in place, "
            "run its manage.py migrate, and come back. Nothing was changed.",
        )
    after = MigrationLoader(None).project_state(INITIAL)
    before = after.clone()
    for operation in _backwards():
        operation.state_forwards("assessor", before)
    _apply(before)
    return True


def _apply(state: ProjectState) -> None:
    # The editor's own transaction: SQLite lets tables be rebuilt only while no foreign key is checked.
    with connection.schema_editor(atomic=True) as editor:
        _remove_old_triggers()
        for operation in _forwards():
            following = state.clone()
            operation.state_forwards("assessor", following)
            operation.database_forwards("assessor", editor, state, following)
            state = following
        moved = [name.lower() for name in DESK_MODELS]
        ContentType.objects.filter(app_label="evaluation", model__in=moved).update(app_label="assessor")
        _record_initial_migrations()
        install_triggers()
    ContentType.objects.clear_cache()


def _remove_old_triggers() -> None:
    # A trigger follows its table to the new name and keeps its own, so that it would be found twice.
    is_sqlite = connection.vendor == "sqlite"
    statements = SQLITE_REMOVE if is_sqlite else [*POSTGRESQL_REMOVE, "DROP FUNCTION IF EXISTS {table}_refuse"]
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement.format(table=OLD_LOG))


def _record_initial_migrations() -> None:
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.filter(app__in=RETIRED).delete()
    for app, name in INITIAL:
        recorder.record_applied(app, name)


def _gap_check(column: str) -> models.CheckConstraint:
    condition = models.Q(**{f"{column}__in": ["", "reading", "away"]})
    return models.CheckConstraint(condition=condition, name=f"time_segment_{column}")


def _forwards() -> list[migrations.operations.base.Operation]:
    return [
        *(migrations.AlterModelTable(name, None) for name in DESK_MODELS),
        migrations.RemoveConstraint("TimeSegment", "time_segment_said"),
        migrations.RenameField("TimeSegment", "said", "gap_answer"),
        migrations.AddConstraint("TimeSegment", _gap_check("gap_answer")),
    ]


def _backwards() -> list[migrations.operations.base.Operation]:
    """The way back, to compute the state of before without its migrations."""
    return [
        migrations.RemoveConstraint("TimeSegment", "time_segment_gap_answer"),
        migrations.RenameField("TimeSegment", "gap_answer", "said"),
        migrations.AddConstraint("TimeSegment", _gap_check("said")),
        *(migrations.AlterModelTable(name, f"evaluation_{name.lower()}") for name in DESK_MODELS),
    ]
