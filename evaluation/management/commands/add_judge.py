"""Make a judge."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.models import User
from evaluation.errors import Refused
from evaluation.management.base import AssayCommand, words_of
from evaluation.services.judges import add_judge, describe
from evaluation.terms import JudgeKind


class Command(AssayCommand):
    help = "Make a judge: a person with an account, or an LLM. The same again changes nothing."
    example = "manage.py add_judge gpt-4o --by llm --model gpt-4o"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--by", required=True, choices=words_of(JudgeKind), help="who judges")
        parser.add_argument("--model", default="", help="for an LLM: the model's name at the endpoint")
        parser.add_argument("--base-url", default="", help="for an LLM: the endpoint, if not the default one")
        parser.add_argument("--user", default="", help="for a person: the account")

    def act(self, options: dict[str, Any]) -> None:
        judge, made = add_judge(
            name=options["name"],
            kind=JudgeKind(options["by"]),
            model=options["model"],
            base_url=options["base_url"],
            user=_user(options["user"]) if options["user"] else None,
        )
        self.say(f"{judge.name}, {describe(judge)}: {'made' if made else 'already there; nothing changed'}.")


def _user(username: str) -> User:
    user = User.objects.filter(username=username).first()
    if user is None:
        raise Refused("no_such_user", f"There is no account {username}.")
    return user
