"""No limits of the API, for tests that ask more than any person does."""

import pytest
from rest_framework.throttling import SimpleRateThrottle


def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {"token": None, "user": None})
