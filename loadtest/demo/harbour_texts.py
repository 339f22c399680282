"""Texts of "Harbour study", made of `files/harbour/`: whole documents, answers in Markdown, a rubric, and what is true.

Seeded: the same texts whenever they are made.
"""

import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

FILES = Path(__file__).parent / "files" / "harbour"
LINES = tuple((FILES / "log.txt").read_text("utf-8").splitlines())
SHIPS = ("Marigold", "Two Sisters", "Heron", "Anna Lind", "Patience", "Old Copper", "Swift", "Winter Rose")
CARGOES = ("timber", "barley", "roof tiles", "herring", "salt", "road stone", "cork", "machine parts")
SPOTS = ("the east steps", "the coal quay", "the net lofts", "the slip", "the pilot house", "the long wall")
WINDS = ("north", "north-east", "east", "south-west", "west", "north-west")
KEEPERS = ("the lock keeper", "the pilot", "the night watch", "the sailmaker", "the clerk", "the boatman")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
LOG_MONTHS, ENTRIES, LINES_AN_ENTRY = 15, 2, 5
"""Some 3,300 words."""


class Fact(NamedTuple):
    """Fact of a topic: a criterion, a sentence of documents, and what answers say that have it whole or in half."""

    weight: int
    criterion: str
    text: str
    says: str
    partly: str


class HarbourTopic(NamedTuple):
    id: str
    place: str
    title: str
    narrative: str
    wrong: tuple[str, str]
    facts: tuple[Fact, ...]

    def docid(self, number: int) -> str:
        return f"shard_00{self.id[-2:]}7_{61_300 + 17 * number}"


HOLDS: tuple[tuple[int, ...], ...] = ((0, 2, 5), (1, 3), (4, 0), ())
"""Facts that each document of a topic holds: the first is the long one, the last is off the topic."""

OF_FORM = (
    (2, "clarity", "Has headings that name its parts"),
    (2, "references", "Names a document for every figure"),
    (1, "synthesis", "Brings together what was done and what became of it"),
    (-2, "clarity", "Says the same thing twice"),
    (0, "clarity", "Is written in short sentences"),
)
MARKS = {"s": "satisfied", "p": "partially_satisfied", "-": "not_satisfied"}
FALSE_WEIGHT = -3


class HarbourRun(NamedTuple):
    """Run: its group, the style of its answers, and for each topic how it has each fact and whether the false claim.

    `form`: how it meets each criterion of `OF_FORM`.
    """

    group: str
    style: str
    form: str
    marks: tuple[str, ...]


RUNS = {
    "cormorant-deep": HarbourRun(
        "cormorant", "headings", "sss--", ("sssssp-", "sspsss-", "ssss-s-", "sssps--", "ssss-p-")
    ),
    "gannet-tables": HarbourRun(
        "gannet", "table", "psp-s", ("ss-ps--", "s-ss-p-", "sps-s--", "ssp-p--", "s-sss--")
    ),
    "turnstone-mix": HarbourRun(
        "turnstone", "headings", "spp--", ("s-sp--s", "ps-s---", "s-p-s--", "-ss----", "sps---s")
    ),
    "plover-quick": HarbourRun(
        "plover", "plain", "-p--s", ("sp----s", "p-s----", "sp--p--", "-sp---s", "p-s----")
    ),
    "sandpiper-lite": HarbourRun(
        "sandpiper", "list", "p--ss", ("p--p--s", "ps----s", "-p---ps", "p-----s", "-p-p--s")
    ),
}


@cache
def topics() -> tuple[HarbourTopic, ...]:
    rows = tomllib.loads((FILES / "topics.toml").read_text("utf-8"))["topics"]
    return tuple(
        HarbourTopic(**row | {"wrong": tuple(row["wrong"]), "facts": tuple(Fact(*fact) for fact in row["facts"])})
        for row in rows
    )


def criteria(topic: HarbourTopic) -> list[dict[str, Any]]:
    """Rubric of a topic: its facts, its false claim, and four criteria of form."""
    facts = [
        {"text": fact.criterion, "type": "facts", "tier": "mandatory" if fact.weight > 2 else "optional"}
        | {"weight": fact.weight}
        for fact in topic.facts
    ]
    false = {"text": topic.wrong[0], "type": "facts", "weight": FALSE_WEIGHT}
    form = [{"text": text, "type": group, "weight": weight} for weight, group, text in OF_FORM]
    return [*facts, false, *form]


def marks_of(run: HarbourRun, place: int) -> str:
    """How a run meets each criterion of the topic at a place."""
    return run.marks[place] + run.form


def documents(topic: HarbourTopic) -> Iterator[dict[str, str]]:
    names = (
        f"Harbour master's log, {topic.place}",
        topic.title,
        f"{topic.place}: questions and answers",
        "Notices",
    )
    for number, (name, held) in enumerate(zip(names, HOLDS, strict=True)):
        facts = [topic.facts[fact].text for fact in held]
        months = 1 if number else LOG_MONTHS
        yield {
            "docid": topic.docid(number),
            "url": f"https://{topic.place.lower().replace(' ', '-')}.example/{number}",
            "title": name,
            "segment": "\n\n".join(_paragraphs(Random(topic.docid(number)), topic.place, months, facts)),  # noqa: S311
        }


def _paragraphs(random: Random, place: str, months: int, facts: list[str]) -> Iterator[str]:
    """Months of a log with its facts, spread over them, each at the end of an entry."""
    entries = [_entry(random) for _ in range(months * ENTRIES)]
    for number, fact in enumerate(facts, start=1):
        entries[len(entries) * number // (len(facts) + 1)] += f" {fact}"
    for month in range(months):
        yield f"{place}, {MONTHS[month % len(MONTHS)]}"
        yield from entries[month * ENTRIES : (month + 1) * ENTRIES]


def _entry(random: Random) -> str:
    lines = (
        line.format(
            ship=random.choice(SHIPS),
            cargo=random.choice(CARGOES),
            spot=random.choice(SPOTS),
            wind=random.choice(WINDS),
            who=random.choice(KEEPERS),
            n=random.randint(5, 40),
            m=random.randint(2, 4),
            nth=f"{random.randint(4, 20)}th",
        )
        for line in random.sample(LINES, LINES_AN_ENTRY)
    )
    return " ".join(f"{line[0].upper()}{line[1:]}" for line in lines)


class Said(NamedTuple):
    """Object of an answer: its text, and the documents that it cites, each with the support it gives (2, 1, 0)."""

    text: str
    cited: tuple[tuple[int, int], ...] = ()


def answer(run: HarbourRun, place: int) -> list[Said]:
    """Return the answer of a run to the topic of a place, sentence by sentence."""
    topic = topics()[place]
    said = [
        Said(fact.says if mark == "s" else fact.partly, _cited(number, run, place))
        for number, (fact, mark) in enumerate(zip(topic.facts, run.marks[place], strict=False))
        if mark != "-"
    ]
    if run.marks[place][-1] == "s":
        said.append(Said(topic.wrong[1], ((3, 0),)))
    return STYLES[run.style](topic, said)


def _cited(fact: int, run: HarbourRun, place: int) -> tuple[tuple[int, int], ...]:
    """Return documents for a fact: one that holds it first, then by turns further ones, which say it less or not."""
    holding = next(number for number, held in enumerate(HOLDS) if fact in held)
    others = [number for number in range(len(HOLDS)) if number != holding]
    support = {number: 2 if fact in HOLDS[number] else int(number < len(HOLDS) - 1) for number in others}
    count = (fact + place + len(run.style)) % 3
    return ((holding, 2), *((number, support[number]) for number in others[:count]))


def _with_headings(topic: HarbourTopic, said: list[Said]) -> list[Said]:
    half = (len(said) + 1) // 2
    return [Said(f"## {topic.title}"), *said[:half], Said("## What else to ask about"), *said[half:]]


def _in_table(topic: HarbourTopic, said: list[Said]) -> list[Said]:
    rows = [Said(f"| {number} | {one.text} |", one.cited) for number, one in enumerate(said, start=1)]
    return [Said(f"**{topic.place}** in short:"), Said("| | What was done |"), Said("| --- | --- |"), *rows]


def _plain(topic: HarbourTopic, said: list[Said]) -> list[Said]:
    return [*said, Said("More would have to be asked on the spot.")]


def _as_list(topic: HarbourTopic, said: list[Said]) -> list[Said]:
    items = [Said(f"- {one.text}", one.cited) for one in (*said, said[0])]
    return [Said(f"# {topic.place}"), *items]


STYLES = {"headings": _with_headings, "table": _in_table, "plain": _plain, "list": _as_list}


def run_lines(run_id: str) -> Iterator[dict[str, Any]]:
    run = RUNS[run_id]
    for place, topic in enumerate(topics()):
        said = answer(run, place)
        references = list(dict.fromkeys(number for one in said for number, _ in one.cited))
        yield {
            "metadata": {"team_id": run.group, "run_id": run_id, "type": "automatic RAG"}
            | {"narrative_id": topic.id, "narrative": topic.narrative},
            "references": [topic.docid(number) for number in references],
            "answer": [
                {"text": one.text, "citations": [references.index(number) for number, _ in one.cited]}
                for one in said
            ],
        }


GRADES = (3, 3, 2, 1)
"""Grade of each document of a topic; the last one of the next topic has 0."""


def graded(off: int, judge: str) -> Iterator[str]:
    """Lines of qrels in which a judge differs from the grades that are known in one of `off` cases."""
    random = Random(judge)  # noqa: S311
    everywhere = topics()
    for topic, other in zip(everywhere, (*everywhere[1:], everywhere[0]), strict=True):
        docids = chain(map(topic.docid, range(len(GRADES))), [other.docid(len(GRADES) - 1)])
        for docid, grade in zip(docids, (*GRADES, 0), strict=True):
            differs = random.randrange(off) == 0
            yield f"{topic.id} 0 {docid} {grade + 1 if differs else grade}"


UPSETS = 4
"""One battle in so many goes another way."""


def verdict(left: str, right: str, random: Random) -> str:
    """Return how a battle of two runs ends: but for upsets the better one wins."""
    if random.randrange(UPSETS) == 0:
        return random.choice(("tie", "bad", "left", "right"))
    places = list(RUNS)
    return "left" if places.index(left) < places.index(right) else "right"
