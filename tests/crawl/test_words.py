"""Words on screen are those of the glossary: no page shows a retired one, and no heading is a bare code."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from assessor.blind.guidelines import definitions_of, guidelines_of
from evaluation.models import Campaign, Event, Task
from evaluation.stages import BATTLE, STAGES
from evaluation.terms import TASK_EVENTS, Condition, FindingCode, SupportCondition
from exchange.demo_campaign import PASSWORD, SLUG, start_demo_jobs
from exchange.imports.kinds import IMPORT_KINDS
from exchange.models import Export, ImportAttempt
from jobs.models import Job
from llmjobs.client import PARAMETERS, RefusalKind
from organizer.data.forms import ExportKind
from organizer.models import TodayVisit
from reports.methods.page import prose
from reports.methods.report import methods_report
from reports.metrics.edits import EDIT_CLASSES
from tests.browser.pages.every_page import PAGES, make_every_page
from tests.browser.pages.test_every_page import addresses_of_name
from tests.worlds.demo import make_demo
from web.words import word_of

RETIRED = re.compile(
    r"\b(post-edit\w*|by hand|auto-?assign|auto-?nuggets|assignments?|segments?|qrels|reckon\w*|put aside|dry run"
    r"|harsh|sweep\w*|packets?|findings?|pooled|topic average|run level|from scratch|studies|study"
    r"|(?<!word[ -])overlap)\b",
    re.IGNORECASE,
)
SILENT = {"script", "style", "template", "code", "pre", "textarea"}
"""Elements whose text is code, or what somebody typed."""
WITHOUT_END = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
CODES_STAY = ("/api/docs/", "/audit/")
"""Codes of the API and the audit log, kinds of exports, and reports whose facts are comments of their files."""
NAMED = ("River study", "Harbour study", "Delta study", "import.", ", study ")
"""Names that people gave, those of judges of second looks, and kinds of events."""
SNAKE = re.compile(r"\b[a-z]+(_[a-z]+)+\b")
CODE = re.compile(r"[AEM]/[AM]( (against|by) [AEM]/[AM])?")


class Screen(HTMLParser):
    """Text of a page that somebody sees or hears, and its headings. Codes in grey and what is data are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.headings: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.texts += [given[name] or "" for name in ("aria-label", "title", "placeholder") if name in given]
        if tag not in WITHOUT_END:
            is_silent = (
                tag in SILENT or tag == "bdi" or "dir" in given or "code-word" in (given.get("class") or "")
            )
            self._open.append((tag, is_silent))
        if tag in {"h1", "title"}:
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tags = {tag for tag, _ in self._open}
        if tags & {"h1", "title"}:
            self.headings[-1] += data
        if not any(is_silent for _, is_silent in self._open) and data.strip():
            self.texts.append(data.strip())


def screens() -> Iterator[tuple[str, Screen]]:
    make_every_page()
    for who, names in PAGES.items():
        client = Client()
        if who != "nobody":
            assert client.login(username=who, password=PASSWORD)
        for address in [address for name in names.split() for address in addresses_of_name(name)]:
            screen = Screen()
            screen.feed(client.get(address).content.decode())
            yield f"{who} {address}", screen


COMMANDS = re.compile(r"manage\.py|command line")
FOR_PROGRAMMERS = ("/api/docs/",)


@pytest.mark.django_db
@pytest.mark.slow
def test_check_72_no_page_names_a_command() -> None:
    """Pages of a full campaign; `test_how_to_load.py` has those of an empty one, and code elements count too."""
    make_every_page()
    found = []
    for who, names in PAGES.items():
        client = Client()
        if who != "nobody":
            assert client.login(username=who, password=PASSWORD)
        for address in [address for name in names.split() for address in addresses_of_name(name)]:
            page = client.get(address).content.decode()
            if not address.endswith(FOR_PROGRAMMERS):
                found += [
                    f"{who} {address}: {page[hit.start() - 60 : hit.end() + 60]!r}"
                    for hit in COMMANDS.finditer(page)
                ]
    assert not found, f"{len(found)} places:\n" + "\n".join(found)


@pytest.mark.django_db
@pytest.mark.slow
def test_no_page_shows_a_retired_word_or_a_bare_code() -> None:
    """Checks 42 and 43."""
    found = []
    for place, screen in screens():
        headings = [text for text in screen.headings if CODE.fullmatch(text.split(" · ")[0].strip())]
        found += [f"{place}: heading {text!r}" for text in headings]
        if place.endswith(CODES_STAY):
            continue
        texts = [text for text in screen.texts if not any(name in text for name in NAMED)]
        found += [
            f"{place}: {hit[0]!r} in {text[:100]!r}"
            for text in texts
            for words in (RETIRED, SNAKE)
            for hit in words.finditer(text)
        ]
    assert not found, f"{len(found)} places:\n" + "\n".join(found)


def codes_on_pages() -> Iterator[str]:
    yield from [*FindingCode, *EDIT_CLASSES, *get_args(RefusalKind), *PARAMETERS]
    yield from (label.word for stage in STAGES.values() for label in stage.labels.by_code.values())
    yield from (kind.removeprefix("task.") for kind in TASK_EVENTS)


def test_every_code_that_pages_show_has_a_word() -> None:
    words = {code: word_of(code) for code in codes_on_pages()}
    assert {code: word for code, word in words.items() if "_" in word or "segment" in word} == {}
    # The same code is the same word wherever it stands.
    spoken = {(label.word, label.spoken) for stage in STAGES.values() for label in stage.labels.by_code.values()}
    assert {(code, words[code]) for code, _ in spoken} == spoken


TEMPLATES = Path(settings.BASE_DIR) / "templates"
CODES_OF_FILES = re.compile(r"\b([Aa]ssignments?|[Ss]egments?|[Qq]rels|scratch|llm|post-edit)\b")
TAGS = re.compile(r"<[^>]*>")
TAG = re.compile(r"\{[%{#].*?[%}#]\}", re.DOTALL)
IN_BRACKETS = re.compile(r"\([^()]*\)")


def hits(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{place}: {hit[0]!r} in {text[max(0, hit.start() - 40) : hit.end() + 40]!r}"
        for place, text in texts.items()
        for hit in RETIRED.finditer(text)
    ]


@pytest.mark.django_db
def test_check_43_mails_and_guidelines_have_the_words_of_pages() -> None:
    """Every branch of a mail counts, so that its template is read and not one mail of it."""
    mails = {str(path): TAG.sub(" ", path.read_text("utf-8")) for path in sorted(TEMPLATES.rglob("*.txt"))}
    assert len(mails) > 4
    make_demo()
    start_demo_jobs()
    mails |= {f"mail about job {job.pk}": job.title for job in Job.objects.all()}
    guidelines = {}
    for task in Task.objects.select_related("assessor"):
        found = guidelines_of(task.public_id, task.assessor)
        guidelines[f"guidelines of {task.stage}"] = TAGS.sub(" ", f"{found.text} {found.definitions}")
    guidelines["guidelines of battle"] = TAGS.sub(" ", f"{definitions_of(BATTLE)}")  # the demo compares no answers
    assert set(guidelines) == {f"guidelines of {stage}" for stage in STAGES}
    assert hits(mails | guidelines) == []


def test_check_43_no_branch_of_a_template_has_a_retired_word() -> None:
    """A crawl sees a page in one state; its template has the words of all."""
    found = {}
    for path in sorted(TEMPLATES.rglob("*.html")):
        screen = Screen()
        screen.feed(TAG.sub("", path.read_text("utf-8")))
        found[str(path.relative_to(TEMPLATES))] = "\n".join(screen.texts)
    assert "\n".join(hits(found)) == ""


@pytest.mark.django_db
def test_check_43_methods_have_the_words_of_pages() -> None:
    make_demo()
    campaign = Campaign.objects.get(slug=SLUG)
    report = methods_report(campaign)
    texts = {section.title: "\n".join(section.sentences) for section in report.sections}
    texts |= {f"prose {place}": text for place, text in enumerate(prose(campaign, report))}
    # The code of a condition or a stage stands in brackets after its words. Judges of second looks have names.
    for section in report.sections:
        for table in section.tables:
            texts[table.caption] = "\n".join(
                cell for row in table.cells for cell, _ in row if ", study " not in cell
            )
    assert hits({place: IN_BRACKETS.sub("", text).replace(SLUG, "") for place, text in texts.items()}) == []
    assert "Conditions: " in texts["Nuggets and labels"]


PICTURES = (
    "agreement/scatter.svg",
    "agreement/scatter.svg?x=llm&y=scratch",
    "agreement/topics.svg",
    "confusion/matrix.svg",
    "leaderboard/ranking.svg",
    "reports/cost/overview.svg",
    "reports/time/overview.svg",
)


@pytest.mark.django_db
def test_check_43_pictures_as_files_have_words_before_codes() -> None:
    make_demo()
    client = Client()
    assert client.login(username="olga", password=PASSWORD)
    drawn = {}
    for address in PICTURES:
        picture = client.get(f"/campaigns/{SLUG}/{address}").content.decode()
        drawn[address] = "\n".join(re.findall(r"<text[^>]*>([^<]+)</text>", picture))
        bare = re.search(r"(?<![(-])\b([AEM]/[AM]|llm|scratch)\b", drawn[address])
        assert bare is None, f"{address}: {bare}"
    assert hits({address: IN_BRACKETS.sub("", text) for address, text in drawn.items()}) == []
    assert "Edited nuggets, manual labels (E/M), vital, strict" in drawn["agreement/scatter.svg"]
    assert "Edit drafts (post-edit)" in drawn["reports/time/overview.svg"]


@pytest.mark.django_db
def test_check_43_data_and_today_name_each_kind_in_words() -> None:
    make_demo()
    campaign, now = Campaign.objects.get(slug=SLUG), timezone.now()
    Export.objects.bulk_create(
        Export(campaign=campaign, what=kind, options={"condition": condition}, expires_at=now)
        for kind, condition in zip(ExportKind, [*SupportCondition, *Condition], strict=False)
    )
    client = Client()
    assert client.login(username="olga", password=PASSWORD)
    client.get(f"/campaigns/{SLUG}/today/")
    TodayVisit.objects.update(seen_at=now - timedelta(hours=2))
    found = []
    for kind in IMPORT_KINDS:
        sent = {"files": [{"name": "f", "size": 9, "sha256": "0" * 64}], "folder": "gone", "expires_at": now}
        ImportAttempt.objects.create(campaign=campaign, kind=kind, state=ImportAttempt.State.REFUSED, **sent)
        Event.objects.create(campaign=campaign, kind=f"import.{'run' if kind == 'runs' else kind}")
        for name in ("today", "data"):
            screen = Screen()
            screen.feed(client.get(f"/campaigns/{SLUG}/{name}/").content.decode())
            found += [hit[0] for text in screen.texts for hit in CODES_OF_FILES.finditer(text)]
    assert not found


CITATIONS = (
    *(
        "agreement/?x=llm&y=scratch",
        "confusion/?rows=llm&columns=scratch",
        "reports/support/",
        "quality/",
        "data/",
    ),
    *(
        "confusion/pairs/?rows=llm&columns=scratch&cell=differ",
        "agreement/?x=llm&y=post-edit",
        "reports/group_report/",
    ),
)


@pytest.mark.django_db
def test_check_43_conditions_of_citation_labels_are_in_words() -> None:
    """Names count here too: a caption has a condition as one."""
    make_demo()
    client = Client()
    assert client.login(username="olga", password=PASSWORD)
    pages = [f"/campaigns/{SLUG}/{address}" for address in CITATIONS]
    pages += [
        address
        for name in ("organizer:run", "organizer:topic", "organizer:support_label")
        for address in addresses_of_name(name)
    ]
    found = []
    for address in pages:
        main = client.get(address).content.decode().partition("<main")[2].partition("</main>")[0]
        text = TAGS.sub(
            " ", re.sub(r'<span class="code-word">[^<]*</span>|<script.*?</script>', "", main, flags=re.DOTALL)
        )
        found += [
            f"{address}: {text[hit.start() - 40 : hit.end() + 20]!r}"
            for hit in re.finditer(r"(?<!\()\b(scratch|llm|post-edit)\b(?!\.)", text)
        ]
    assert not found, "\n".join(found)
