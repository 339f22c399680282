"""Provenance of a label: the calls, the file or the person behind it."""

from collections.abc import Callable
from typing import Any, cast

from django.core.exceptions import ObjectDoesNotExist
from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet
from django.http import HttpResponse
from pydantic_core import to_json
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from accounts.models import User
from api.collections import COLLECTIONS
from api.problems import NOT_FOUND
from api.rows.labels import CallRow, Provenance
from api.schema import ProvenanceSchema
from api.streams import answered
from api.views import CollectionView, row_at
from evaluation.campaigns.pseudonyms import Names
from evaluation.models import Campaign, Event
from llmjobs import provenance as origins
from llmjobs.provenance import ShownCall

Behind = tuple[Event | None, list[tuple[str, ShownCall | None]]]
LABEL_COLLECTIONS: dict[str, Callable[[User, Campaign], QuerySet[Any]]] = {
    "assignments": origins.assignments_for,
    "support-judgments": origins.support_for,
    "verdicts": origins.verdicts_for,
    "grades": origins.grades_for,
}
EXPLAINED = [collection for collection in COLLECTIONS if collection.name in {*LABEL_COLLECTIONS, "nuggets"}]


def _event_and_calls(collection: str, viewer: User, campaign: Campaign, pk: int) -> Behind:
    if collection == "nuggets":
        nugget = origins.nugget_for(viewer, campaign, pk)
        return nugget.listed.nugget_list.event, [("wording", nugget.worded), ("importance", nugget.weighed)]
    event = LABEL_COLLECTIONS[collection](viewer, campaign).get(pk=pk).event
    return event, [("label", origins.call_behind(viewer, campaign, event))]


class ProvenanceView(CollectionView):
    """Provenance of one row."""

    schema = ProvenanceSchema()

    def get(self, request: Request, pk: int) -> HttpResponse:
        # Not by the connection of lists: llmjobs.provenance uses the default one, and the row must be of its state.
        viewer, reader = cast(User, request.user), self.reader(request, DEFAULT_DB_ALIAS)
        row = row_at(reader, pk)
        campaign = next(campaign for campaign in reader.campaigns if campaign.slug == row["campaign"])
        try:
            event, calls = _event_and_calls(self.collection.name, viewer, campaign, pk)
        except ObjectDoesNotExist:  # taken back since the row was read
            raise NotFound(NOT_FOUND) from None
        rows = [_call(gave, call, campaign, reader.names) for gave, call in calls if call]
        document = {
            "collection": self.collection.name,
            "row": row,
            "behind": "call" if rows else _behind(event),
            "event": _event(event, campaign, reader.names) if event else None,
            "calls": rows,
        }
        return answered(request, to_json(Provenance.model_validate(document)))


def _behind(event: Event | None) -> str:
    if event and event.files:
        return "file"
    return "person" if event and event.actor_id else "unknown"


def _event(event: Event, campaign: Campaign, names: Names) -> dict[str, Any]:
    return {
        "id": event.pk,
        "kind": event.kind,
        "at": event.at,
        "actor": names.person(campaign.pk, event.actor_id),
        "files": [file | {"name": names.clean(campaign.pk, file["name"])} for file in event.files],
    }


def _call(gave: str, shown_call: ShownCall, campaign: Campaign, names: Names) -> CallRow:
    call, cost = shown_call.call, shown_call.cost
    columns = {name: getattr(call, name) for name in CallRow.model_fields if hasattr(call, name)}
    return CallRow.model_validate(
        columns
        | {
            "gave": gave,
            # A template is named by whoever wrote it, and that can be a person's name.
            "template": names.clean(campaign.pk, call.template),
            "seed": shown_call.seed,
            "cost": cost
            and {
                "amount": f"{cost.amount:f}",
                "currency": cost.currency,
                "price_table": cost.table,
                "job": cost.job,
                "reused": cost.reused,
            },
            "messages": shown_call.messages,
            "attempts": shown_call.attempts,
            "uses": [{"job": use.item.job_id, "part": use.part, "notes": use.notes} for use in shown_call.uses],
            "questions": [
                {"part": use.part, "call": use.call.sha256, "state": use.call.state, "notes": use.notes}
                for use in shown_call.item_calls
            ],
        }
    )
