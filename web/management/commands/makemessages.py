"""Django's `makemessages`, which also finds the messages of refusals and phrases."""

from django.core.management.commands import makemessages

KEYWORDS = ("Refused:2", "Refusal:2", "phrase:1", "plural:1,2", "noted:1")
"""Functions that take a message, and which of their arguments it is: see `web/phrases.py`."""


class Command(makemessages.Command):
    """Write the messages of the whole project."""

    xgettext_options = [*makemessages.Command.xgettext_options, *(f"--keyword={one}" for one in KEYWORDS)]
