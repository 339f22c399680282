"""A small campaign loaded through the commands, and how to run a command and see what it left behind.

Two topics. Run `alpha` answers both; `beta` only the first. Sentences of alpha's first answer cite d1, d2 and
nothing. Nuggets of the first topic are `bends` (vital) and `sand` (okay), of the second `dams` (vital).
"""

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.worlds.recorded import built_once

Rows = Mapping[str, Any]

TOPICS = "t1\twhy rivers bend\nt2\thow dams fail\n"
QRELS = "t1 0 d1 2\nt1 0 d2 0\nt2 0 d3 1\n"


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


def run(name: str, *args: object) -> Outcome:
    """Run a command in this process; wrong usage is 2, as at the command line."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(name, *map(str, args), stdout=out, stderr=err)
    except CommandError as error:
        return Outcome(2, out.getvalue(), str(error))
    except SystemExit as stop:
        return Outcome(int(str(stop.code)), out.getvalue(), err.getvalue())
    return Outcome(0, out.getvalue(), err.getvalue())


def load(name: str, *args: object) -> Outcome:
    """Run a command into the campaign `river`; it must succeed."""
    outcome = run(name, "--campaign", "river", *args)
    assert outcome.code == 0, outcome.err
    return outcome


def report(kind: str, *args: object) -> Any:
    """The JSON document of a report on the campaign `river`."""
    outcome = run("report", kind, "--campaign", "river", "--format", "json", *args)
    assert outcome.code == 0, outcome.err
    return outcome.json()


def refuse(name: str, *args: object, code: int = 1) -> str:
    """Run a command into the campaign `river` that must be refused and leave everything as it was."""
    before = everything()
    outcome = run(name, "--campaign", "river", *args)
    assert (outcome.code, outcome.out) == (code, ""), outcome
    assert everything() == before
    return outcome.err


def everything() -> dict[str, list[tuple[Any, ...]]]:
    models = [
        model for name in ("accounts", "evaluation", "reports") for model in apps.get_app_config(name).get_models()
    ]
    return {model._meta.label: list(model._default_manager.order_by("pk").values_list()) for model in models}


def write(folder: Path, name: str, content: str | bytes | Iterable[Rows]) -> Path:
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content)
        path.write_text(text, encoding="utf-8", newline="\n")
    return path


def sentence(text: str, *citations: int | str) -> dict[str, Any]:
    return {"text": text, "citations": list(citations)}


def answer(run_id: str, topic: str, /, *sentences: Rows, **more: Any) -> dict[str, Any]:
    line = {"run_id": run_id, "topic_id": topic, "references": ["d1", "d2", "d3"], "answer": list(sentences)}
    return line | more


def segment(docid: str, text: str = "A text.") -> dict[str, Any]:
    return {"docid": docid, "segment": text}


def nuggets(topic: str, *items: tuple[str, str]) -> dict[str, Any]:
    return {"qid": topic, "nuggets": [{"text": text, "importance": word} for text, word in items]}


def labels(run_id: str, topic: str, /, *items: tuple[str, str | None], **more: Any) -> dict[str, Any]:
    given = [{"text": text, "importance": "vital", "assignment": word} for text, word in items]
    return {"qid": topic, "run_id": run_id, "nuggets": given} | more


def judged(run_id: str, topic: str, index: int, docid: str, label: str, **more: Any) -> dict[str, Any]:
    return {"run_id": run_id, "topic_id": topic, "sentence": index, "docid": docid, "label": label} | more


ALPHA = [
    answer(
        *("alpha", "t1", sentence("Rivers bend slowly.", 0), sentence("They carry sand.", 1)),
        sentence("Nobody knows why."),
    ),
    answer("alpha", "t2", sentence("Dams fail.", 2)),
]
BETA = [answer("beta", "t1", sentence("Rivers.", 0))]
LISTS = [nuggets("t1", ("bends", "vital"), ("sand", "okay")), nuggets("t2", ("dams", "vital"))]
LABELS = [
    labels("alpha", "t1", ("bends", "support"), ("sand", "not_support")),
    labels("alpha", "t2", ("dams", "partial_support")),
    labels("beta", "t1", ("bends", "not_support"), ("sand", "support")),
]
SUPPORT = [
    judged("alpha", "t1", 0, "d1", "full_support"),
    judged("alpha", "t1", 1, "d2", "partial_support"),
]
AUTO = ("--origin", "auto", "--judge", "m")
BY_LLM = (*AUTO, "--by", "llm")
BY_ANN = ("--judge", "Ann", "--by", "human", "--condition", "scratch")


def load_corpus(folder: Path) -> None:
    assert run("create_campaign", "river", "--name", "River study").code == 0
    load("import_topics", write(folder, "topics.tsv", TOPICS))
    load("import_segments", write(folder, "segments.jsonl", [segment(docid) for docid in ("d1", "d2", "d3")]))
    load("import_qrels", "--source", "NIST", write(folder, "qrels.txt", QRELS))


def load_runs(folder: Path) -> None:
    alpha, beta = write(folder, "alpha.jsonl", ALPHA), write(folder, "beta.jsonl", BETA)
    load("import_run", "--group", "hill", "--task", "RAG", alpha)
    load("import_run", "--task", "AG", "--control", beta)


def load_nuggets(folder: Path) -> None:
    """Load the set `auto-m`."""
    load("import_nuggets", *AUTO, write(folder, "nuggets.jsonl", LISTS))


def load_labels(folder: Path) -> None:
    load("import_assignments", *BY_LLM, write(folder, "labels.jsonl", LABELS))
    load("import_support", *BY_ANN, write(folder, "support.jsonl", SUPPORT))


PARTS = (load_corpus, load_runs, load_nuggets, load_labels)


@built_once
def load_world(folder: Path, *, parts: int = len(PARTS)) -> None:
    for load_part in PARTS[:parts]:
        load_part(folder)
