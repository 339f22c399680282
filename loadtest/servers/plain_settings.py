"""Our settings with static files under their own names, for short runs: compressing them takes 15 s."""

from config.settings import *  # noqa: F403

STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"  # noqa: F405
