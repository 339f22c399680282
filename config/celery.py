"""The worker: `celery -A config worker`."""

import logging
import os
import warnings
from typing import Any

from celery import Celery
from celery.platforms import SecurityWarning
from celery.signals import setup_logging

# Celery warns the administrator's account because of pickled messages. Ours are JSON and hold a lane's name.
warnings.filterwarnings("ignore", category=SecurityWarning)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_our_log(loglevel: int | str, **_signal: Any) -> None:
    """Log by the settings, at the worker's level: Celery would write lines of its own form."""
    logging.getLogger().setLevel(loglevel)
