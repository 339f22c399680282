"""An answer is read as its run wrote it, character for character: at desks, in review, in prompts and in files."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.imports.runs import import_runs
from evaluation.models import Answer, Run, Task
from llmjobs.prompt_preview import PreviewTarget, preview
from llmjobs.prompts.texts import TEMPLATES
from tests.assessor.desk_client import Window
from tests.worlds.cast import write_source
from tests.worlds.judging_desk import JudgeWorld, make_judge_world

WRITTEN = [
    "The safe pH lies in [6, 8] for most fish.",
    "> 90% of the dams are older than 50 years.",
    "【東京】では雨が降った。",
    "- 5 °C is the freezing point of this brine.",
    "In the code, a[0] is the level and a[1] the flow.",
    "The isotope [18]F , see [source code] of it .",
    "Use a <b and c> d test, <br> or <sup>2</sup>.",
    "12. The twelfth dam broke.\n13) So did the next.",
    "**Bold**, _so_, `x = y[i]`, # no heading, ~~gone~~.",
    "if a:\n    b  =  c\t# two blanks and a tab",
    r"\[ E = mc^{2} \] holds on $[0, 1)$ &amp; beyond",
    "See [the page](https://example.org/a_(b)) m² .¹",
    "  blanks before and after  ",
    "Sand moves [1].",
]


class Texts(HTMLParser):
    def __init__(self, name: str, html: str) -> None:
        super().__init__()
        self.name, self.depth, self.texts = name, 0, list[str]()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.depth:
            self.depth += 1
        elif self.name in (dict(attrs).get("class") or "").split():
            self.depth = 1
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.depth = max(self.depth - 1, 0)

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.texts[-1] += data


@pytest.fixture
def judging(db: None, tmp_path: Path) -> JudgeWorld:
    """The world of the judging desks, with one run more, which wrote all of `WRITTEN`."""
    made = make_judge_world(tmp_path, runs=2)
    answer: dict[str, object] = {"run_id": "r9", "topic_id": "t1", "topic": "", "references": ["p1"]}
    answer["answer"] = [{"text": text, "citations": [0]} for text in WRITTEN]
    import_runs(campaign=made.campaign, sources=[write_source(tmp_path, "r9.jsonl", f"{json.dumps(answer)}\n")])
    return made


def written_answer() -> str:
    return Answer.objects.get(sentences__text=WRITTEN[0]).public_id


@pytest.mark.parametrize("desk", ["assign", "scratch"])
def test_a_desk_shows_all_that_a_run_wrote(judging: JudgeWorld, desk: str) -> None:
    task: Task = getattr(judging, desk)
    window = Window(judging.client(task.assessor.username), task).open()
    html = window.client.get(window.url(f"answers/{written_answer()}/")).json()["html"]
    assert Texts("sentence-text", html).texts == WRITTEN
    assert Texts("citation-mark", html).texts == ["[1]"]
    page = window.client.get(window.url()).content.decode()
    assert len(Texts("sentence-text", page).texts) in {2, len(WRITTEN)}


def test_an_organizer_who_looks_on_reads_the_same(judging: JudgeWorld) -> None:
    Window(judging.client("ann"), judging.assign).open()
    address = reverse("organizer:view_as", args=["river", judging.assign.public_id])
    page = judging.client("olga").get(f"{address}?answer={written_answer()}").content.decode()
    assert Texts("prewrap", page).texts == WRITTEN


def test_the_page_of_a_run_shows_the_same(judging: JudgeWorld) -> None:
    run = Run.objects.get(run_id="r9")
    topic = judging.assign.topic.public_id
    page = judging.client("olga").get(f"{reverse('organizer:run', args=['river', run.pk])}?topic={topic}")
    assert Texts("prewrap", page.content.decode()).texts == WRITTEN


def test_models_and_files_get_the_same(judging: JudgeWorld) -> None:
    ask = preview(
        judging.people["olga"],
        judging.campaign,
        TEMPLATES["assign"],
        PreviewTarget(topic="t1", run="r9"),
        structured=False,
    ).ask
    sent = "".join(message.content for message in ask.messages)
    assert [text for text in WRITTEN if text not in sent] == []
    client: Client = judging.client("olga")
    rows = client.get("/api/v1/answers/?campaign=river&run=r9").json()["results"]
    assert [sentence["text"] for row in rows for sentence in row["sentences"]] == WRITTEN
