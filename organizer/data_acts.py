"""Exports from their form. A refusal becomes an error of the form."""

from django.conf import settings

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from exchange.exports.service import order_export
from exchange.models import Export
from organizer.data_forms import ExportForm, ImportForm


def export_from(form: ExportForm, campaign: Campaign, actor: User) -> Export | None:
    if not form.is_valid():
        return None
    try:
        return order_export(campaign=campaign, order=form.order, actor=actor)
    except Refused as refusal:
        form.add_error(None, refusal.message)
    return None


def say_too_large(form: ImportForm) -> None:
    form.errors.pop("files", None)
    most = settings.API_UPLOAD_MAX_BYTES // 1024**2
    form.add_error(None, f"At most {most} MB can be sent at once. Larger files are for the command line.")
