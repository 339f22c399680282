"""Names that come from the command line or a form: checked as strictly as those in files."""

from evaluation.errors import Refused
from evaluation.formats.ids import name_problem


def check_name(what: str, name: str) -> str:
    """Return a judge's, set's or source's name. Raises `Refused` for one that no file could carry."""
    problem = name_problem(name)
    if problem:
        raise Refused("bad_name", f"{what}: {problem}.")
    return name
