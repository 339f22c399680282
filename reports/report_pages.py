"""The report pages by name, each with what it is about in one line."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from django.http import QueryDict

from evaluation.models import Campaign
from reports.descriptives_page import descriptives_page
from reports.length_page import length_page
from reports.nuggets_page import nuggets_page
from reports.packet_page import packet_page
from reports.showing import ReportPage
from reports.support_page import support_page
from reports.time_page import time_page


class ReportName(StrEnum):
    """A report page as its address names it."""

    DESCRIPTIVES = "descriptives"
    NUGGETS = "nuggets"
    SUPPORT = "support"
    LENGTH = "length"
    TIME = "time"
    PACKET = "packet"


@dataclass(frozen=True, slots=True)
class ReportKind:
    """A report page: its title, what it is about, and what makes it from a campaign and a query string."""

    title: str
    line: str
    make: Callable[[Campaign, QueryDict], ReportPage]


KINDS = {
    ReportName.DESCRIPTIVES: ReportKind(
        "Descriptives",
        "Topics, nuggets, words and labels of every nugget set and condition, as in the published tables.",
        descriptives_page,
    ),
    ReportName.NUGGETS: ReportKind(
        "Nuggets",
        "How often each nugget is found and by which runs, vital against okay, drafts against final lists.",
        nuggets_page,
    ),
    ReportName.SUPPORT: ReportKind(
        "Support of citations",
        "Precision and recall per run, topic and answer, labels by condition, over- and under-citation.",
        support_page,
    ),
    ReportName.LENGTH: ReportKind(
        "Length",
        "Score against length, with the runs that no shorter run beats.",
        length_page,
    ),
    ReportName.TIME: ReportKind(
        "Time",
        "How long topics took, by stage, topic and assessor, against the published hour and two and a half.",
        time_page,
    ),
    ReportName.PACKET: ReportKind(
        "Participant packet",
        "One group's scores topic by topic, with each topic's minimum, median and maximum over all runs.",
        packet_page,
    ),
}
