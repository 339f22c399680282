"""Battles on the leaderboard: the runs as `report battles` has them, of the groups and tasks that are chosen."""

from django.http import QueryDict
from django.utils import timezone

from evaluation.errors import Refused
from evaluation.models import Campaign
from reports.battles.corrected import TARGETS, THESE
from reports.battles.page import document_of, run_sections
from reports.leaderboard.form import LeaderboardForm
from reports.random_checks.page import CheckedReport
from reports.report import ReportContent


def battle_board(campaign: Campaign, form: LeaderboardForm, query: QueryDict, title: str) -> CheckedReport:
    """Return the leaderboard of a valid form whose score is of battles."""
    chosen, condition = form.chosen, form.battle_condition
    target = chosen["target"] if chosen["target"] in TARGETS else THESE
    choices = {"set": chosen["set"], "condition": condition.value, "judge": chosen["judge"]}
    choices |= {"by": chosen["score"], "target": target}
    try:
        document = document_of(campaign, tuple(choices.items()))
    except Refused as refused:
        return CheckedReport(form=form, title=title, refused=refused, query=query)
    runs = campaign.runs.all()
    for name in ("group", "task"):
        if chosen[name]:
            runs = runs.filter(**{name: chosen[name]})
    names = set(runs.values_list("run_id", flat=True))
    content = {**document.content, "runs": [row for row in document.content["runs"] if row["run_id"] in names]}
    facts = (f"{condition.words} ({condition}): {content['set']}.", *document.text.split("\n")[1:])
    sections = tuple(run_sections(campaign, content, "runs")[:1])
    return CheckedReport(
        form=form, title=title, query=query, content=ReportContent(facts, sections, timezone.now())
    )
