"""The production server, as `make run` starts it."""

import os
import shutil
from pathlib import Path
from typing import Any

import environ

from web.environment import check_place, secret
from web.logs import logging_settings

# The shell wins over `.env`, as it does for manage.py.
if Path(".env").exists():
    environ.Env.read_env(".env")

check_place()
bind = f"{os.environ.get('HOST', '127.0.0.1')}:{os.environ.get('PORT', '8000')}"
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = 4
# Longer than from one label to the next: an assessor's browser need not connect anew for each, and the server hardly
# ever closes a connection on which a request is just on its way.
keepalive = 20
loglevel = "warning"
control_socket_disable = True
# A request under way when the server is stopped has this long to end.
graceful_timeout = 30

# Before there is a Django: the form of the log is the application's.
logconfig_dict = logging_settings(form=os.environ.get("LOG_FORMAT", "text"), level="WARNING", everything=False)
logconfig_dict["loggers"]["gunicorn.error"] = {"level": "WARNING", "handlers": [], "propagate": True}

# The figures of all processes of this server lie in one folder. Whoever counts looks for it when it is imported.
FIGURES = Path("var") / f"metrics-{bind.rpartition(':')[2]}"
if secret("METRICS_TOKEN"):
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(FIGURES.absolute())


def on_starting(server: Any) -> None:
    """Begin to count at zero."""
    shutil.rmtree(FIGURES, ignore_errors=True)
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        FIGURES.mkdir(parents=True, exist_ok=True)  # in a container it is mounted


def when_ready(server: Any) -> None:
    """Say where to look, once there is something to see."""
    print(f"\nAssay is at http://{bind}")
    logins = os.environ.get("DEMO_LOGINS")
    if logins:
        print(f"Demo accounts:\n{logins}", flush=True)
