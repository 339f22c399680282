"""Making campaigns: administrators do that, and organize what they made."""

from http import HTTPStatus
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from pydantic import ConfigDict, Field

from api.rows.corpus import CampaignRow
from api.views import ListView
from api.writes.base import Query, Write, WriteView, row_answer
from evaluation.campaigns.access import is_taken_from
from evaluation.campaigns.create import CampaignFile, start_campaign
from evaluation.errors import Refused


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
    made = HTTPStatus.CREATED

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
