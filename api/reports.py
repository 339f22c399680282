"""Reports of a campaign, as the command `report` prints them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

from django.db import DEFAULT_DB_ALIAS
from django.http import HttpResponse, QueryDict
from pydantic import BaseModel
from pydantic_core import to_json
from rest_framework.request import Request

from accounts.models import User
from api.filters import CAMPAIGN, NO_SUCH, Filter, Narrowing, narrowing_of
from api.pagination import Form, wrong_parameters
from api.problems import WrongQuery
from api.readers import Scores
from api.rows.labels import ConfusionReportRow, CorrectedScoresRow, CorrelationReportRow
from api.rows.reports import (
    BattleLeaderboardRow,
    BattlesReportRow,
    ComparisonsReportRow,
    DescriptivesReportRow,
    EditsReportRow,
    JudgesReportRow,
    SamplesReportRow,
    ScoresReportRow,
    SectionsReportRow,
    StudyReportRow,
    SupportReportRow,
    TimeReportRow,
)
from api.schema import BattleLeaderboardSchema, ReportSchema
from api.streams import CONTENT_TYPES, accepted_form, answered
from api.views import View, row_at
from evaluation.campaigns.access import may_organize
from evaluation.errors import Refused
from evaluation.models import BattleSet
from evaluation.rows.battles import BattleSets
from reports.document import Naming, Option
from reports.files import as_csv, as_json
from reports.registry import ReportDocument, pages

FORMS = (Form.JSON, Form.CSV)
ROWS: dict[str, type[BaseModel]] = {
    "scores": ScoresReportRow,
    "support": SupportReportRow,
    "comparisons": ComparisonsReportRow,
    "support-comparisons": ComparisonsReportRow,
    "samples": SamplesReportRow,
    "descriptives": DescriptivesReportRow,
    "edits": EditsReportRow,
    "study": StudyReportRow,
    "correlation": CorrelationReportRow,
    "confusion": ConfusionReportRow,
    "support-correlation": CorrelationReportRow,
    "support-confusion": ConfusionReportRow,
    "corrected": CorrectedScoresRow,
    "battles": BattlesReportRow,
    "judges": JudgesReportRow,
    "time": TimeReportRow,
}
"""Fields of the reports that are more than the sections of their page."""


def row_of(entry: ReportDocument) -> type[BaseModel]:
    page = pages().get(entry.name)
    return SectionsReportRow if page and page.text else ROWS[entry.name]


YES = ("true",)

OF_LEADERBOARD = ("condition", "judge", "by", "target", "least_topics", "least_battles", "format")
FORMAT = Filter("format", "json, or csv as the command prints it; default: what `Accept` asks for", choices=FORMS)


def filters_of(entry: ReportDocument) -> list[Filter]:
    options = [option for option in entry.options if option.in_api]
    return [replace(CAMPAIGN, needed=True), *map(_filter, options), FORMAT]


def _filter(option: Option) -> Filter:
    choices = YES if option.is_flag else option.choices
    return Filter(_name(option), option.text, choices=choices, is_count=option.is_count, needed=option.needed)


def _name(option: Option) -> str:
    # As the collections call it; the command's word is that of files of nuggets.
    return option.name.replace("nuggets", Naming.NUGGET_SET)


class ReportView(View):
    """A report of a campaign."""

    schema = ReportSchema()
    may_be_packed = True
    entry: ClassVar[ReportDocument] = None  # type: ignore[assignment]  # given in the address book

    @property
    def filters(self) -> list[Filter]:
        return filters_of(self.entry)

    @property
    def row(self) -> type[BaseModel]:
        return row_of(self.entry)

    def get(self, request: Request) -> HttpResponse:
        return self._made(request, self.filters, request.query_params)

    def _made(self, request: Request, filters: Sequence[Filter], query: QueryDict, **fixed: str) -> HttpResponse:
        """Return the report of a query, with what is `fixed` by the address."""
        if errors := wrong_parameters(query, {parameter.name for parameter in filters}):
            raise WrongQuery(errors)
        # No one state of the database is held: intervals that are computed here are kept for the next who asks.
        narrowing = narrowing_of(filters, query, Scores(cast(User, request.user), DEFAULT_DB_ALIAS))
        campaign = narrowing.campaign_for("campaign")
        try:
            choices = _choices(narrowing, self.entry.options) | fixed
            # Before a random check is complete, its scores could lead whoever judges or decides on it.
            choices["complete_only"] = not may_organize(narrowing.reader.viewer, campaign)
            document = self.entry.make(campaign, choices)
        except Refused as error:
            if error.field in narrowing.values:
                raise WrongQuery({error.field: [NO_SUCH]}) from None
            raise narrowing.cleaned(error, campaign) from None
        clean = partial(narrowing.reader.names.clean, campaign.pk)
        if narrowing.values.get("format", accepted_form(request)) == Form.CSV:
            text = as_csv([clean(dict(row)) for row in document.rows])
            return answered(request, f"{text}\n".encode(), CONTENT_TYPES[Form.CSV])
        content = {name: value for name, value in document.content.items() if self.shows(name)}
        return answered(request, to_json(clean(json.loads(as_json(content)))))

    def shows(self, name: str) -> bool:
        return True


class BattleLeaderboardView(ReportView):
    """The runs of a battle set, as the report of battles has them."""

    schema = BattleLeaderboardSchema()

    @property
    def row(self) -> type[BaseModel]:
        return BattleLeaderboardRow

    @property
    def filters(self) -> list[Filter]:
        return [parameter for parameter in super().filters if parameter.name in OF_LEADERBOARD]

    def get(self, request: Request, pk: int) -> HttpResponse:  # type: ignore[override]
        reader = BattleSets(cast(User, request.user), DEFAULT_DB_ALIAS)
        row_at(reader, pk)
        battle_set = BattleSet.objects.select_related("campaign").get(pk=pk)
        query = request.query_params.copy()
        if CAMPAIGN.name in query:
            raise WrongQuery({CAMPAIGN.name: ["There is no such parameter."]})
        query[CAMPAIGN.name] = battle_set.campaign.slug
        return self._made(request, [replace(CAMPAIGN, needed=True), *self.filters], query, set=battle_set.name)

    def shows(self, name: str) -> bool:
        return name in BattleLeaderboardRow.model_fields


def _choices(narrowing: Narrowing, options: Sequence[Option]) -> dict[str, Any]:
    campaign, names = narrowing.campaigns[0].pk, narrowing.reader.names
    values = {option.name: narrowing.values.get(_name(option), option.default) for option in options}
    real = {Naming.JUDGE: names.real_judge, Naming.NUGGET_SET: names.real_set, Naming.STUDY: names.real_study}
    real_names = {option.name: real[option.of](campaign, values[option.name]) for option in options if option.of}
    return values | real_names
