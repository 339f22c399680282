"""What is measured: which steps each benchmark takes, and how its table's lines come from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from loadtest.bench.measuring import Measured

Turn = dict[str, Measured]
WORKERS = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class Goal:
    figure: str
    bound: float
    unit: str = "s"

    def __str__(self) -> str:
        if self.figure == "rate":
            return f">= {self.bound:,.0f} rows/s"
        return f"<= {self.bound:g} {'x' if self.figure == 'ratio' else self.unit}"

    def is_met(self, line: "Line") -> bool:
        found = getattr(line, self.figure)
        return bool(found >= self.bound if self.figure == "rate" else found <= self.bound)


@dataclass(frozen=True, slots=True)
class Shown:
    """One line to come: which step's time, under which words, beside which other step, against which goal.

    `beside` names a step and its time, where they are not the benchmark's own.
    """

    what: str
    step: str
    time: str = "all"
    less: str = ""
    rate: bool = False
    goal: Goal | None = None
    beside: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Steps taken once, then those of every turn, in order; times are medians over turns.

    `size` names one of `loadtest.bench.sizes`, where it is not the track's.
    """

    title: str
    steps: tuple[str, ...]
    shown: tuple[Shown, ...]
    prepare: tuple[str, ...] = ()
    beside: str = ""
    turns: int = 3
    size: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. `ratio` is to the benchmark's `beside` step of the same turn."""

    benchmark: str
    what: str
    seconds: float
    rows: int
    rate: float | None
    ratio: float | None
    peak_mb: float
    goal: Goal | None

    @property
    def verdict(self) -> str:
        """`met`, `missed` or nothing to say."""
        return "" if self.goal is None else "met" if self.goal.is_met(self) else "MISSED"


BENCHMARKS = {
    "runs": Benchmark(
        "import of the real runs",
        ("imports.prepare_runs", "imports.runs"),
        (Shown("import_run, rows: answers, sentences, citations", "imports.runs", rate=True),),
    ),
    "segments": Benchmark(
        "import of segments",
        ("imports.prepare_segments", "imports.segment_texts"),
        (
            Shown("import_segments", "imports.segment_texts", rate=True),
            Shown("  of it reading and checking", "imports.segment_texts", "parse", rate=True),
            Shown("  of it writing", "imports.segment_texts", "all", less="parse", rate=True),
        ),
    ),
    "labels": Benchmark(
        "import of labels",
        ("imports.prepare_labels", "imports.labels"),
        (
            Shown("import_assignments", "imports.labels", rate=True, goal=Goal("rate", 20_000)),
            Shown("  of it reading and checking", "imports.labels", "parse", rate=True),
            Shown("  of it matching and writing", "imports.labels", "all", less="parse", rate=True),
        ),
    ),
    "scores": Benchmark(
        "scores of two conditions, three taus",
        ("scores.bare", "scores.assay", "peers.with_pandas", "peers.floor", "scores.with_intervals"),
        (
            Shown("bare reading of the label rows", "scores.bare"),
            Shown("Assay, cold", "scores.assay", "cold", goal=Goal("ratio", 1.5)),
            Shown("Assay, warm", "scores.assay", "warm", goal=Goal("seconds", 0.2)),
            Shown("pandas + scipy", "peers.with_pandas"),
            Shown("NumPy in memory: scores", "peers.floor", "scores"),
            Shown("NumPy in memory: taus", "peers.floor", "taus"),
            Shown("Assay, intervals of 4000 resamples", "scores.with_intervals", "intervals"),
            Shown("Assay, warm agreement page with them", "scores.with_intervals", "page"),
        ),
        prepare=("scores.prepare",),
        beside="scores.bare",
        turns=5,
    ),
    "llm": Benchmark(
        "AutoAssign, 16 at once, 200 ms a call",
        ("llm.campaigns", "llm.bare", "llm.assay", "llm.pages"),
        (
            Shown("bare client in threads, x ideal", "llm.bare", beside=("llm.bare", "ideal")),
            Shown(
                "Assay, sending phase, x ideal",
                "llm.assay",
                rate=True,
                goal=Goal("ratio", 1.1),
                beside=("llm.assay", "ideal"),
            ),
            Shown("bare client in threads, CPU", "llm.bare", "cpu"),
            Shown(
                "Assay, CPU, x bare client",
                "llm.assay",
                "cpu",
                goal=Goal("ratio", 2.5),
                beside=("llm.bare", "cpu"),
            ),
            Shown("statements a call", "llm.assay", "statements"),
            Shown("p95 of a page, idle", "llm.pages"),
            Shown(
                "p95 of a page meanwhile, x idle",
                "llm.pages",
                "busy",
                goal=Goal("ratio", 2.0),
                beside=("llm.pages", "all"),
            ),
        ),
    ),
}


def _worker_lines(name: str, shape: str, bare: str, goals: Sequence[Goal]) -> list[Shown]:
    step = f"llm_worker.{name}"
    of_phase, of_cpu = goals
    ideal = (step, "ideal") if of_phase.figure == "ratio" else None
    return [
        Shown(f"{shape}: sending phase", step, rate=True, goal=of_phase, beside=ideal),
        Shown(f"{shape}: CPU, x bare client", step, "cpu", goal=of_cpu, beside=(bare, "cpu")),
        Shown(f"{shape}: the worker's peak, MB", step, "memory"),
    ]


BENCHMARKS["llm_worker"] = Benchmark(
    "AutoAssign by a Celery worker",
    (
        "llm.campaigns",
        "llm.bare",
        "llm_worker.usual",
        "llm.wide_campaign",
        "llm.wide_bare",
        "llm_worker.wide",
        "llm.quick_campaign",
        "llm.quick_bare",
        "llm_worker.quick",
    ),
    (
        *_worker_lines("usual", "200 ms, 16 at once", "llm.bare", (Goal("ratio", 1.1), Goal("ratio", 2.5))),
        *_worker_lines("wide", "1 s, 64 at once", "llm.wide_bare", (Goal("ratio", 1.05), Goal("ratio", 2.5))),
        *_worker_lines("quick", "10 ms, 32 at once", "llm.quick_bare", (Goal("rate", 200), Goal("ratio", 2.5))),
    ),
    turns=1,
)
BENCHMARKS["llm_scaling"] = Benchmark(
    "workers at an endpoint of 3,000 requests a minute, 500 ms a call, 16 at once each",
    tuple(f"llm_scaling.with_{number}" for number in WORKERS),
    tuple(
        line
        for number in WORKERS
        for line in (
            Shown(f"{number} worker processes", f"llm_scaling.with_{number}", rate=True),
            Shown(
                f"{number}: most requests in 60 s, by the endpoint's log",
                f"llm_scaling.with_{number}",
                "most",
                goal=Goal("seconds", 3_000, "requests"),
            ),
            Shown(
                f"{number}: requests refused as too many",
                f"llm_scaling.with_{number}",
                "refused",
                goal=Goal("seconds", 0, "requests"),
            ),
        )
    ),
    turns=1,
)

SAVE_GOALS = {1: 2.0, 8: 2.0, 32: 2.8}


def _save_lines(clients: int, goal: float, step: str = "desk.saves", kinds: Sequence[str] = ("",)) -> list[Shown]:
    """Return the lines about that many clients at once; the goals are for PostgreSQL, where many save."""
    p50, p95, beside = f"p50 {clients}", f"p95 {clients}", (step, f"bare p50 {clients}")
    lines = [Shown(f"bare view, p50, {clients} at once", step, f"bare {p50}")]
    for kind in kinds:
        what = f"Assay, {kind}p50, {clients} at once, x bare"
        lines.append(Shown(what, step, f"{kind}{p50}", goal=Goal("ratio", goal), beside=beside))
        lines.append(Shown(f"Assay, {kind}p95, {clients} at once", step, f"{kind}{p95}"))
    return lines


BENCHMARKS["saves"] = Benchmark(
    "saves at the desk",
    ("desk.saves",),
    (
        *(line for clients, goal in SAVE_GOALS.items() for line in _save_lines(clients, goal)),
        Shown("statements a save, session and user not counted", "desk.saves", "statements"),
    ),
    prepare=("desk.prepare",),
)
BENCHMARKS["desk"] = Benchmark(
    "the desk's page, 30 drafts, passages of 150 words",
    ("desk.pages",),
    (
        Shown("150 passages, p50", "desk.pages", "p50 150"),
        Shown("150 passages, p95", "desk.pages", "p95 150", goal=Goal("seconds", 0.2)),
        Shown("150 passages, KB", "desk.pages", "size 150"),
        Shown("424 passages, p50", "desk.pages", "p50 424"),
        Shown("424 passages, p95", "desk.pages", "p95 424"),
        Shown("424 passages, KB", "desk.pages", "size 424"),
    ),
    prepare=("desk.prepare",),
)
BENCHMARKS["first_label"] = Benchmark(
    "the first label in Chromium, 30 drafts, passages of 150 words",
    ("first_label.in_chromium",),
    tuple(
        Shown(f"{passages} passages, {caption}, {name}", "first_label.in_chromium", f"{what} {name} {passages}")
        for passages in ("150", "424")
        for what, caption in (("ready", "desk takes keys"), ("label", "first label saved"))
        for name in ("p50", "p95")
    ),
    prepare=("desk.prepare",),
)
BENCHMARKS["long_passage"] = Benchmark(
    "from a key to the screen in Chromium, passages of 200,000 characters",
    ("long_passage.in_chromium",),
    (
        Shown("p50", "long_passage.in_chromium", "p50"),
        Shown("p95", "long_passage.in_chromium", "p95", goal=Goal("seconds", 0.1)),
    ),
    prepare=("long_passage.prepare",),
)


LABELLED = ("assign ", "scratch ", "shown ")
BENCHMARKS["judging"] = Benchmark(
    "the judging desks, 45 answers, 16 nuggets or 270 pairs",
    ("judging.saves", "judging.pages"),
    (
        *(
            line
            for clients, goal in SAVE_GOALS.items()
            for line in _save_lines(clients, goal, "judging.saves", ("", *LABELLED))
        ),
        *(
            Shown(f"statements, {kind}{what}, session and user not counted", "judging.saves", f"{kind}{what}")
            for kind in LABELLED
            for what in ("first", "again")
        ),
        *(
            Shown(f"{kind}{part}, {figure}", "judging.pages", f"{kind}{part} {figure}")
            for kind in LABELLED
            for part in ("page", "answer")
            for figure in ("p50", "p95", "size")
        ),
    ),
    prepare=("judging.prepare",),
)


BENCHMARKS["export"] = Benchmark(
    "the API's stream of labels",
    ("export.streams",),
    tuple(
        line
        for form, rate in (("jsonl", Goal("rate", 50_000)), ("csv", None))
        for line in (
            Shown(f"{form}, all", "export.streams", form, rate=True, goal=rate),
            Shown(f"{form}, the server's CPU", "export.streams", f"{form} cpu", rate=True),
            Shown(f"{form}, first byte", "export.streams", f"{form} first", goal=Goal("seconds", 0.3)),
            Shown(
                f"{form}, MB of memory above idle",
                "export.streams",
                f"{form} memory",
                goal=Goal("seconds", 20, "MB"),
            ),
        )
    ),
    prepare=("export.prepare",),
)


def lines_of(benchmark: Benchmark, turns: Sequence[Turn]) -> list[Line]:
    return [_line(benchmark, shown, turns) for shown in benchmark.shown]


def _line(benchmark: Benchmark, shown: Shown, turns: Sequence[Turn]) -> Line:
    times = [_seconds(shown, turn) for turn in turns]
    rows = turns[0][shown.step].rows
    step, time = shown.beside or (benchmark.beside, "all")
    beside = [turn[step].seconds[time] for turn in turns] if step else []
    return Line(
        benchmark=benchmark.title,
        what=shown.what,
        seconds=median(times),
        rows=rows,
        rate=rows / median(times) if shown.rate else None,
        ratio=median(ours / theirs for ours, theirs in zip(times, beside, strict=True)) if beside else None,
        peak_mb=median(turn[shown.step].peak_mb for turn in turns),
        goal=shown.goal,
    )


def _seconds(shown: Shown, turn: Turn) -> float:
    seconds = turn[shown.step].seconds
    return seconds[shown.time] - (seconds[shown.less] if shown.less else 0.0)


def disagreement(turn: Turn) -> float:
    """Return how far the steps that compute the same values are apart at most."""
    found = [step.values for step in turn.values() if step.values]
    return max((abs(values[key] - found[0][key]) for values in found for key in found[0]), default=0.0)
