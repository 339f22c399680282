"""The entry of the production server."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
gc.disable()  # what is imported stays: looking for what could go takes a sixth of the start
application = get_wsgi_application()
_ = get_resolver().url_patterns  # imported now, once for all server processes, and not at the first request
gc.freeze()
gc.enable()
