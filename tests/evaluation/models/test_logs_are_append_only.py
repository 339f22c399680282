"""The event log is the history: no program that reaches the database may change it."""

import pytest
from django.db import DatabaseError, transaction

from evaluation.models import Event

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]


def test_an_event_cannot_be_changed() -> None:
    event = Event.objects.create(kind="test")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Event.objects.filter(pk=event.pk).update(kind="forged")


def test_an_event_cannot_be_deleted() -> None:
    event = Event.objects.create(kind="test")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        event.delete()
