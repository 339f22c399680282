"""A simulated assessor's browser without a network."""

from typing import Any

from django.test import Client

from accounts.models import User
from loadtest.desk.seats import Seat
from loadtest.desk.wire import Answer, Fate


class InProcess:
    def __init__(self, _address: str, seat: Seat, *_more: object) -> None:
        self._client = Client()
        self._client.force_login(User.objects.get(pk=seat.pk))

    def get(self, path: str) -> Any:
        answer = self._client.get(path)
        return answer.json() if answer["Content-Type"] == "application/json" else answer.content.decode()

    def post(self, path: str, body: object, _fate: Fate = Fate.ANSWERED) -> Answer:
        answer = self._client.post(path, body, content_type="application/json")
        return Answer(answer.status_code, answer.json() if answer.content else None)
