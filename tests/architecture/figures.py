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
PAST_WORDS = {"found", "given", "made", "chosen", "named", "known", "wanted", "shown"}
"""What happened to a value, where its name should say what it is."""

STAGE_CODES = {"POST_EDIT", "MANUAL", "ASSIGN", "SUPPORT_SCRATCH", "SUPPORT_POST_EDIT", "GRADE", "BATTLE"}
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


def modules_of(root: Path) -> Iterator[Module]:
    """Yield every file of the rooms that is not empty, without migrations."""
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            text = path.read_text("utf-8")
            below = path.relative_to(root)
            if text.strip() and "migrations" not in below.parts:
                yield Module(".".join(below.with_suffix("").parts).removesuffix(".__init__"), path, text)


def importers(modules: list[Module]) -> dict[str, set[str]]:
    """Return the modules that import each module. A name that a package hands on counts for the package."""
    names = {module.name for module in modules}
    importing = defaultdict[str, set[str]](set)
    for module in modules:
        for target in set(_imported(module, names)) - {module.name}:
            importing[target].add(module.name)
    return importing


def _imported(module: Module, names: set[str]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            source = _source(module, node)
            for alias in node.names:
                yield from {f"{source}.{alias.name}"} & names or {source} & names


def _source(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    is_package = module.path.name == "__init__.py"
    parts = module.name.split(".")
    above = parts[: len(parts) - node.level + is_package]
    return ".".join([*above, *([node.module] if node.module else [])])


def duplicate_classes(modules: list[Module]) -> dict[str, int]:
    counted = Counter(
        node.name
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and node.name not in FRAMEWORK
    )
    return {name: count for name, count in counted.items() if count > 1}


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


def public_docstrings(modules: list[Module]) -> list[str]:
    public = (node for module in modules for node in functions(module) if not node.name.startswith("_"))
    return [text for text in map(ast.get_docstring, public) if text]


def repeats_a_name(docstring: str) -> bool:
    """Say whether a docstring is one line without a word that reasons and limits have."""
    return "\n" not in docstring and not any(word in docstring.lower() for word in REASONS)


def long_functions(modules: list[Module]) -> list[str]:
    return [
        f"{module.name}.{node.name}"
        for module in modules
        for node in functions(module)
        if (node.end_lineno or 0) - node.lineno + 1 > LONG_FUNCTION
    ]


def names_of_the_past(modules: list[Module]) -> int:
    nodes = (node for module in modules for node in ast.walk(module.tree))
    return sum(
        (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in PAST_WORDS)
        or (isinstance(node, ast.arg) and node.arg in PAST_WORDS)
        for node in nodes
    )


def branches_on_a_stage(modules: list[Module]) -> int:
    """Count comparisons with one stage outside the modules of stages."""
    elsewhere = (module for module in modules if not module.name.startswith("evaluation.stages"))
    compared = (node for module in elsewhere for node in ast.walk(module.tree) if isinstance(node, ast.Compare))
    return sum(
        any(isinstance(side, ast.Name) and side.id in STAGE_CODES for side in (node.left, *node.comparators))
        for node in compared
    )


def lines_below(folder: Path, *endings: str) -> int:
    return sum(len(path.read_text("utf-8").splitlines()) for end in endings for path in folder.rglob(f"*{end}"))


def figures(root: Path = ROOT) -> list[Figure]:
    modules = list(modules_of(root))
    lines = sum(module.lines for module in modules)
    single = {name for name, by in importers(modules).items() if len(by) == 1}
    single_lines = sum(module.lines for module in modules if module.name in single)
    docstrings = public_docstrings(modules)
    longest = max(modules, key=lambda module: module.lines)
    folder, files = Counter(module.path.parent for module in modules).most_common(1)[0]
    return [
        Figure("product lines of Python", lines, "at most 53,000", f"{len(modules)} files"),
        Figure("lines of scripts", lines_below(root / "static", ".js"), "at most 9,500"),
        Figure("lines of styles", lines_below(root / "static", ".css"), "at most 5,500"),
        Figure("lines of templates", lines_below(root / "templates", ".html", ".txt"), "at most 7,800"),
        Figure("lines of tests", lines_below(root / "tests", ".py"), "at most 52,000"),
        Figure("branches on a stage", branches_on_a_stage(modules), "at most 15"),
        Figure("names of what happened", names_of_the_past(modules), "at most 150", ", ".join(sorted(PAST_WORDS))),
        Figure("modules with one importer", len(single), "at most 60", f"{single_lines:,} lines"),
        Figure("duplicate class names", len(duplicate_classes(modules)), "0"),
        Figure("comments per 100 lines", round(100 * sum(map(comments, modules)) / lines, 2), "at least 2"),
        Figure(
            "docstrings without a reason",
            sum(map(repeats_a_name, docstrings)),
            "at most 600",
            f"of {len(docstrings):,} of public functions",
        ),
        Figure("longest file", longest.lines, "at most 600", longest.name),
        Figure("fullest folder", files, "at most 20", str(folder.relative_to(root))),
        Figure("functions over 60 lines", len(long_functions(modules)), "0"),
    ]


def main(root: Path) -> None:
    print(f"{'figure':<30}{'today':>10}  goal")
    for figure in figures(root):
        note = f"  ({figure.note})" if figure.note else ""
        print(f"{figure.name:<30}{figure.value:>10,}  {figure.goal}{note}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
