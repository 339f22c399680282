"""Making campaigns: administrators do that, and organize what they made."""

from http import HTTPStatus
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from pydantic import BaseModel, ConfigDict, Field

from api.rows.corpus import CampaignRow
from api.views import ListView
from api.writes.base import Body, Name, Query, Write, WriteView, document_answer, row_answer
from evaluation.campaigns.access import is_taken_from
from evaluation.campaigns.create import CampaignFile, start_campaign
from evaluation.errors import Refused
from evaluation.models import Campaign
from exchange.deletion import delete_campaign


class CampaignOptions(Query):
    """Parameters of a new campaign."""

    replace: bool = Field(default=False, description="make other settings a new version of the protocol")


class NewCampaign(CampaignFile):
    """A campaign: the fields of a campaign's file, and its slug. A field that is left out keeps its default."""

    model_config = ConfigDict(extra="forbid")

    slug: Annotated[str, Field(min_length=1, max_length=60, pattern="^[-a-zA-Z0-9_]+$")]
    name: Annotated[str, Field(max_length=200)] = ""


class CampaignsView(WriteView, ListView):
    """Make a campaign. The same again changes nothing."""

    operation = "campaigns_make"
    query = CampaignOptions
    body = NewCampaign
    answer = tried = CampaignRow
    success = HTTPStatus.CREATED

    def about(self, write: Write, **place: Any) -> None:
        """Only administrators make campaigns, as on the command line."""
        if not write.actor.is_superuser:
            raise PermissionDenied

    def do(self, write: Write, about: None) -> HttpResponse:
        actor, body = write.actor, write.body
        if is_taken_from(actor, body.slug):
            raise Refused(
                "slug_taken", "There is a campaign with this slug, in which you judge. Choose another slug."
            )
        file = CampaignFile.model_validate(body.model_dump(exclude={"slug"}, exclude_unset=True))
        name, replace = body.name or body.slug, write.query.replace
        campaign, outcome = start_campaign(slug=body.slug, name=name, file=file, replace=replace, actor=actor)
        status = HTTPStatus.CREATED if outcome == "made" else HTTPStatus.OK
        return row_answer(actor, "campaigns", campaign.slug, status)


class Deletion(Body):
    """The campaign's short name once more, so that no other is meant."""

    name: Name


class Deleted(BaseModel):
    """Result in words."""

    message: str


class DeleteCampaignView(WriteView):
    """Delete a campaign: nobody finds it any more. Its tasks end and its jobs are cancelled; there is no way back."""

    operation = "campaigns_delete"
    body = Deletion
    answer = Deleted

    def about(self, write: Write, **place: Any) -> Campaign:
        return self.campaign_to_change(write.actor, place["slug"])

    def do(self, write: Write, about: Campaign) -> HttpResponse:
        message = delete_campaign(campaign=about, typed=write.body.name, actor=write.actor)
        return document_answer(Deleted(message=message))
