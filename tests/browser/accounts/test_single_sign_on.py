"""Signing in by a provider in a browser: the page's policy lets the form lead there, and back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser

from loadtest.servers.provider import CLIENT, SECRET, running_provider
from loadtest.servers.web import running_web
from tests.worlds.installation import new_database

pytestmark = pytest.mark.browser

ANN = {"sub": "7", "email": "ann@example.org", "email_verified": True, "preferred_username": "ann"}
MAKE_ANN = """
from allauth.account.models import EmailAddress
from accounts.models import User
ann = User.objects.create_user("ann", "ann@example.org", "river-and-bank")
EmailAddress.objects.create(user=ann, email=ann.email, verified=True, primary=True)
"""


def test_the_button_leads_to_the_provider_and_back(
    chromium: Browser, tmp_path: Path, django_db_setup: None
) -> None:
    with running_provider() as provider:
        provider.person = dict(ANN)
        own = {
            "DATABASE_URL": new_database(tmp_path / "own.sqlite3"),
            "DJANGO_SETTINGS_MODULE": "loadtest.servers.plain_settings",
            "OIDC_SERVER_URL": provider.address,
            "OIDC_CLIENT_ID": CLIENT,
            "OIDC_CLIENT_SECRET": SECRET,
            "OIDC_NAME": "Lab sign-on",
        }
        manage = [sys.executable, "manage.py", "shell", "--verbosity", "0", "-c", MAKE_ANN]
        subprocess.run(manage, check=True, cwd=settings.BASE_DIR, env=os.environ | own)
        with running_web(tmp_path / "web.log", own=own) as web, chromium.new_context() as context:
            page, messages = context.new_page(), list[str]()
            page.on("console", lambda message: messages.append(message.text))
            page.goto(f"http://{web.address}/accounts/login/")
            page.get_by_role("button", name="Use Lab sign-on").click()
            page.get_by_text("Your account").wait_for(state="attached")
            assert page.url.startswith(f"http://{web.address}/")
            assert [message for message in messages if "Content Security Policy" in message] == []
        assert [request["client_id"] for request in provider.requests] == [CLIENT]
