"""Drafts from automatic lists."""

from http import HTTPStatus

from django.http import HttpResponse
from pydantic import Field

from api.rows.corpus import NuggetSetRow
from api.views import ListView
from api.writes.base import Body, Name, OptionalName, Write, WriteView, row_answer
from evaluation.models import Campaign
from llmjobs.taken_drafts import take_drafts


class NewDrafts(Body):
    """An automatic set, whose newest lists are taken as drafts."""

    campaign: Name
    nuggets: OptionalName = Field(default="", description="the automatic set; the only one without it")


class NuggetSetsView(WriteView, ListView):
    """Take an automatic set's lists as drafts to be edited. Topics with drafts of its judge keep them."""

    operation = "nugget_sets_take_drafts"
    body = NewDrafts
    answer = tried = NuggetSetRow
    success = HTTPStatus.CREATED

    def about(self, write: Write, **place: object) -> Campaign:
        return self.campaign_to_change(write.actor, write.body.campaign)

    def do(self, write: Write, about: Campaign) -> HttpResponse:
        nuggets = self.names.real_set(about.pk, write.body.nuggets)
        taken = take_drafts(campaign=about, nuggets=nuggets, actor=write.actor)
        status = HTTPStatus.CREATED if taken.taken else HTTPStatus.OK
        return row_answer(write.actor, "nugget-sets", taken.drafts.pk, status)
