"""The settings in force, and where each is from."""

import os
from typing import Any

from django.conf import settings

from evaluation.management.base import AssayCommand
from llmjobs.client import DEFAULT_MODEL
from web.environment import SECRETS
from web.logs import CREDENTIALS

# Read by others than the settings, read there only with others, or in a form that is not their own.
ELSEWHERE = {
    "DEMO_LOGINS": "",
    "OIDC_CLIENT_ID": "",
    "OIDC_NAME": "single sign-on",
    "OIDC_PROVIDER_ID": "oidc",
    "LLM_ENDPOINTS": "",
    "TEXT_SOURCES": "",
    "OPENAI_BASE_URL": "",
    "OPENAI_MODEL": DEFAULT_MODEL,
    "AZURE_OPENAI_ENDPOINT": "",
    "AZURE_OPENAI_DEPLOYMENT": "",
    "AZURE_OPENAI_API_VERSION": "",
}


class Command(AssayCommand):
    help = "List the settings in force and where each is from: the shell, .env, or the default. Secrets are not shown."
    example = "manage.py settings"
    audited = ""
    requires_system_checks = []

    def act(self, options: dict[str, Any]) -> None:
        keys = {name.removesuffix("_FILE") for name in os.environ if name.startswith(("LLM_KEY_", "TEXT_KEY_"))}
        rows = [(name, *_secret(name)) for name in {*SECRETS, *keys}]
        rows += [
            (name, *_plain(name, default)) for name, default in (settings.ENVIRONMENT.in_force | ELSEWHERE).items()
        ]
        for name, value, origin in sorted(rows):
            self.stdout.write(f"{name:<30} {value or '-':<40} {origin}")


def _secret(name: str) -> tuple[str, str]:
    given = next((key for key in (name, f"{name}_FILE") if os.environ.get(key)), "")
    return (f"(set by {given})" if given else "(not set)"), _origin(given)


def _plain(name: str, default: Any) -> tuple[str, str]:
    if name in os.environ:
        return CREDENTIALS.sub("...@", os.environ[name]), _origin(name)
    if isinstance(default, bool):
        return str(int(default)), _origin("")
    return ",".join(default) if isinstance(default, list) else str(default), _origin("")


def _origin(name: str) -> str:
    if name not in os.environ:
        return "default"
    return "shell" if name in settings.SHELL_NAMES else ".env"
