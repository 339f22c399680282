"""Files into a campaign: all of a file, or nothing of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Literal, Protocol, Union, runtime_checkable

from assay_client.connection import Connection
from assay_client.errors import AssayError
from assay_client.reading import read
from assay_client.rows import ImportReceipt, TakenBack


@runtime_checkable
class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


Content = Union[str, "os.PathLike[str]", bytes, Readable, Iterable[Mapping[str, Any]]]
"""A path, the bytes of a file, an open file, or rows, which are sent as JSON lines."""

FileNames = str | Sequence[str] | None
"""The name that problems call a file; of several files a list of names."""

IN_MEMORY = 4 * 1024**2
ANSWERS = "answers"


@dataclass(frozen=True)
class Imported:
    """What an import did. `rows`: of the file, an answer each of a run. `id`: by which it can be taken back."""

    rows: int
    changed: bool
    findings: int
    id: str | None
    message: str
    receipt: ImportReceipt

    @classmethod
    def of(cls, receipt: ImportReceipt) -> Imported:
        rows = receipt.counts.get(ANSWERS) or receipt.added + receipt.changed + receipt.unchanged
        changed = receipt.id is not None
        return cls(rows, changed, receipt.findings, receipt.id, receipt.message, receipt)


class Imports:
    """Imports of a campaign. The same file twice changes nothing. Raises `Refused` with the file's problems."""

    def __init__(self, connection: Connection, campaign: str) -> None:
        self._connection, self._campaign = connection, campaign

    def topics(self, content: Content, *, name: str | None = None, replace: bool = False) -> Imported:
        return self._load("topics", content, name=name, replace=replace)

    def segments(
        self,
        content: Content,
        *more: Content,
        name: FileNames = None,
        replace: bool = False,
        needed_only: bool = False,
    ) -> Imported:
        return self._load("segments", content, *more, name=name, replace=replace, needed_only=needed_only)

    def qrels(self, content: Content, *, source: str, name: str | None = None, replace: bool = False) -> Imported:
        return self._load("qrels", content, name=name, replace=replace, source=source)

    def run(
        self,
        content: Content,
        *more: Content,
        name: FileNames = None,
        replace: bool = False,
        group: str | None = None,
        task: Literal["AG", "RAG"] | None = None,
        priority: int | None = None,
        control: bool = False,
        pool: bool = False,
    ) -> Imported:
        options = {"group": group, "task": task, "priority": priority, "control": control, "pool": pool}
        return self._load("run", content, *more, name=name, replace=replace, **options)

    def nuggets(
        self,
        content: Content,
        *,
        origin: str,
        judge: str,
        name: str | None = None,
        replace: bool = False,
        by: Literal["human", "llm"] | None = None,
        set: str | None = None,
        drafts: str | None = None,
    ) -> Imported:
        options = {"origin": origin, "judge": judge, "by": by, "set": set, "drafts": drafts}
        return self._load("nuggets", content, name=name, replace=replace, **options)

    def assignments(
        self,
        content: Content,
        *more: Content,
        origin: str,
        judge: str,
        by: Literal["human", "llm"],
        name: FileNames = None,
        replace: bool = False,
        nuggets: str | None = None,
    ) -> Imported:
        options = {"origin": origin, "judge": judge, "by": by, "nuggets": nuggets}
        return self._load("assignments", content, *more, name=name, replace=replace, **options)

    def support(
        self,
        content: Content,
        *more: Content,
        judge: str,
        by: Literal["human", "llm"],
        name: FileNames = None,
        replace: bool = False,
        condition: str | None = None,
    ) -> Imported:
        options = {"judge": judge, "by": by, "condition": condition}
        return self._load("support", content, *more, name=name, replace=replace, **options)

    def battles(
        self,
        content: Content,
        *,
        by: Literal["human", "llm"],
        name: str | None = None,
        replace: bool = False,
        judge: str | None = None,
        form: Literal["assay", "ragdoll", "arena"] | None = None,
        battle_set: str | None = None,
    ) -> Imported:
        options = {"by": by, "judge": judge, "form": form, "battle_set": battle_set}
        return self._load("battles", content, name=name, replace=replace, **options)

    def scores(
        self,
        content: Content,
        *more: Content,
        condition: str | None = None,
        name: FileNames = None,
        replace: bool = False,
        form: Literal["csv", "trec_eval", "tot", "ir_measures", "ranking", "jsonl"] | None = None,
        method: str | None = None,
        model: str | None = None,
        has_header: bool = False,
        topics_as_they_are: bool = False,
        keep_aggregates: bool = False,
    ) -> Imported:
        """Load scores by others. `condition`: the judge's or table's name, unless a `judges.yml` is among the files."""
        options = {"condition": condition, "form": form, "method": method, "model": model}
        flags = {
            "has_header": has_header,
            "topics_as_they_are": topics_as_they_are,
            "keep_aggregates": keep_aggregates,
        }
        return self._load("scores", content, *more, name=name, replace=replace, **options, **flags)

    def traces(
        self,
        content: Content,
        *more: Content,
        run: str | None = None,
        run_field: str | None = None,
        name: FileNames = None,
        replace: bool = False,
        form: Literal["ragas", "csv"] | None = None,
        question: str | None = None,
        answer: str | None = None,
        contexts: str | None = None,
        contexts_split: str | None = None,
        context_ids: str | None = None,
        topic_id: str | None = None,
        trace_id: str | None = None,
        sample: str | None = None,
        marks_from: int | None = None,
        skip_empty: bool = False,
        number_samples: bool = False,
        uncited: Literal["none", "retrieved"] | None = None,
        keep: Iterable[str] = (),
    ) -> Imported:
        """Load questions, passages and answers out of traces. `question` to `sample`: where these stand."""
        where = {"question": question, "answer": answer, "contexts": contexts, "contexts_split": contexts_split}
        keys = {"context_ids": context_ids, "topic_id": topic_id, "trace_id": trace_id, "marks_from": marks_from}
        samples = {"sample": sample, "number_samples": number_samples, "uncited": uncited}
        options = {"run": run, "run_field": run_field, "form": form, "skip_empty": skip_empty}
        keys["keep"] = ",".join(keep) or None
        return self._load(
            "traces", content, *more, name=name, replace=replace, **options, **where, **keys, **samples
        )

    def undo(self, id: str) -> str:
        """Take an import back. Returns what is gone, in words."""
        taken = self._connection.post(f"campaigns/{self._campaign}/imports/{id}/undo/")
        return read(TakenBack, taken).message

    def _load(self, kind: str, *contents: Content, name: FileNames, **options: Any) -> Imported:
        path = f"campaigns/{self._campaign}/imports/{kind}/"
        with ExitStack() as stack:
            files = _named([_opened(content, stack) for content in contents], name)
            if len(files) > 1:
                # httpx goes back to the beginning of each by itself.
                parts = [
                    ("file", (called or f"body-{number}", file)) for number, (file, called) in enumerate(files, 1)
                ]
                answer = self._connection.send(path, lambda: {"files": parts}, options, {})
            else:
                [(file, called)] = files
                # Where a length is missing, the server reads no body.
                headers = {
                    "Content-Type": "application/octet-stream",
                    "Content-Length": str(file.seek(0, os.SEEK_END)),
                }
                query = {"name": called, **options}
                answer = self._connection.send(path, lambda: {"content": _from_the_start(file)}, query, headers)
        return Imported.of(read(ImportReceipt, answer))


NamedFile = tuple[IO[bytes], str | None]


def _named(files: list[NamedFile], name: FileNames) -> list[NamedFile]:
    if not name:
        return files
    names = [name] if isinstance(name, str) else list(name)
    if len(names) != len(files):
        raise AssayError(f"name: one for each of {len(files)} files, found {len(names)}")
    return [(file, called) for (file, _), called in zip(files, names, strict=True)]


def _from_the_start(file: IO[bytes]) -> IO[bytes]:
    file.seek(0)
    return file


def _opened(content: Content, stack: ExitStack) -> NamedFile:
    """Return a file that can be read again for each try, and the name that problems call it."""
    if isinstance(content, (str, os.PathLike)):
        path = Path(content)
        return stack.enter_context(path.open("rb")), path.name
    file = stack.enter_context(SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115
    name = None
    if isinstance(content, bytes):
        file.write(content)
    elif isinstance(content, Readable):
        file.writelines(iter(lambda: content.read(IN_MEMORY), b""))
        name = getattr(content, "name", None)  # of what is no file on a disk it may be a number
    else:
        file.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in content)
    file.seek(0)  # what is not flushed yet would be missing from its length
    return file, Path(name).name if isinstance(name, str) else None
