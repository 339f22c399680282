"""The production server, as `make run` starts it."""

import os
from pathlib import Path
from typing import Any

import environ

# The shell wins over `.env`, as it does for manage.py.
if Path(".env").exists():
    environ.Env.read_env(".env")

bind = f"{os.environ.get('HOST', '127.0.0.1')}:{os.environ.get('PORT', '8000')}"
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = 4
loglevel = "warning"
control_socket_disable = True


def when_ready(server: Any) -> None:
    """Say where to look, once there is something to see."""
    print(f"\nAssay is at http://{bind}")
    logins = os.environ.get("DEMO_LOGINS")
    if logins:
        print(f"Demo accounts:\n{logins}", flush=True)
