"""Run the database tests on PostgreSQL, where one is found; say so where none is."""

import os
import subprocess
import sys

import psycopg

URL = os.environ.get("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres")


def main() -> int:
    """Return pytest's exit code, or 0 where there is no PostgreSQL and none is demanded by CI."""
    try:
        psycopg.connect(URL, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"PostgreSQL tests skipped: {URL} does not answer ({str(error).strip().splitlines()[0]})")
        return 1 if os.environ.get("CI") == "true" else 0
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", "-m", "not browser", "--ignore=tests/metrics"]
    command += ["--ignore=tests/formats", "--ignore=tests/architecture"]
    return subprocess.call(command, env=os.environ | {"DATABASE_URL": URL})


if __name__ == "__main__":
    sys.exit(main())
