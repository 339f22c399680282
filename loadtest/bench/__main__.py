"""Measure and print one table: `python -m loadtest.bench [NAME ...] [--json FILE] [--document]`, `make bench`.

SQLite, or PostgreSQL with `DATABASE_URL`; on either a database of its own that is dropped afterwards.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

from loadtest.bench.database import ENGINES, engine, scratch_database
from loadtest.bench.document import DOCUMENT, renewed
from loadtest.bench.measuring import Measured
from loadtest.bench.plan import Benchmark, Line, Turn, disagreement, lines_of
from loadtest.bench.plan_reports import BENCHMARKS
from web.text import plural


def main() -> None:
    options = _options()
    lines: list[Line] = []
    for name in options.names or BENCHMARKS:
        benchmark = BENCHMARKS[name]
        measured = _run(benchmark, "SMALL" if options.small else benchmark.size or "TRACK", options.turns)
        lines += measured
        if options.document and measured:
            _write(benchmark, measured, options.turns or benchmark.turns)
    print(f"{_machine()}\n")
    print(table(lines))
    if options.json:
        document = [asdict(line) | {"verdict": line.verdict, "engine": engine()} for line in lines]
        options.json.write_text(json.dumps(document, indent=2) + "\n")


def _machine() -> str:
    version, load = sys.version.split()[0], os.getloadavg()[0]
    return f"{engine()}, Python {version}, {os.cpu_count()} cores, load {load:.1f}"


def _write(benchmark: Benchmark, lines: Sequence[Line], turns: int) -> None:
    caption = f"{date.today():%d %B %Y}, {_machine()}, {turns} {plural(turns, 'turn')}."
    order = [f"{other.title}, {name}" for other in BENCHMARKS.values() for name in ENGINES]
    parts = {f"{benchmark.title}, {engine()}": f"{caption}\n\n{table(lines)}"}
    DOCUMENT.write_text(renewed(DOCUMENT.read_text(), parts, order))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all without one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    parser.add_argument("--turns", type=int, help="how often each is measured; figures are medians")
    parser.add_argument("--document", action="store_true", help="write the figures into docs/benchmarks.md")
    parser.add_argument("--small", action="store_true", help="a tiny campaign: only to see that everything runs")
    options = parser.parse_args()
    if unknown := set(options.names) - BENCHMARKS.keys():
        parser.error(f"no benchmark is named {', '.join(sorted(unknown))}")
    if options.small and options.document:
        parser.error("a tiny campaign has no figures to keep")
    return options


def _run(benchmark: Benchmark, size: str, turns: int | None) -> list[Line]:
    measured: list[Turn] = []
    with scratch_database() as url:
        for step in ("synthetic.make_database", *benchmark.prepare):
            _step(step, 0, size, url)
        for number in range(turns or benchmark.turns):
            turn: Turn = {}
            for step in benchmark.steps:
                turn[step] = _step(step, number, size, url)
                if turn[step].skipped:
                    print(f"{benchmark.title}: skipped, {turn[step].skipped}")
                    return []
            measured.append(turn)
            if disagreement(turn) > 1e-9:
                raise SystemExit(f"{benchmark.title}: the results differ, so the times mean nothing: {turn}")
    lines = lines_of(benchmark, measured)
    return [replace(line, goal=None) for line in lines] if size == "SMALL" else lines


def _step(name: str, turn: int, size: str, url: str) -> Measured:
    print(f"  {name} {turn + 1} ...", file=sys.stderr)
    command = [sys.executable, "-m", "loadtest.bench.step", name, str(turn), size]
    done = subprocess.run(command, env=os.environ | {"DATABASE_URL": url}, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed")
    return Measured.from_json(done.stdout.decode())


def table(lines: Sequence[Line]) -> str:
    cells = [["benchmark", "", "x bare", "rows/s", "seconds", "peak MB", "goal", ""]]
    cells.append(["---", "---", "---:", "---:", "---:", "---:", "---", "---"])
    cells += [_cells(line) for line in lines]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    rows = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(f"| {row} |" for row in rows)


def _cells(line: Line) -> list[str]:
    return [
        f"{line.benchmark} ({line.rows:,} rows)",
        line.what,
        "" if line.ratio is None else f"{line.ratio:.2f}" if line.ratio > 0.095 else f"{line.ratio:.3f}",
        "" if line.rate is None else f"{line.rate:,.0f}",
        f"{line.seconds:.3f}",
        f"{line.peak_mb:.0f}",
        str(line.goal or ""),
        line.verdict,
    ]


if __name__ == "__main__":
    main()
