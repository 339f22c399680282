"""The assessor's door: what comes through is frozen, slotted and closed, and what lies behind is not reached for."""

import ast
import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from django.db import models

from tests.architecture.tree import ROOT, named

BLIND = sorted(path for path in (ROOT / "assessor" / "blind").glob("*.py") if path.stem != "__init__")
FORBIDDEN_MODULES = re.compile(
    # Who may judge is a right like the others, and says nothing of a run.
    r"(?!evaluation\.campaigns\.access(?:\.judged_by|\.may_judge)?$)"
    r"(?:llmjobs|jobs|reports|organizer|exchange|evaluation\.(?:rows|corpus|campaigns|imports|studies)"
    r"|evaluation\.models\.(?:runs|labels|judges|events))(?:\.|$)"
)
FORBIDDEN_MODELS = {
    "Run",
    "Answer",
    "AnswerProvenance",
    "Sentence",
    "Citation",
    "Judge",
    "Assignment",
    "SupportJudgment",
    "Event",
    "Finding",
    "QrelSource",
    "ConditionDefault",
    "TopicTag",
    "NuggetVersion",
    "NuggetLineage",
    "Study",
    "StudyPair",
    "RandomCheckPair",
    "BattleSet",
    "Battle",
    "SampledBattle",
    "Verdict",
}
"""A wording is read through the row or the list that the assessor made. Nothing here says who made it."""

MAY = {"judging": {"Sentence", "Citation"}}
"""A judging desk shows what an answer says and cites. Whose it is stands elsewhere."""

FORBIDDEN_LOOKUPS = re.compile(
    r"__(?:judge|run|runs|group|model|base_url|docid|extra|actor|raw_importance)\b|^judge$|^run_id$"
)
DOORS = (
    *(
        "evaluation.models",
        "evaluation.rows",
        "evaluation.corpus",
        "evaluation.campaigns",
        "llmjobs",
        "reports",
        "organizer",
    ),
    "django.db",
    "django.apps.apps",
    "django.apps.registry",
)
ROOM = [
    *sorted((ROOT / "assessor" / "views").glob("*.py")),
    *sorted((ROOT / "assessor" / "templatetags").glob("*.py")),
    ROOT / "assessor" / "access.py",
    ROOT / "assessor" / "urls.py",
]


def module_of(path: Path) -> ModuleType:
    return importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def types_of(path: Path) -> list[type]:
    found = [cls for _, cls in inspect.getmembers(module_of(path), inspect.isclass)]
    return [
        cls for cls in found if cls.__module__ == module_of(path).__name__ and not cls.__name__.startswith("_")
    ]


DATA = [cls for path in BLIND for cls in types_of(path) if dataclasses.is_dataclass(cls)]


def parts_of(hint: Any) -> Iterator[Any]:
    yield get_origin(hint) or hint
    for part in get_args(hint):
        yield from parts_of(part)


def test_there_are_blind_reads() -> None:
    assert len(BLIND) >= 6
    assert len(DATA) >= 15


@pytest.mark.parametrize("path", BLIND, ids=named)
def test_every_public_class_is_a_dataclass_or_a_word(path: Path) -> None:
    plain = [
        cls.__name__ for cls in types_of(path) if not dataclasses.is_dataclass(cls) and not issubclass(cls, str)
    ]
    assert plain == []


@pytest.mark.parametrize("data", DATA, ids=lambda cls: cls.__name__)
def test_it_is_frozen_and_slotted(data: type) -> None:
    assert data.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(data)
    assert not hasattr(data, "__dict__") or "__dict__" not in data.__slots__  # type: ignore[attr-defined]


@pytest.mark.parametrize("data", DATA, ids=lambda cls: cls.__name__)
def test_no_field_holds_a_row_or_a_query(data: type) -> None:
    """Nor something that may be changed, but for the one JSON that the desk's script reads."""
    for name, hint in get_type_hints(data).items():
        parts = list(parts_of(hint))
        classes = [part for part in parts if isinstance(part, type)]
        assert not [cls for cls in classes if issubclass(cls, models.Model | models.QuerySet | models.Manager)], (
            name
        )
        if (data.__name__, name) != ("DeskPage", "state"):
            assert not {list, dict, set, Any, object} & set(parts), f"{data.__name__}.{name}"
        inner = [cls for cls in classes if dataclasses.is_dataclass(cls)]
        assert all(cls.__dataclass_params__.frozen for cls in inner), name  # type: ignore[attr-defined]


@pytest.mark.parametrize("data", DATA, ids=lambda cls: cls.__name__)
def test_no_field_is_named_for_a_secret(data: type) -> None:
    secret = {*("judge", "model", "run", "run_id", "group", "grade", "docid", "score", "rank", "label", "origin")}
    secret |= {*("assessor", "user", "actor", "qrels", "source", "drafts", "nugget_set", "pk", "id", "payload")}
    assert {field.name for field in dataclasses.fields(data)} & secret == set()


@pytest.mark.parametrize("path", BLIND, ids=named)
def test_a_blind_read_imports_nothing_that_tells(path: Path) -> None:
    modules, names = imports_of(path)
    assert [module for module in modules if FORBIDDEN_MODULES.match(module)] == []
    assert names & FORBIDDEN_MODELS - MAY.get(path.stem, set()) == set()


@pytest.mark.parametrize("path", BLIND, ids=named)
def test_a_blind_read_looks_nothing_up_that_tells(path: Path) -> None:
    lookups = [word for word in words_of(path) if FORBIDDEN_LOOKUPS.search(word)]
    # The order of reading goes by docids, which stay in that module.
    allowed = {"segment__docid"} if path.stem == "passages" else set()
    assert set(lookups) - allowed == set()


@pytest.mark.parametrize("path", ROOM, ids=named)
def test_the_assessor_s_room_reaches_for_no_model(path: Path) -> None:
    """Neither by import nor through the registry of apps or a service's own imports."""
    modules, names = imports_of(path)
    assert [module for module in modules if module.startswith(DOORS)] == []
    assert names & {"get_model", "Task", "Campaign", "connection", *FORBIDDEN_MODELS} == set()
    assert "get_model" not in path.read_text(encoding="utf-8")


def test_the_rules_can_find_something() -> None:
    modules, names = imports_of(ROOT / "organizer" / "campaigns" / "views.py")
    assert any(FORBIDDEN_MODULES.match(module) for module in modules)
    _, names = imports_of(ROOT / "evaluation" / "corpus" / "answers.py")
    assert names & FORBIDDEN_MODELS
    assert any(FORBIDDEN_LOOKUPS.search(word) for word in words_of(ROOT / "evaluation" / "corpus" / "runs.py"))


def imports_of(path: Path) -> tuple[set[str], set[str]]:
    modules, names = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {alias.name for alias in node.names}
    return modules, names


def words_of(path: Path) -> list[str]:
    """The strings in a file that could be lookups, and the names of arguments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    strings = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    arguments = [node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg]
    return [word for word in [*strings, *arguments] if re.fullmatch(r"\w+", word)]
