"""Imports: all-or-nothing and idempotent. One module per family of files."""

from evaluation.services.importing.assignments import import_assignments
from evaluation.services.importing.base import Receipt
from evaluation.services.importing.nuggets import import_nuggets
from evaluation.services.importing.qrels import import_qrels
from evaluation.services.importing.runs import RunOptions, import_runs
from evaluation.services.importing.segments import import_segments, needed_docids
from evaluation.services.importing.support import import_support
from evaluation.services.importing.topics import import_topics

__all__ = [
    "Receipt",
    "RunOptions",
    "import_assignments",
    "import_nuggets",
    "import_qrels",
    "import_runs",
    "import_segments",
    "import_support",
    "import_topics",
    "needed_docids",
]
