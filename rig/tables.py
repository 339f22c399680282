"""A database made from the models as they are: migrating anew takes ten seconds more."""

from unittest.mock import patch

from django.apps import apps
from django.conf import settings
from django.core.management import call_command


def make_tables() -> None:
    """Make all tables, triggers included; nothing can be migrated further afterwards."""
    without = dict.fromkeys((app.label for app in apps.get_app_configs()), None)
    with patch.object(settings, "MIGRATION_MODULES", without):
        call_command("migrate", run_syncdb=True, verbosity=0)
