"""Provenance of a label: the calls, the file or the person behind it."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from django.core.exceptions import ObjectDoesNotExist
from django.db import DEFAULT_DB_ALIAS
from django.http import HttpResponse
from pydantic_core import to_json
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from accounts.models import User
from api.collections import COLLECTIONS
from api.problems import NOT_FOUND
from api.schema import ProvenanceSchema
from api.streams import answered
from api.views import OfCollection
from evaluation.domain.pseudonyms import Names
from evaluation.models import Campaign, Event
from evaluation.rows.base import Row
from llmjobs import provenance
from llmjobs import provenance as origins
from llmjobs.provenance import ShownCall, files_of

Behind = tuple[Event | None, list[tuple[str, ShownCall | None]]]


def _of_assignment(viewer: User, campaign: Campaign, pk: int) -> Behind:
    event = provenance.assignments_for(viewer, campaign).get(pk=pk).event
    return event, [("label", provenance.call_behind(viewer, campaign, event))]


def _of_support(viewer: User, campaign: Campaign, pk: int) -> Behind:
    event = provenance.support_for(viewer, campaign).get(pk=pk).event
    return event, [("label", provenance.call_behind(viewer, campaign, event))]


def _of_nugget(viewer: User, campaign: Campaign, pk: int) -> Behind:
    found = origins.nugget_for(viewer, campaign, pk)
    return found.event, [("wording", found.worded), ("importance", found.weighed)]


def _of_grade(viewer: User, campaign: Campaign, pk: int) -> Behind:
    found = origins.grade_for(viewer, campaign, pk)
    return found.qrel.event, [("label", found.call)]


BEHIND: dict[str, Callable[[User, Campaign, int], Behind]] = {
    "assignments": _of_assignment,
    "support-judgments": _of_support,
    "nuggets": _of_nugget,
    "grades": _of_grade,
}
EXPLAINED = [one for one in COLLECTIONS if one.name in BEHIND]


class ProvenanceView(OfCollection):
    """Why a label says what it says: the calls, the file or the person behind it."""

    schema = ProvenanceSchema()
    one: ClassVar[bool] = True

    def get(self, request: Request, pk: int) -> HttpResponse:
        """Return what stands behind a label. What is not the viewer's is not there."""
        viewer, reader = cast(User, request.user), self.reader(request, DEFAULT_DB_ALIAS)
        found = reader.page(reader.rows().filter(pk=pk)[:1])
        if not found:
            raise NotFound(NOT_FOUND)
        row = found[0][1]
        campaign = next(one for one in reader.campaigns if one.slug == row["campaign"])
        try:
            event, calls = BEHIND[self.collection.name](viewer, campaign, pk)
        except ObjectDoesNotExist:  # taken back since
            raise NotFound(NOT_FOUND) from None
        known = [(gave, call) for gave, call in calls if call]
        document = {
            "collection": self.collection.name,
            "row": row,
            "behind": _behind(event, bool(known)),
            "event": _event(event, campaign, reader.names),
            "calls": [_call(gave, call, campaign, reader.names) for gave, call in known],
        }
        return answered(request, to_json(document))


def _behind(event: Event | None, called: bool) -> str:
    if called:
        return "call"
    if event is None:
        return "unknown"
    return "file" if files_of(event) else "person" if event.actor_id else "unknown"


def _event(event: Event | None, campaign: Campaign, names: Names) -> Row | None:
    if event is None:
        return None
    files = [{"name": names.clean(campaign.pk, file.name), "sha256": file.sha256} for file in files_of(event)]
    return {
        "id": event.pk,
        "kind": event.kind,
        "at": event.at,
        "actor": names.person(campaign.pk, event.actor_id),
        "files": files,
    }


def _call(gave: str, shown: ShownCall, campaign: Campaign, names: Names) -> Row:
    call = shown.call
    return {
        "gave": gave,
        **{name: getattr(call, name) for name in AS_STORED},
        "template": names.clean(campaign.pk, call.template),
        "seed": shown.seed,
        "cost": _cost(shown),
        "messages": [
            {"role": message.role, "sha256": message.sha256, "content": message.content}
            for message in shown.messages
        ],
        "attempts": [{name: getattr(attempt, name) for name in OF_ATTEMPTS} for attempt in shown.attempts],
        "uses": [{"job": use.item.job_id, "part": use.part, "notes": use.notes} for use in shown.uses],
        "asked": [
            {"part": one.part, "call": one.call.sha256, "state": one.call.state, "notes": one.notes}
            for one in shown.item_calls
        ],
    }


AS_STORED = (
    *("sha256", "state", "template_version", "template_sha256", "base_url", "model", "model_answered"),
    *("parameters", "replicate", "reply", "finish_reason", "prompt_tokens", "completion_tokens", "latency_ms"),
    *("made_at", "ended_at"),
)
OF_ATTEMPTS = ("number", "sent_at", "ended_at", "error", "status", "message", "latency_ms")


def _cost(shown: ShownCall) -> dict[str, Any] | None:
    cost = shown.cost
    if cost is None:
        return None
    return {
        "amount": f"{cost.amount:f}",
        "currency": cost.currency,
        "price_table": cost.table,
        "job": cost.job,
        "reused": cost.reused,
    }
