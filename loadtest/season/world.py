"""The campaign of the season: topics with passages and runs, assessors and organizers. They make what is judged."""

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from accounts.models import NOTICE_VERSION, User
from evaluation.campaigns.create import CampaignFile, ProtocolSettings, add_member, create_campaign
from evaluation.formats.source import read_source
from evaluation.imports.runs import import_runs
from evaluation.judges import add_judge
from evaluation.models import Campaign
from evaluation.rules.sentences import split
from evaluation.terms import JudgeKind, Role
from llmjobs.simulator.answering import MODEL
from loadtest.desk.nugget_campaign import add_topics
from loadtest.desk.seats import Seat
from loadtest.servers.sessions import new_session

SLUG = "season"
PASSAGES, SENTENCES_OF_AN_ANSWER, MOST_NUGGETS = 8, 4, 8
CITED_EVERY = 2  # sentences
ORGANIZERS = ("olga", "omar")
FACTS = ("water", "silt", "stones", "fish", "reeds", "boats", "mills", "ice")


@dataclass(frozen=True, slots=True)
class SeasonWorld:
    """What everybody knows of the campaign. `topics`: public ids by topic id. `sessions`: of whom is signed in."""

    topics: dict[str, str]
    answers: int
    sentences: dict[str, int]
    assessors: tuple[Seat, ...]
    organizers: tuple[Seat, ...]
    sessions: dict[int, str]


def make_season(assessors: int, topics: int, answers: int) -> SeasonWorld:
    settings = ProtocolSettings(
        edited_cap=MOST_NUGGETS, draft_cap=MOST_NUGGETS, nugget_cap=MOST_NUGGETS, practice=False
    )
    campaign = create_campaign(slug=SLUG, name="Season", file=CampaignFile(protocol=settings))[0]
    questions = [f"What does river {n} carry?" for n in range(topics)]
    made, _, segments = add_topics(campaign, questions, [_passage(number) for number in range(PASSAGES)])
    add_judge(name=MODEL, kind=JudgeKind.LLM, model=MODEL)
    with TemporaryDirectory() as folder:
        files = [
            _run(Path(folder), number, topics, [segment.docid for segment in segments])
            for number in range(answers)
        ]
        import_runs(campaign=campaign, sources=[read_source(file) for file in files])
    people = [_person(campaign, f"assessor{n}", Role.ASSESSOR) for n in range(assessors)]
    heads = [_person(campaign, name, Role.ORGANIZER) for name in ORGANIZERS]
    return SeasonWorld(
        topics={topic.topic_id: topic.public_id for topic in made},
        answers=answers,
        sentences={segment.public_id: len(split(segment.text.strip())) for segment in segments},
        assessors=tuple(Seat(person.username, person.pk) for person in people),
        organizers=tuple(Seat(head.username, head.pk) for head in heads),
        sessions={person.pk: new_session(person) for person in (*people, *heads)},
    )


def _passage(number: int) -> str:
    facts = [FACTS[(number + by) % len(FACTS)] for by in range(3)]
    return " ".join(f"A river of kind {number} carries {fact} to the sea." for fact in facts)


def _run(folder: Path, number: int, topics: int, docids: list[str]) -> Path:
    path = folder / f"run{number}.jsonl"
    rows = []
    for topic in range(topics):
        sentences = [
            {
                "text": f"Sentence {n} of run {number} says that river {topic} carries {FACTS[(n + topic) % 8]}.",
                "citations": [(n + number + topic) % PASSAGES] if n % CITED_EVERY == 0 else [],
            }
            for n in range(SENTENCES_OF_AN_ANSWER)
        ]
        rows.append({"run_id": f"run{number}", "topic_id": f"t{topic}", "references": docids, "answer": sentences})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _person(campaign: Campaign, name: str, role: Role) -> User:
    user = User.objects.create(username=name, notice_version=NOTICE_VERSION)
    user.set_unusable_password()
    user.save()
    add_member(campaign=campaign, user=user, role=role)
    return user
