"""The bare application."""

import os

from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "loadtest.bench.floor.settings"
application = get_wsgi_application()
