"""Mails to the starter of a job: it is done, paused for its budget, or stuck. Workers send one each."""

import logging

from django.conf import settings
from django.core.mail import get_connection, send_mail
from django.db import DEFAULT_DB_ALIAS
from django.template.loader import render_to_string
from django.urls import reverse

from evaluation.campaigns.access import may_see
from evaluation.campaigns.pseudonyms import Names
from jobs import lanes, queue
from jobs.health import mail_is_settled, take_mail, to_mail
from jobs.models import Notice

SECONDS = 30.0
"""Patience with a mail server: no longer than until another worker would try."""

log = logging.getLogger(__name__)


def offer() -> None:
    lanes.register_watcher(send_due)


def send_due() -> None:
    """Send due mails where mail is configured; a mail that the server refuses is tried again later."""
    if not settings.MAIL_ABOUT_JOBS:
        return
    for notice in to_mail().filter(job__llm__isnull=False).select_related("job__llm__campaign"):
        if take_mail(notice):
            _send(notice)


def _send(notice: Notice) -> None:
    campaign, reader = notice.job.llm.campaign, notice.job.made_by
    # Rights may have changed since the job was started.
    if reader is None or not (reader.is_active and reader.email and may_see(reader, campaign)):
        mail_is_settled(notice, sent=False)
        return
    # A mail leaves the installation, and so it calls people as the API does.
    names = Names([campaign], DEFAULT_DB_ALIAS)
    title, reason = (names.clean(campaign.pk, text) for text in (notice.job.title, notice.reason))
    context = {
        "notice": notice,
        "title": title,
        "reason": reason,
        "campaign": campaign,
        "progress": queue.progress_of(notice.job),
        "link": f"{settings.PUBLIC_URL}{reverse('organizer:job', args=[campaign.slug, notice.job_id])}",
        "linked": bool(settings.PUBLIC_URL),
    }
    subject = f"Job {notice.kind}: {title} ({' '.join(campaign.name.split())})"
    try:
        text = render_to_string("organizer/job_notice.txt", context)
        send_mail(subject, text, None, [reader.email], connection=get_connection(timeout=SECONDS))
    except OSError as error:  # of the connection, and of SMTP
        log.warning("mail about job %s not sent: %s", notice.job_id, error)
    else:
        mail_is_settled(notice, sent=True)
