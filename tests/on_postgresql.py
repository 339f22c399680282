"""Run on PostgreSQL, where one is found, what could go another way there; say so where none is."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg

from tests.needed import PACKAGES

HERE = Path(__file__).parent
URL = os.environ.get("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres")

# What could go another way on another engine: constraints, triggers, locks, upserts, transactions, snapshots, numbers.
PATHS = (
    "accounts/test_names.py",
    "api/test_once.py",
    "api/test_lists.py",
    "assessor/test_operations.py",
    "assessor/test_submitting.py",
    "evaluation/test_consistent_read.py",
    "evaluation/test_constraints.py",
    "evaluation/test_database_settings.py",
    "evaluation/test_import_again.py",
    "evaluation/test_judged_labels_count.py",
    "evaluation/test_logs_are_append_only.py",
    "evaluation/test_triggers.py",
    "exchange/test_snapshots.py",
    "llmjobs/test_jobs_queue.py",
    "llmjobs/test_notices.py",
)
NOT_IN_CI = (
    "exchange/test_lineage_round_trip.py",
    "llmjobs/test_engine.py",
    "exchange/test_backup.py",
    "exchange/test_upgrade.py",
    "organizer/test_exports_page.py",
    "organizer/test_import_wizard.py",
    "organizer/test_protocol.py",
    "organizer/test_quality.py",
    "organizer/test_today.py",
)


def main() -> int:
    """Return pytest's exit code, or 0 where there is no PostgreSQL and none is demanded by CI."""
    try:
        psycopg.connect(URL, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"PostgreSQL tests skipped: {URL} does not answer ({str(error).strip().splitlines()[0]});")
        print(
            f"on Debian: apt-get install {PACKAGES['PostgreSQL']}, and TEST_POSTGRESQL_URL may name another address"
        )
        return 1 if os.environ.get("CI") == "true" else 0
    # With --all every test: `make soak` asks for it, for that takes a quarter of an hour.
    everything = sys.argv[1:] == ["--all"]
    in_ci = os.environ.get("CI") == "true"
    chosen = PATHS if in_ci else PATHS + NOT_IN_CI
    paths = [HERE] if everything else [path for pattern in chosen for path in sorted(HERE.glob(pattern))]
    tests = [str(path) for path in paths]
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-q", *tests]
    command += ["-m", "not thorough"] if in_ci else []
    return subprocess.call(command, env=os.environ | {"DATABASE_URL": URL})


if __name__ == "__main__":
    sys.exit(main())
