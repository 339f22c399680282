"""What is measured, all of it: with the dashboard and the pages of reports beside what `plan` has."""

from loadtest.bench import plan
from loadtest.bench.plan import Benchmark, Goal, Shown

_AGREEMENT_PAGE = Benchmark(
    "agreement page",
    (
        "agreement_page.first",
        "scores.bare",
        "agreement_page.page",
        "agreement_page.whole",
        "peers.with_pandas",
        "peers.floor",
    ),
    (
        Shown("bare reading of the label rows", "scores.bare"),
        Shown("the page, cold, the first after a change", "agreement_page.first"),
        Shown(
            "the page, cold, in another process: run-level and topic-average intervals, confusion",
            "agreement_page.page",
            "cold",
            goal=Goal("ratio", 1.2),
        ),
        Shown("  of it this process's CPU", "agreement_page.page", "cold cpu"),
        Shown("the page, warm", "agreement_page.page", "warm", goal=Goal("seconds", 0.1)),
        Shown("  of it this process's CPU", "agreement_page.page", "warm cpu"),
        Shown("the pooled interval, which follows", "agreement_page.whole", "pooled"),
        Shown("the picture", "agreement_page.whole", "picture"),
        Shown("the picture again", "agreement_page.whole", "picture again"),
        Shown("pandas + scipy: scores and taus", "peers.with_pandas"),
        Shown("NumPy in memory: scores", "peers.floor", "scores"),
        Shown("NumPy in memory: taus", "peers.floor", "taus"),
    ),
    prepare=("agreement_page.prepare",),
    beside="scores.bare",
)

DASHBOARD = ("today", "work", "people", "quality", "inbox", "findings", "jobs", "runs", "topics")
"""Pages of a campaign by the names of their views."""
_DASHBOARD = Benchmark(
    "the dashboard, 301 topics, 40 assessors, 5 million events",
    ("dashboard.pages",),
    tuple(
        line
        for page in DASHBOARD
        for line in (
            Shown(f"{page}, first", "dashboard.pages", f"{page} first"),
            Shown(f"{page}, p50", "dashboard.pages", f"{page} p50"),
            Shown(f"{page}, p95", "dashboard.pages", f"{page} p95", goal=Goal("seconds", 0.3)),
            Shown(
                f"{page}, slowest query, first",
                "dashboard.pages",
                f"{page} slowest query, first",
                goal=Goal("seconds", 0.2),
            ),
            Shown(f"{page}, slowest query", "dashboard.pages", f"{page} slowest query", goal=Goal("seconds", 0.2)),
            Shown(
                f"{page}, queries, x those of a tenth of the data",
                "dashboard.pages",
                f"{page} queries",
                goal=Goal("ratio", 1.0),
                beside=("dashboard.pages", f"{page} queries of a tenth"),
            ),
        )
    ),
    prepare=("dashboard.prepare",),
    turns=1,
)

_RANDOM_CHECK = Benchmark(
    "a random check of 50 runs, 100 topics, 20 nuggets, 50 pairs a run",
    ("random_check.pages",),
    tuple(
        line
        for name, page in (("leaderboard", "corrected leaderboard"), ("check", "check's page"))
        for when in ("cold", "warm")
        for line in (
            Shown(f"the {page}, {when}", "random_check.pages", f"{name} {when}", goal=Goal("seconds", 2.0)),
            Shown("  of it this process's CPU", "random_check.pages", f"{name} {when} cpu"),
        )
    ),
    prepare=("random_check.prepare",),
    size="CHECK",
)

BENCHMARKS = plan.BENCHMARKS | {
    "random_check": _RANDOM_CHECK,
    "dashboard": _DASHBOARD,
    "agreement_page": _AGREEMENT_PAGE,
}
