"""Print how large the code is and how plainly it is written: `make figures`.

The standard library is enough, so that the figures of any commit can be counted.
"""

import ast
import io
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "accounts",
    "api",
    "assessor",
    "config",
    "evaluation",
    "exchange",
    "jobs",
    "llmjobs",
    "organizer",
    "reports",
    "web",
)
FRAMEWORK = {"Meta", "Command", "State"}
"""Names of classes that Django or the classes around them ask for."""

REASONS = ("because", "so that", "must", "only", "never", "cannot", "unless", "raises")
FOR_TOOLS = ("# noqa", "# type:", "# pragma")
LONG_FUNCTION = 60
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: float
    goal: str = ""
    note: str = ""


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


def modules(root: Path = ROOT) -> list[Module]:
    """Return every file of the rooms that is not empty, without migrations."""
    return list(_modules(root))


def _modules(root: Path) -> Iterator[Module]:
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            text = path.read_text("utf-8")
            below = path.relative_to(root)
            if text.strip() and "migrations" not in below.parts:
                yield Module(".".join(below.with_suffix("").parts).removesuffix(".__init__"), path, text)


def importers(found: list[Module]) -> dict[str, set[str]]:
    """Return the modules that import each module. A name that a package hands on counts for the package."""
    known = {module.name for module in found}
    importing = defaultdict[str, set[str]](set)
    for module in found:
        for target in set(_imported(module, known)) - {module.name}:
            importing[target].add(module.name)
    return importing


def _imported(module: Module, known: set[str]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            source = _source(module, node)
            for alias in node.names:
                yield from {f"{source}.{alias.name}"} & known or {source} & known


def _source(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    is_package = module.path.name == "__init__.py"
    parts = module.name.split(".")
    above = parts[: len(parts) - node.level + is_package]
    return ".".join([*above, *([node.module] if node.module else [])])


def duplicate_classes(found: list[Module]) -> dict[str, int]:
    counted = Counter(
        node.name
        for module in found
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and node.name not in FRAMEWORK
    )
    return {name: count for name, count in counted.items() if count > 1}


def uses_of(word: str, found: list[Module]) -> int:
    return sum(token.type == tokenize.NAME and token.string == word for module in found for token in module.tokens)


def comments(module: Module) -> int:
    """Count lines of comments, comments behind code, and strings that explain the constant above them."""
    written = sum(
        token.type == tokenize.COMMENT and not token.string.startswith(FOR_TOOLS) for token in module.tokens
    )
    return written + sum(_is_note(above, node) for above, node in _neighbours(module.tree))


def _neighbours(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield from pairwise(body)


def _is_note(above: ast.stmt, node: ast.stmt) -> bool:
    return (
        isinstance(above, ast.Assign | ast.AnnAssign)
        and isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def functions(module: Module) -> Iterator[FUNCTION]:
    yield from (node for node in ast.walk(module.tree) if isinstance(node, FUNCTION))


def public_docstrings(found: list[Module]) -> list[str]:
    public = (node for module in found for node in functions(module) if not node.name.startswith("_"))
    return [text for text in map(ast.get_docstring, public) if text]


def repeats_a_name(docstring: str) -> bool:
    """Say whether a docstring is one line without a word that reasons and limits have."""
    return "\n" not in docstring and not any(word in docstring.lower() for word in REASONS)


def long_functions(found: list[Module]) -> list[str]:
    return [
        f"{module.name}.{node.name}"
        for module in found
        for node in functions(module)
        if (node.end_lineno or 0) - node.lineno + 1 > LONG_FUNCTION
    ]


def figures(root: Path = ROOT) -> list[Figure]:
    found = modules(root)
    lines = sum(module.lines for module in found)
    single = {name for name, by in importers(found).items() if len(by) == 1}
    docstrings = public_docstrings(found)
    longest = max(found, key=lambda module: module.lines)
    folder, files = Counter(module.path.parent for module in found).most_common(1)[0]
    return [
        Figure("Python files", len(found), "at most 345"),
        Figure("modules with one importer", len(single), "at most 60", f"{_lines_of(single, found):,} lines"),
        Figure("product lines", lines, "at most 50,000"),
        Figure("duplicate class names", len(duplicate_classes(found)), "0"),
        Figure("`said` as an identifier", uses_of("said", found), "0"),
        Figure("comments per 100 lines", round(100 * sum(map(comments, found)) / lines, 2), "at least 2"),
        Figure(
            "docstrings without a reason",
            sum(map(repeats_a_name, docstrings)),
            "at most 600",
            f"of {len(docstrings):,} of public functions",
        ),
        Figure("longest file", longest.lines, "at most 600", longest.name),
        Figure("fullest folder", files, "at most 20", str(folder.relative_to(root))),
        Figure("functions over 60 lines", len(long_functions(found)), "0"),
    ]


def _lines_of(names: set[str], found: list[Module]) -> int:
    return sum(module.lines for module in found if module.name in names)


def main(root: Path) -> None:
    print(f"{'figure':<30}{'today':>10}  goal")
    for figure in figures(root):
        note = f"  ({figure.note})" if figure.note else ""
        print(f"{figure.name:<30}{figure.value:>10,}  {figure.goal}{note}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
