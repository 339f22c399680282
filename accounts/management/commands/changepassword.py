"""Django's command, with a line in the audit log."""

import getpass
from typing import Any

from django.contrib.auth.management.commands import changepassword

from accounts.models import User
from web import audit_log


class Command(changepassword.Command):
    def handle(self, *args: Any, **options: Any) -> str | None:
        result = super().handle(*args, **options)
        user = User.objects.using(options["database"]).get(username=options["username"] or getpass.getuser())
        audit_log.record_if_possible(
            "account.password_changed", actor=audit_log.system_actor(), about=audit_log.actor_of(user)
        )
        return result
