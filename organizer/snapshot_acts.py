"""Snapshots from their form. A refusal becomes an error of the form."""

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from exchange.exports.lines import CAMPAIGN
from exchange.exports.service import ExportOrder, order_export
from exchange.models import Export
from organizer.snapshot_forms import SnapshotForm


def order_from(form: SnapshotForm, campaign: Campaign, actor: User) -> Export | None:
    if not form.is_valid():
        return None
    data = form.cleaned_data
    order = ExportOrder(
        CAMPAIGN,
        name=data["name"],
        note=data["note"],
        texts=not data["without_texts"],
        names=not data["pseudonyms"],
    )
    try:
        return order_export(campaign=campaign, order=order, actor=actor)
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None
