"""The database of a fresh installation, for tests that start programs of their own."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from django.conf import settings
from django.db import connection


def new_database(path: Path) -> str:
    """Make a migrated SQLite database in a new file; return its address.

    Where the tests have a file, it is a copy of that, for migrating takes ten seconds: the test that asks for this asks
    for `django_db_setup` as well.
    """
    address = f"sqlite:///{path}"
    if _is_file_of_tests(name := str(connection.settings_dict["NAME"])):
        with closing(sqlite3.connect(name)) as there, closing(sqlite3.connect(path)) as made:
            there.backup(made)
    else:
        command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(command, check=True, cwd=settings.BASE_DIR, env=os.environ | {"DATABASE_URL": address})
    return address


def _is_file_of_tests(name: str) -> bool:
    planned = connection.settings_dict["TEST"]["NAME"]
    return connection.vendor == "sqlite" and bool(planned) and name.startswith(planned) and Path(name).is_file()
