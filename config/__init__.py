"""Settings, addresses and entries: the only code that knows all rooms."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
