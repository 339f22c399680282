"""Names of the code are the field's nouns: none of a variable, argument, attribute or function is a private word."""

import ast
from collections.abc import Iterator

from tests.architecture.tree import files, named

PRIVATE = {"said", "told", "asked", "stood", "one", "some", "reckon", "reckoned"}


def test_no_name_is_a_private_word() -> None:
    found = {
        (named(path), name)
        for path in files(".py")
        if "migrations" not in path.parts
        for name in _names_of(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_") in PRIVATE
    }
    assert found == set()


def _names_of(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case (
                ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store())
            ):
                yield name
