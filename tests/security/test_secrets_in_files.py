"""A secret comes from the environment or from a file that it names, never from both."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from pydantic import SecretStr

from llmjobs.client import endpoint_from_environment
from web.environment import SECRETS, check_secrets, secret

SHOW = "from django.conf import settings as s; print(s.SECRET_KEY, s.DATABASES['default']['HOST'], s.CELERY_BROKER_URL)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text("s3cret-canary\n")
    return path


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_read_from_its_file(name: str, file: Path) -> None:
    assert secret(name, {f"{name}_FILE": str(file)}) == "s3cret-canary"
    assert secret(name, {name: " said "}) == "said"
    assert secret(name, {}) == ""


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_given_twice_is_an_error_that_hides_it(name: str, file: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"{name} and {name}_FILE are both set") as error:
        check_secrets({name: "said-canary", f"{name}_FILE": str(file)})
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(("content", "message"), [(b" \n", "is empty"), (b"\xff\xfe", "not UTF-8")])
def test_a_file_without_a_secret_is_an_error(content: bytes, message: str, file: Path) -> None:
    file.write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match=message):
        secret("SECRET_KEY", {"SECRET_KEY_FILE": str(file)})


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="cannot be read: No such file"):
        secret("SECRET_KEY", {"SECRET_KEY_FILE": str(tmp_path / "nowhere")})


def test_the_settings_read_secrets_from_files(tmp_path: Path) -> None:
    values = {
        "SECRET_KEY": "key-canary",
        "DATABASE_URL": "postgres://db.example/x",
        "CELERY_BROKER_URL": "redis://q",
    }
    environ = {name: value for name, value in os.environ.items() if name not in SECRETS}
    for name, value in values.items():
        (tmp_path / name).write_text(value)
        environ[f"{name}_FILE"] = str(tmp_path / name)
    environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    shown = subprocess.run(
        [sys.executable, "-c", SHOW], env=environ, cwd=settings.BASE_DIR, check=True, capture_output=True
    )
    assert shown.stdout.split() == [b"key-canary", b"db.example", b"redis://q"]


def test_a_key_in_a_file_reaches_the_endpoint(file: Path) -> None:
    found = endpoint_from_environment({"OPENAI_API_KEY_FILE": str(file)})
    assert found
    assert found.api_key == SecretStr("s3cret-canary")
