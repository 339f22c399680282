"""Make a judge."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser

from accounts.models import User
from evaluation.errors import Refused
from evaluation.judges import NOT_SENT, add_judge, describe
from evaluation.management.base import AssayCommand, words_of
from evaluation.terms import JudgeKind
from llmjobs.prompt_store import EFFORTS, Parameters, versions_of
from llmjobs.prompts.texts import TEMPLATES


class Command(AssayCommand):
    help = "Make a judge: a person with an account, or an LLM. The same again changes nothing."
    example = "manage.py add_judge gpt-4o-strict --by llm --model gpt-4o --prompt assign=strict@2"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--by", required=True, choices=words_of(JudgeKind), help="who judges")
        parser.add_argument("--model", default="", help="for an LLM: the model's name at the endpoint")
        parser.add_argument("--base-url", default="", help="for an LLM: the endpoint, if not the default one")
        text = f"for an LLM: a prompt instead of the built-in one, for {', '.join(TEMPLATES)}; may be repeated"
        parser.add_argument(
            "--prompt", action="append", default=[], type=_choice, metavar="TASK=NAME@VERSION", help=text
        )
        text = "for an LLM: ask for JSON by a schema, where the endpoint offers structured output"
        parser.add_argument("--structured", action="store_true", help=text)
        text = "for an LLM: a number from 0 to 2, or none to leave it out; 0 if unsaid"
        parser.add_argument("--temperature", default=0.0, type=_temperature, metavar="NUMBER", help=text)
        text = "for an LLM that reasons: how long"
        parser.add_argument("--reasoning-effort", default="", choices=EFFORTS, help=text)
        text = "for an LLM: the most tokens of a reply, reasoning included"
        parser.add_argument("--max-completion-tokens", type=int, metavar="N", help=text)
        text = (
            "for an LLM: of a passage with more words send the best paragraphs; 0, as if unsaid: send each whole"
        )
        parser.add_argument("--passage-words", type=int, metavar="N", help=text)
        parser.add_argument("--user", default="", help="for a person: the account")

    def act(self, options: dict[str, Any]) -> None:
        names = ("temperature", "reasoning_effort", "max_completion_tokens", "passage_words")
        parameters = Parameters(*(options[name] for name in names))
        judge, made = add_judge(
            name=options["name"],
            kind=JudgeKind(options["by"]),
            model=options["model"],
            base_url=options["base_url"],
            user=_user(options["user"]) if options["user"] else None,
            prompt_versions=versions_of(
                _prompts(options["prompt"]), structured=options["structured"], parameters=parameters
            ),
        )
        self.say(f"{judge.name}, {describe(judge)}: {'made' if made else 'already there; nothing changed'}.")


def _temperature(text: str) -> float | None:
    if text == NOT_SENT:
        return None
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError("a temperature is a number from 0 to 2, or none") from None


def _choice(text: str) -> tuple[str, str]:
    task, _, ref = text.partition("=")
    if not task or not ref:
        raise ArgumentTypeError("a prompt is chosen as TASK=NAME@VERSION, such as assign=strict@2")
    return task, ref


def _prompts(choices: list[tuple[str, str]]) -> dict[str, str]:
    prompts = dict(choices)
    if len(prompts) < len(choices):
        raise Refused("usage", "Say one --prompt for a task, not several.")
    return prompts


def _user(username: str) -> User:
    user = User.objects.filter(username=username).first()
    if user is None:
        raise Refused("no_such_user", f"There is no account {username}.")
    return user
