"""The schema as a page tells it: operations by collection, what they take and give, and the objects they speak of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Part = Mapping[str, Any]
REFERENCE = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value is: in words, and where it is made of an object, which one."""

    text: str
    object: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter or a field of an object. `place` is where a parameter goes."""

    name: str
    kind: Kind
    text: str
    needed: bool
    place: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status that an operation answers with."""

    status: str
    text: str
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One method at one address."""

    name: str
    method: str
    path: str
    text: str
    parameters: tuple[Field, ...]
    body: Kind | None
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """An object, with its fields."""

    name: str
    text: str
    fields: tuple[Field, ...]
    kind: Kind


def operations_of(schema: Part) -> dict[str, list[Operation]]:
    """Return the operations by what they are about, in the order of the schema."""
    found: dict[str, list[Operation]] = {}
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            found.setdefault(one["tags"][0], []).append(_operation(path, method, one))
    return found


def objects_of(schema: Part) -> list[Made]:
    """Return the objects by name."""
    parts = schema["components"]["schemas"]
    return [
        Made(name, one.get("description", ""), tuple(_fields(one)), kind_of(one)) for name, one in parts.items()
    ]


def kind_of(part: Part) -> Kind:
    """Say what a value is, in a few words."""
    if "$ref" in part:
        return Kind("", part["$ref"].removeprefix(REFERENCE))
    choices = part.get("anyOf") or part.get("oneOf") or part.get("allOf")
    if choices:
        return _either([kind_of(one) for one in choices])
    names = part.get("type", "anything")
    if isinstance(names, list):
        return _either([kind_of({**part, "type": name}) for name in names])
    if names == "array":
        inner = kind_of(part["items"])
        return Kind(f"list of {inner.text}".strip(), inner.object)
    return Kind(_simple(str(names), part))


def _simple(name: str, part: Part) -> str:
    if "enum" in part:
        return " or ".join(str(one) for one in part["enum"] if one is not None)
    limits = [f"{word} {part[key]}" for key, word in LIMITS.items() if key in part]
    formatted = f"{name} ({part['format']})" if "format" in part else name
    return ", ".join([formatted, *limits])


LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "minLength": "characters at least",
    "maxLength": "characters at most",
}


def _either(kinds: list[Kind]) -> Kind:
    """Return one kind for several; null is said as a word."""
    text = " or ".join(one.text for one in kinds if one.text)
    named = next((one.object for one in kinds if one.object), "")
    return Kind(f"or {text}" if named and text else text, named)


def _operation(path: str, method: str, one: Part) -> Operation:
    content = one.get("requestBody", {}).get("content", {})
    return Operation(
        name=one["operationId"],
        method=method.upper(),
        path=path,
        text=one.get("description", ""),
        parameters=tuple(_parameter(found) for found in one.get("parameters", ())),
        body=_of_content(content),
        answers=tuple(
            Answer(status, found.get("description", ""), _of_content(found.get("content", {})))
            for status, found in one["responses"].items()
        ),
    )


def _of_content(content: Part) -> Kind | None:
    """Return what the first form of a body is, JSON before the others."""
    return next((kind_of(one["schema"]) for one in content.values()), None)


def _parameter(part: Part) -> Field:
    text = part.get("description", "")
    return Field(part["name"], kind_of(part["schema"]), text, bool(part.get("required")), part["in"])


def _fields(part: Part) -> Iterator[Field]:
    needed = set(part.get("required", ()))
    for name, one in part.get("properties", {}).items():
        yield Field(name, kind_of(one), one.get("description", ""), name in needed)
