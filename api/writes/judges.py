"""LLM judges: a model, its prompts and its parameters."""

from http import HTTPStatus
from typing import Annotated

from django.http import HttpResponse
from pydantic import BaseModel, Field

from accounts.models import User
from api.rows.corpus import words
from api.views import ListView
from api.writes.base import Body, Name, OptionalName, Write, WriteView, WrongBody, document_answer
from api.writes.jobs import Count
from evaluation.models import Campaign
from llmjobs.client import default_endpoint
from llmjobs.connections import newest_connections
from llmjobs.job_status import prompts_for
from llmjobs.prompt_store import EFFORTS, HOTTEST, Parameters, add_llm_judge, all_templates, record_judge
from llmjobs.prompts.template import PromptTask


class NewJudge(Body):
    """An LLM judge. A parameter that is null is not sent."""

    campaign: Name
    name: Annotated[str, Field(min_length=1, max_length=180)] = Field(
        description="a name that another LLM has gets the next version"
    )
    connection: OptionalName = Field(
        default="", description="name of a connection; the endpoint's own model without it"
    )
    prompts: dict[PromptTask, Name] = Field(
        default={}, description="as name@version, instead of the built-in ones"
    )
    structured: bool = Field(default=False, description="ask for JSON by a schema")
    temperature: Annotated[float, Field(ge=0, le=HOTTEST)] | None = 0.0
    reasoning_effort: Annotated[str, words(EFFORTS)] | None = None
    max_completion_tokens: Count | None = Field(default=None, description="of a reply, reasoning included")
    passage_words: Count | None = Field(
        default=None, description="of a longer passage the best paragraphs are sent"
    )


class MadeJudge(BaseModel):
    """A judge that can be named when a job is started."""

    name: str
    model: str
    prompt_versions: dict[str, str]


class JudgesView(WriteView, ListView):
    """Make an LLM judge. The same again changes nothing."""

    operation = "judges_make"
    body = NewJudge
    answer = tried = MadeJudge
    success = HTTPStatus.CREATED

    def about(self, write: Write, **place: object) -> Campaign:
        campaign = self.campaign_to_change(write.actor, write.body.campaign)
        _check_prompts(write.actor, write.body)
        return campaign

    def do(self, write: Write, about: Campaign) -> HttpResponse:
        body: NewJudge = write.body
        model, base_url = _endpoint(body.connection)
        judge, is_new = add_llm_judge(
            name=body.name,
            model=model,
            base_url=base_url,
            prompts={str(task): ref for task, ref in body.prompts.items()},
            structured=body.structured,
            parameters=Parameters(
                body.temperature, body.reasoning_effort or "", body.max_completion_tokens, body.passage_words
            ),
        )
        record_judge(about, judge, write.actor)
        document = MadeJudge(name=judge.name, model=judge.model, prompt_versions=judge.prompt_versions)
        return document_answer(document, HTTPStatus.CREATED if is_new else HTTPStatus.OK)


def _check_prompts(actor: User, body: NewJudge) -> None:
    """Raise `WrongBody` for prompts that the actor may not read: they answer like those that are not there."""
    readable = {(template.task, template.ref) for template in all_templates(prompts_for(actor))}
    unknown = [task for task, ref in body.prompts.items() if (task, ref) not in readable]
    if unknown:
        raise WrongBody({f"prompts.{task}": ["There is no such prompt."] for task in unknown})


def _endpoint(connection: str) -> tuple[str, str]:
    """Return the model and address of a connection. Raises `WrongBody` where there is none of that name."""
    if not connection:
        return default_endpoint().model, ""
    row = next((row for row in newest_connections() if row.name == connection), None)
    if row is None:
        raise WrongBody({"connection": ["There is no connection of that name."]})
    return row.model, row.base_url
