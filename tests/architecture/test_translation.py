"""The pages have all their words marked for translation."""

import ast
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from django.conf import settings
from django.forms import BaseForm, Field, Form, HiddenInput
from django.template.base import Lexer, TokenType
from django.template.loader import get_template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from assessor.keymap import default_actions, groups
from assessor.keymap_words import WORDS
from evaluation.terms import TASK_EVENTS, Decision, FindingCode, Making, RemarkKind, Role, StudyKind, TaskState
from exchange.imports.kinds import KINDS
from exchange.models import ImportAttempt
from jobs.models import Job, Notice
from llmjobs.client import Kind
from llmjobs.models import Call
from organizer import vocabulary
from tests.architecture.tree import files, named

ROOMS = ("accounts", "api", "assessor", "evaluation", "exchange", "jobs", "llmjobs", "organizer", "reports", "web")
TEMPLATES: Path = settings.BASE_DIR / "templates"
# What is finished: folders, files, and patterns of files.
FINISHED = [
    "assessor",
    "organizer",
    "account",
    "accounts",
    "mfa",
    "socialaccount",
    "allauth",
    "base.html",
    "skeleton.html",
    "403.html",
    "404.html",
    "429.html",
    "500.html",
    "refused.html",
    "unavailable.html",
    "components",
    "reports",
    "admin",
    "api",
]
# The product's name, names of formats and units, and the letters that number passages and sentences.
ALLOWED = {"Assay", "CSV", "JSON", "sha", "px", "ms", "P", "S"}
READ_OUT = {"aria-label", "title", "placeholder", "alt"}
# Elements whose text nobody reads as words, or that name a key or a piece of code.
SILENT = {"script", "style", "kbd", "code"}
# Blocks within a tag: they hold attributes or names of classes.
WITHIN_TAGS = {"main_class", "body_class", "split"}
# A template that other templates include within a tag.
ONLY_ATTRIBUTES = {"assessor/desk_urls.html"}
# Files that people keep: they are in English, as a paper is.
ENGLISH = {"reports/methods_document.html"}
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")


def words_in(text: str) -> set[str]:
    """The words of a text that may be translated."""
    return set(WORD.findall(text)) - ALLOWED


class Words(HTMLParser):
    """Collect the words of text nodes and of the attributes that are read out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in the attributes, and the depth of silent elements."""
        self._silent += tag in SILENT
        for name, value in attrs:
            if name in READ_OUT:
                self._take(value or "")

    def handle_endtag(self, tag: str) -> None:
        """Leave a silent element."""
        self._silent -= tag in SILENT

    def handle_data(self, data: str) -> None:
        """Take in a text node."""
        if not self._silent:
            self._take(data)

    def _take(self, text: str) -> None:
        if words_in(text):
            self.found.append(" ".join(text.split()))


def unmarked(source: str) -> list[str]:
    """The texts of a template that stand outside of every tag for translation, and plurals made by `pluralize`."""
    kept: list[str] = []
    plurals: list[str] = []
    marked = within = False
    for token in Lexer(source).tokenize():
        name = token.contents.split(" ", 1)[0]
        if token.token_type == TokenType.BLOCK and name in {"blocktranslate", "comment"}:
            marked = True
        elif token.token_type == TokenType.BLOCK and name in {"endblocktranslate", "endcomment"}:
            marked = False
        elif token.token_type == TokenType.BLOCK and name in {"block", "endblock"}:
            within = any(token.contents == f"block {one}" for one in WITHIN_TAGS)
        elif token.token_type == TokenType.TEXT and not marked and not within:
            kept.append(token.contents)
        elif token.token_type == TokenType.VAR and "|pluralize" in token.contents:
            plurals.append(token.contents)
    words = Words()
    words.feed("".join(kept))
    words.close()
    return words.found + plurals


def finished() -> list[Path]:
    """Every template that is finished."""
    return [
        path
        for name in FINISHED
        for path in sorted(TEMPLATES.glob(name) if name.endswith(".html") else (TEMPLATES / name).rglob("*.html"))
    ]


def test_finished_templates_have_no_unmarked_words() -> None:
    found = {
        str(path.relative_to(TEMPLATES)): texts
        for path in finished()
        if str(path.relative_to(TEMPLATES)) not in ONLY_ATTRIBUTES | ENGLISH
        and (texts := unmarked(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_mails_have_no_unmarked_words() -> None:
    mails = list(TEMPLATES.rglob("*.txt"))
    assert mails
    assert [path.name for path in mails if unmarked(path.read_text(encoding="utf-8"))] == []


def test_finished_templates_compile() -> None:
    for path in finished():
        get_template(str(path.relative_to(TEMPLATES)))


def forms_of(room: str) -> Iterator[type[BaseForm]]:
    """Every form that a module of a room defines."""
    for path in sorted((settings.BASE_DIR / room).glob("*.py")):
        module = import_module(f"{room}.{path.stem}")
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, BaseForm) and one.__module__ == module.__name__:
                yield one


def unmarked_fields(form: type[BaseForm]) -> list[str]:
    """The fields of a form's own class that say something which is fixed when the module is loaded."""
    declared: dict[str, Field] = form.declared_fields  # type: ignore[attr-defined]  # both kinds of forms have it
    taken = {id(field) for base in form.__mro__[1:] for field in getattr(base, "declared_fields", {}).values()}
    return [
        name
        for name, field in declared.items()
        if id(field) not in taken and not isinstance(field.widget, HiddenInput) and not is_marked(field)
    ]


def is_marked(field: Field) -> bool:
    """Say whether the label, the help and the choices of a field are translated when shown. Codes stay as they are."""
    said = [
        label
        for value, label in shown_choices(getattr(field, "choices", ()))
        if words_in(str(label)) and str(label) != str(value).replace("_", " ")
    ]
    helps = [field.help_text] if field.help_text else []
    return all(isinstance(one, Promise) for one in (field.label, *helps, *said))


def shown_choices(choices: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Every choice with what it says, and the names of groups of choices."""
    for value, label in choices:
        if isinstance(label, (list, tuple)):
            yield "", value
            yield from label
        else:
            yield value, label


@pytest.mark.parametrize("room", ["accounts", "assessor", "organizer", "reports"])
def test_forms_say_nothing_that_is_not_translated(room: str) -> None:
    found = {form.__name__: names for form in forms_of(room) if (names := unmarked_fields(form))}
    assert found == {}


def test_a_field_with_fixed_words_is_found() -> None:
    class Fixed(Form):
        unsaid = Field()
        fixed = Field(label="Name")
        marked = Field(label=gettext_lazy("Name"))

    assert unmarked_fields(Fixed) == ["unsaid", "fixed"]


def test_what_is_not_marked_is_found() -> None:
    assert unmarked('<p aria-label="Shown">{% translate "Read" %} {{ name }}</p>') == ["Shown"]
    assert unmarked("<p>{{ n }} item{{ n|pluralize }} <kbd>Esc</kbd></p>") == ["item", "n|pluralize"]
    assert unmarked("{% blocktranslate with n=n %}Item {{ n }}{% endblocktranslate %} · Assay") == []


MESSAGES = {"Refused": 1, "Refusal": 1, "phrase": 0}
"""What is made with a message for people, and which argument that is; `makemessages` finds it there."""
MADE_ELSEWHERE = {"llmjobs/client.py", "llmjobs/sending.py"}
"""Their `Refusal` is what an endpoint answered, in its own words."""


def unmarked_messages(source: str) -> list[str]:
    """Return the messages of refusals and phrases that are put together, where no translator would find them."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and (place := MESSAGES.get(getattr(node.func, "id", ""))) is not None
        and len(node.args) > place
        and is_put_together(node.args[place])
    ]


def is_put_together(message: ast.expr) -> bool:
    """Say whether a message is made by formatting, adding or joining; a name holds one that is marked elsewhere."""
    return isinstance(message, (ast.JoinedStr, ast.BinOp)) or (
        isinstance(message, ast.Call) and getattr(message.func, "attr", "") in ("format", "join")
    )


def test_no_refusal_is_put_together() -> None:
    found = {
        name: texts
        for path in files(".py")
        if (name := named(path)).split("/")[0] in ROOMS
        and name not in MADE_ELSEWHERE
        and (texts := unmarked_messages(path.read_text("utf-8")))
    }
    assert found == {}


def test_a_refusal_that_is_put_together_is_found() -> None:
    assert unmarked_messages('raise Refused("code", f"There is no {name}.")')
    assert unmarked_messages('raise Refused("code", "There is no " + name)')
    assert unmarked_messages('raise Refused("code", ", ".join(names))')
    assert not unmarked_messages('raise Refused("code", "There is no %(name)s.", name=name)')


def test_the_words_of_the_rooms_below_are_marked() -> None:
    said = {
        value
        for name, values in vars(vocabulary).items()
        if name.isupper()
        for value in (values if isinstance(values, tuple) else (values,))
    }
    asked = {
        *(*Role, *TaskState, *Decision, *RemarkKind, *StudyKind, *Making),
        *(code.replace("_", " ") for code in (*FindingCode, *get_args(Kind))),
        *(*Job.State.values, *Notice.Kind.values, *Call.State.values, *ImportAttempt.State.values),
        *(kind.removeprefix("task.").replace("_", " ") for kind in TASK_EVENTS),
        *KINDS,
    }
    assert {str(one) for one in asked} - said == set()


def test_the_words_of_the_keys_are_marked() -> None:
    actions = default_actions()
    said = {*groups(), *(one.label for one in actions), *(word for one in actions for word in one.labels.values())}
    assert set(WORDS) == said
