"""The worker: `celery -A config worker`."""

import os
import warnings

from celery import Celery
from celery.platforms import SecurityWarning

# Celery warns the administrator's account because of pickled messages. Ours are JSON and hold a worker's name.
warnings.filterwarnings("ignore", category=SecurityWarning)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="tasks")
app.autodiscover_tasks(related_name="dispatch")
