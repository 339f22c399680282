"""Carry the database of an earlier version over."""

from typing import Any

from evaluation.management.base import AssayCommand
from exchange.adoption import adopt


class Command(AssayCommand):
    help = "Carry a database over whose migrations are those of before each app had one. Take a backup before."
    example = "manage.py adopt_database"

    def act(self, options: dict[str, Any]) -> None:
        if adopt():
            self.say("Carried over: every row is kept. Run manage.py migrate next, which brings it up to date.")
        else:
            self.say("Nothing to do: this database is of this version already, or empty.")
