"""Django's command, with a line in the audit log."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.db.models import Max

from accounts.models import User
from web import audit_log


class Command(createsuperuser.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        users = User.objects.using(options["database"])
        last = users.aggregate(last=Max("pk"))["last"] or 0
        super().handle(*args, **options)
        for user in users.filter(pk__gt=last, is_superuser=True):
            audit_log.record_if_possible(
                "account.made", actor=audit_log.system_actor(), about=audit_log.actor_of(user)
            )
