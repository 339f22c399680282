"""Fingerprints: what the labels of a run rest on."""

from dataclasses import replace
from typing import cast

from django.db import DEFAULT_DB_ALIAS
from django.http import HttpResponse
from pydantic import BaseModel, Field
from pydantic_core import to_json
from rest_framework.request import Request

from accounts.models import User
from api.filters import NO_SUCH, OF_SCORES, RUN, choice_of, narrowing_of
from api.pagination import wrong_parameters
from api.problems import WrongQuery
from api.readers import Scores, policies_of_choice
from api.schema import AnswerSchema
from api.streams import answered
from api.views import View
from exchange.gates.baseline import Fingerprint
from exchange.gates.fingerprint import fingerprint_of


class FingerprintOut(BaseModel):
    """What the labels of a run rest on. Hashes of texts stand for the texts."""

    sha256: str = Field(description="of all parts")
    parts: Fingerprint


class FingerprintView(View):
    """What the labels of a run rest on: where two runs differ in it, scores say nothing of the runs."""

    schema = AnswerSchema()
    operation = "fingerprint"
    answer = FingerprintOut
    filters = tuple(
        replace(parameter, needed=parameter.needed or parameter.name == RUN.name) for parameter in OF_SCORES
    )

    def get(self, request: Request) -> HttpResponse:
        if errors := wrong_parameters(request.query_params, {parameter.name for parameter in self.filters}):
            raise WrongQuery(errors)
        reader = Scores(cast(User, request.user), DEFAULT_DB_ALIAS)
        narrowing = narrowing_of(self.filters, request.query_params, reader)
        choice = choice_of(narrowing, narrowing.values["condition"])
        run = choice.campaign.runs.filter(run_id=narrowing.values["run"]).first()
        if run is None:
            raise WrongQuery({"run": [NO_SUCH]})
        policies = policies_of_choice(choice, narrowing.values)
        parts = Fingerprint(**fingerprint_of(choice, policies, run, DEFAULT_DB_ALIAS))
        return answered(request, to_json({"sha256": parts.sha256, "parts": parts.model_dump()}))
