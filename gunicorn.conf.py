"""The production server, as `assay` starts it."""

import os
import shutil
from typing import Any

from django.conf import settings

from web.logs import logging_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
bind = f"{settings.HOST}:{settings.PORT}"
worker_class = "gthread"
workers = settings.WEB_WORKERS
preload_app = True  # imported once for all processes
threads = 4
# Longer than from one label to the next: an assessor's browser need not connect anew for each, and the server hardly
# ever closes a connection on which a request is just on its way.
keepalive = 20
loglevel = "warning"
control_socket_disable = True
# A request under way when the server is stopped has this long to end.
graceful_timeout = 30

# Before there is a Django: the form of the log is the application's.
logconfig_dict = logging_settings(form=settings.LOG_FORMAT, level="WARNING", everything=False)
logconfig_dict["loggers"]["gunicorn.error"] = {"level": "WARNING", "handlers": [], "propagate": True}

# The figures of all processes of this server lie in one folder, and begin at zero. Whoever counts looks for the folder
# when it is imported. A configuration that is read again goes on counting.
if settings.METRICS_TOKEN and "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    figures = settings.VAR_DIR / f"metrics-{settings.PORT}"
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(figures)
    shutil.rmtree(figures, ignore_errors=True)  # in a container it is mounted
    figures.mkdir(parents=True, exist_ok=True)


def when_ready(server: Any) -> None:
    """Say where to look, once there is something to see."""
    print(f"\nAssay is at http://{bind.replace('0.0.0.0', '127.0.0.1')}")  # noqa: S104
    logins = os.environ.get("DEMO_LOGINS")
    if logins:
        print(f"Demo accounts:\n{logins}", flush=True)
