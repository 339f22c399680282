"""The worker: `celery -A config worker`."""

import os
import sys
import warnings
from importlib import import_module
from typing import Any

from celery import Celery
from celery.concurrency import get_implementation
from celery.platforms import SecurityWarning
from celery.signals import celeryd_init, setup_logging, worker_init

# Celery warns the administrator's account because of pickled messages. Ours are JSON and hold a lane's name.
warnings.filterwarnings("ignore", category=SecurityWarning)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

path = [*sys.path]
app = Celery("assay")
sys.path[:] = path  # Celery puts the folder where a command is typed before ours, and there may be another `web`
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


USAGE = """A worker of Assay runs in threads. With another pool each lane runs twice, and TERM does not stop it.
`assay start worker` starts one, in a clone `.venv/bin/python assay.py start worker`."""
EXIT_USAGE = 2


@setup_logging.connect
def keep_our_log(**_signal: Any) -> None:
    """Log by the settings, LOG_LEVEL included: Celery would write lines of its own form and at a level of its own."""


@celeryd_init.connect
def begin(instance: Any, options: dict[str, Any], **_signal: Any) -> None:
    if get_implementation(options.get("pool") or "prefork") is not get_implementation("threads"):
        sys.stderr.write(f"{USAGE}\n")
        sys.exit(EXIT_USAGE)
    # Two workers of one host would have one name, and Celery's tools would take them for one.
    name, _, host = instance.hostname.partition("@")
    if name == "celery":
        instance.hostname = f"assay-{os.getpid()}@{host}"


@worker_init.connect
def import_engine(**_signal: Any) -> None:
    """Import now what calls need, so that the first one does not wait for it."""
    for name in ("llmjobs.engine.loop", "openai"):
        import_module(name)
