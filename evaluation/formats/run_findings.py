"""What a run does that a track's rules forbid or that looks wrong, though it can be loaded all the same."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evaluation.formats.addressing import addressing_in_answer, signs_in_answer
from evaluation.formats.runs import AnswerRow, RunFile, SentenceRow
from evaluation.terms import FindingCode

MSMARCO: Final = re.compile(r"msmarco_v2\.1_doc_[0-9]+_[0-9]+#[0-9]+_[0-9]+")
NAMED: Final = 10  # ids shown in a message


@dataclass(frozen=True, slots=True)
class Found:
    """One finding. Line 0 and no topic: about the run as a whole."""

    code: FindingCode
    line: int
    topic_id: str | None
    message: str


def run_findings(
    run: RunFile, *, word_limit: int | None, reference_limit: int | None, topics: Mapping[str, str]
) -> list[Found]:
    """All findings in file order; `topics` maps the campaign's topic ids to their texts, None is no limit."""
    odd_docids = _docid_check(run)
    findings: list[Found] = []
    for answer in run.answers:
        noted = [
            *_length(answer, word_limit),
            *_references(answer, reference_limit),
            *_citations(answer),
            *_topic_text(answer, topics),
            *_addressing(answer),
            *odd_docids(answer),
        ]
        findings += [Found(code, answer.line, answer.topic_id, message) for code, message in noted]
    return findings + list(_missing_topics(run, topics))


Noted = Iterator[tuple[FindingCode, str]]


def _length(answer: AnswerRow, limit: int | None) -> Noted:
    words = answer.words
    if not words:
        yield FindingCode.EMPTY_ANSWER, "the answer has no words"
    if answer.response_length is not None and answer.response_length != words:
        yield (
            FindingCode.RESPONSE_LENGTH,
            f"response_length is {answer.response_length}, the answer has {words} words",
        )
    if limit is not None and words > limit:
        yield FindingCode.ANSWER_TOO_LONG, f"{words} words, the limit is {limit}"


def _references(answer: AnswerRow, limit: int | None) -> Noted:
    count = len(answer.references)
    if limit is not None and count > limit:
        yield FindingCode.TOO_MANY_REFERENCES, f"{count} references, the limit is {limit}"
    repeated = _repeated(answer.references)
    if repeated:
        yield FindingCode.DUPLICATE_REFERENCE, f"references given more than once: {named(repeated)}"


def _citations(answer: AnswerRow) -> Noted:
    for number, sentence in enumerate(answer.sentences):
        yield from _citations_of(number, sentence, len(answer.references))


def _citations_of(number: int, sentence: SentenceRow, references: int) -> Noted:
    repeated = _repeated(citation.docid or citation.raw for citation in sentence.citations)
    if repeated:
        yield FindingCode.DUPLICATE_CITATION, f"sentence {number} cites more than once: {named(repeated)}"
    outside = [citation.raw for citation in sentence.citations if citation.docid is None]
    if outside:
        message = f"sentence {number} cites {named(outside)}, the answer has {references} references (from 0)"
        yield FindingCode.CITATION_OUT_OF_RANGE, message


def _topic_text(answer: AnswerRow, topics: Mapping[str, str]) -> Noted:
    ours, theirs = topics.get(answer.topic_id, "").split(), answer.topic_text.split()
    if ours and theirs and ours != theirs:
        yield FindingCode.TOPIC_TEXT_DIFFERS, f"the run's topic reads: {' '.join(theirs)[:200]}"


def _addressing(answer: AnswerRow) -> Noted:
    for number, sign in signs_in_answer([sentence.text for sentence in answer.sentences]):
        yield FindingCode.ADDRESSES_JUDGE, addressing_in_answer(number, sign)


def _docid_check(run: RunFile) -> "_DocidCheck":
    docids = {docid for answer in run.answers for docid in _docids(answer)}
    usual = sum(1 for docid in docids if MSMARCO.fullmatch(docid))
    return _DocidCheck(mostly_msmarco=2 * usual > len(docids))


@dataclass(frozen=True, slots=True)
class _DocidCheck:
    """Other collections have docids of their own: only a stranger among MS MARCO's is odd."""

    mostly_msmarco: bool

    def __call__(self, answer: AnswerRow) -> Noted:
        odd = [docid for docid in _docids(answer) if not MSMARCO.fullmatch(docid)] if self.mostly_msmarco else []
        if odd:
            yield FindingCode.DOCID_FORM, f"not the form of an MS MARCO V2.1 segment: {named(odd)}"


def _docids(answer: AnswerRow) -> list[str]:
    """References and cited docids, each once, in their order."""
    cited = [c.docid for sentence in answer.sentences for c in sentence.citations if c.docid is not None]
    return list(dict.fromkeys([*answer.references, *cited]))


def _missing_topics(run: RunFile, topics: Mapping[str, str]) -> Iterator[Found]:
    answered = {answer.topic_id for answer in run.answers}
    missing = [topic_id for topic_id in topics if topic_id not in answered]
    if missing:
        message = f"{len(missing)} of {len(topics)} topics have no answer: {named(missing)}"
        yield Found(FindingCode.MISSING_TOPICS, 0, None, message)


def _repeated(values: Iterable[str]) -> list[str]:
    return [value for value, times in Counter(values).items() if times > 1]


def named(ids: list[str]) -> str:
    """The first few ids for a message, and how many more."""
    more = len(ids) - NAMED
    return ", ".join(ids[:NAMED]) + (f" and {more} more" if more > 0 else "")
