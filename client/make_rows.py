"""Writes assay_client/rows.py from docs/openapi.yaml: `make client`."""

import keyword
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "docs" / "openapi.yaml"
ROWS = HERE / "assay_client" / "rows.py"
HEAD = '''"""What the server answers, made from docs/openapi.yaml by `make client`. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
'''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
MOMENTS = {"date-time": "datetime", "date": "date"}
FILTERS = {"topic_id": "topic", "run_id": "run"}
"""Fields that the filters of lists call by another name: rows have both."""

REFERENCE = "#/components/schemas/"


def rows_text(schema: dict[str, Any]) -> str:
    schema = _with_choices_in_place(schema, schema["components"]["schemas"])
    parts = schema["components"]["schemas"]
    classes = [_class(name, parts[name]) for name in sorted(_answered(schema)) if not name.endswith("Page")]
    return _formatted("\n\n".join([HEAD, *classes]))


def _with_choices_in_place(part: Any, parts: dict[str, Any]) -> Any:
    """Return the schema with named choices in place of their names: rows have no class for them."""
    if isinstance(part, dict):
        choices = parts.get(str(part.get("$ref", "")).removeprefix(REFERENCE), {})
        if "enum" in choices:
            return choices
        return {name: _with_choices_in_place(inner, parts) for name, inner in part.items()}
    return [_with_choices_in_place(inner, parts) for inner in part] if isinstance(part, list) else part


def _answered(schema: dict[str, Any]) -> set[str]:
    """Return the names of all objects that some answer holds."""
    answers = [
        content["application/json"]
        for operations in schema["paths"].values()
        for operation in operations.values()
        for status, answer in operation["responses"].items()
        if status.startswith("2") and "application/json" in (content := answer.get("content", {}))
    ]
    names, answered = set(_references(answers)), set[str]()
    while names:
        name = names.pop()
        answered.add(name)
        names |= set(_references(schema["components"]["schemas"][name])) - answered
    return {name for name in answered if "properties" in schema["components"]["schemas"][name]}


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"].removeprefix(REFERENCE)
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _references(inner)


def _class(name: str, part: dict[str, Any]) -> str:
    lines = ["@dataclass(frozen=True, slots=True, kw_only=True)", f"class {name}:"]
    lines += _docstring(part.get("description", "An answer."))
    for field, shape in part["properties"].items():
        needed = field in part.get("required", ())
        # A field that an answer may leave out is None there.
        words = _type(shape) if needed else f"{_type(shape).removesuffix(' | None')} | None = None"
        lines.append(f"    {field}{'_' if keyword.iskeyword(field) else ''}: {words}")
        lines += _docstring(shape["description"]) if "description" in shape else []
    for field, filter_name in FILTERS.items():
        if field in part["properties"] and filter_name not in part["properties"]:
            hint = _type(part["properties"][field])
            lines += [
                "",
                "    @property",
                f"    def {filter_name}(self) -> {hint}:",
                f"        return self.{field}",
            ]
    return "\n".join(lines)


def _docstring(text: str) -> list[str]:
    first, *rest = [line for written in text.strip().splitlines() for line in textwrap.wrap(written, 105) or [""]]
    if not rest:
        # A quotation mark at the end would end the docstring.
        return [f'    """{first}"""' if not first.endswith('"') else f'    """{first} """']
    return [f'    """{first}', *(f"    {line}".rstrip() for line in rest), '    """']


def _type(part: dict[str, Any]) -> str:  # noqa: PLR0911  # a case each
    if "$ref" in part:
        return str(part["$ref"]).removeprefix(REFERENCE)
    if "anyOf" in part:
        return " | ".join(dict.fromkeys(map(_type, part["anyOf"])))
    if "enum" in part:
        return f"Literal[{', '.join(map(repr, part['enum']))}]"
    kind = part.get("type")
    if kind == "array":
        return f"list[{_type(part['items'])}]"
    if kind == "object":
        values = part.get("additionalProperties")
        return f"dict[str, {_type(values) if isinstance(values, dict) else 'Any'}]"
    if kind is None:
        return "Any"
    return MOMENTS.get(part.get("format", ""), PLAIN[kind])


def _formatted(text: str) -> str:
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(ROWS), "-"]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603


if __name__ == "__main__":
    ROWS.write_text(rows_text(yaml.safe_load(SCHEMA.read_text("utf-8"))), "utf-8")
