"""The entry of the production server."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
_ = get_resolver().url_patterns  # imported now, once for all server processes, and not at the first request
