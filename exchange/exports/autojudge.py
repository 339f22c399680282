"""A condition as AutoJudge's tools read it: topics, runs, a nugget bank, grades, and a leaderboard by topic."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

import numpy as np
import yaml
from django.db import DEFAULT_DB_ALIAS

from evaluation.campaigns.pseudonyms import Hiding, hide
from evaluation.domain.conditions import NuggetCondition
from evaluation.errors import Refused
from evaluation.formats.argue import keyed_bank_line
from evaluation.formats.lines import json_line
from evaluation.formats.runs import first_ids
from evaluation.formats.topics import ID_KEYS
from evaluation.models import AnswerProvenance, Campaign, QrelSource, Run, Segment, Topic
from exchange.exports.labels import in_parts, nugget_lines
from exchange.exports.lines import DEFAULTS, condition_of_export, lines_of, policies_of_export
from exchange.exports.score_files import SCORE_FILES
from exchange.gates.baseline import Fingerprint
from exchange.gates.fingerprint import fingerprint_of
from exchange.snapshots.tables import CampaignRows
from reports.judges.tables import JudgeTable, table_of_condition
from reports.metrics.agreement import ScoreTable
from reports.metrics.arrays import Booleans
from reports.metrics.policies import Policies, policies_document
from reports.metrics.registry import scores_of
from web.text import plural

AUTOJUDGE: Final = "autojudge"
PART = 100
"""Answers whose passages are read at once."""
File = tuple[str, Iterable[str]]


@dataclass(slots=True)
class AutoJudgeFolder:
    """Files of a condition by their paths in a folder. `remarks`: what is not in them, in sentences."""

    campaign: Campaign
    choice: NuggetCondition
    policies: Policies
    options: Mapping[str, Any]
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, campaign: Campaign, options: Mapping[str, Any]) -> "AutoJudgeFolder":
        options = {**DEFAULTS, **options}
        choice = condition_of_export(campaign, options)
        if not choice.judges:
            raise Refused("no_labels", f"There are no labels under {choice} in {campaign.slug}.")
        return cls(campaign, choice, policies_of_export(campaign, options), options)

    def files(self) -> Iterator[File]:
        name = self.options["name"]
        yield f"{name}.eval.txt", self._scores()
        yield f"{name}.nuggets.jsonl", self._nuggets()
        if QrelSource.objects.filter(campaign=self.campaign).exists():
            yield f"{name}.qrels.txt", lines_of("qrels", self.campaign, {"source": self.options["source"]})
        else:
            self.remarks.append("No passage is graded, so there is no file of grades.")
        yield f"{name}.config.yml", [yaml.safe_dump(self._config(), sort_keys=False, allow_unicode=True).rstrip()]
        yield "topics.jsonl", map(_topic_line, self.campaign.topics.prefetch_related("tags"))
        for run in self.campaign.runs.all():
            # A slash of a run's name would be a folder.
            file = run.run_id.replace("%", "%25").replace("/", "%2F")
            yield f"runs/{file}.jsonl", _run_lines(run, texts=not self.options["without_texts"])

    def _scores(self) -> Iterator[str]:
        tables = [
            table_of_condition(self.choice, score.name, self.policies)
            for score in scores_of(self.policies.profile)
        ]
        whole, runs, topics = _whole(tables)
        for noun, ids in (("run", runs), ("topic", topics)):
            if ids:
                listing = f"{plural(len(ids), noun)} {first_ids(list(ids))}"
                self.remarks.append(f"Left out of the leaderboard, without every score: {listing}.")
        return SCORE_FILES["tot"](whole, {"run": "", "digits": self.options["digits"]})

    def _nuggets(self) -> Iterator[str]:
        lists = chain.from_iterable(
            nugget_lines(part.nugget_set, part.topics, line=keyed_bank_line)
            for part in self.choice.parts
            if part.nugget_set
        )
        return self._hiding().file(lists)

    def _config(self) -> dict[str, Any]:
        choice = self.choice
        prints = {
            run.run_id: Fingerprint(**fingerprint_of(choice, self.policies, run, DEFAULT_DB_ALIAS)).sha256
            for run in self.campaign.runs.all()
        }
        content = {
            "campaign": self.campaign.slug,
            "condition": str(choice),
            "judge": choice.judges_text,
            "nuggets": choice.sets_text,
            "profile": str(self.policies.profile),
            "policies": policies_document(self.policies),
        }
        return {**self._hiding().row(content), "fingerprints": prints}

    def _hiding(self) -> Hiding:
        rows = CampaignRows(self.campaign, DEFAULT_DB_ALIAS)
        return hide(self.campaign, rows.people(), rows.judges())


def _whole(tables: list[JudgeTable]) -> tuple[list[JudgeTable], tuple[str, ...], tuple[str, ...]]:
    """Return the tables of those topics in which each run has each score, and the runs and topics left out.

    The tools of AutoJudge refuse a leaderboard whose runs are not on the same topics.
    """
    table = tables[0].scores
    there: Booleans = np.all(~np.isnan(np.stack([each.scores.values for each in tables])), axis=0)
    runs: Booleans = np.any(there, axis=0)
    topics: Booleans = np.all(there[:, runs], axis=1)
    if not (topics.any() and runs.any()):
        raise Refused("no_common_topics", "There is no topic in which every run has every score.")
    whole = [
        JudgeTable(each.name, each.method, each.model, each.measure, _part(each.scores, runs, topics), {})
        for each in tables
    ]
    return whole, _named(table.run_ids, ~runs), _named(table.topic_ids, ~topics)


def _part(table: ScoreTable, runs: Booleans, topics: Booleans) -> ScoreTable:
    values = table.values[topics][:, runs]
    return ScoreTable(_named(table.run_ids, runs), _named(table.topic_ids, topics), values, table.topics[topics])


def _named(names: tuple[str, ...], mask: Booleans) -> tuple[str, ...]:
    return tuple(name for name, is_meant in zip(names, mask.tolist(), strict=True) if is_meant)


def _topic_line(topic: Topic) -> str:
    texts = {name: getattr(topic, name) or None for name in ("problem_statement", "background", "language")}
    fields = {"request_id": topic.topic_id, "title": topic.text, **texts, "body": topic.article or None}
    tags = [tag.name for tag in topic.tags.all()]
    # Another id would be read before ours; of texts the title is.
    extra = {name: value for name, value in topic.extra.items() if name not in ID_KEYS}
    return json_line({**fields, "tags": tags or None}, extra)


def _run_lines(run: Run, *, texts: bool) -> Iterator[str]:
    # Judges take one report of a run on a topic: of several samples the first.
    answers = (
        AnswerProvenance.objects.filter(run=run, sample=1).select_related("topic").order_by("topic__position")
    )
    for part in in_parts(answers.prefetch_related("answer__sentences__citations__segment"), PART):
        responses = {answer.pk: _responses(answer) for answer in part}
        docids = {docid for answer in part for docid in _docids(answer, responses[answer.pk])}
        segments = Segment.objects.filter(campaign=run.campaign_id, docid__in=docids, has_text=True)
        documents = {segment.docid: _document(segment) for segment in segments} if texts else {}
        for answer in part:
            cited = {
                docid: documents[docid] for docid in _docids(answer, responses[answer.pk]) if docid in documents
            }
            metadata = {"team_id": run.group, "run_id": run.run_id, "topic_id": answer.topic.topic_id}
            metadata |= {"type": run.task} if run.task else {}
            fields = {"metadata": metadata, "responses": responses[answer.pk], "references": answer.references}
            yield json_line({**fields, "documents": cited or None}, {})


def _responses(answer: AnswerProvenance) -> list[dict[str, Any]]:
    """Return the sentences. A citation that leads nowhere has no docid, and is left out."""
    return [
        {
            "text": sentence.text,
            "citations": [citation.segment.docid for citation in sentence.citations.all() if citation.segment],
        }
        for sentence in answer.answer.sentences.all()
    ]


def _docids(answer: AnswerProvenance, responses: list[dict[str, Any]]) -> list[str]:
    cited = (docid for response in responses for docid in response["citations"])
    return list(dict.fromkeys([*answer.references, *cited]))


def _document(segment: Segment) -> dict[str, Any]:
    more = {name: text for name in ("title", "url") if (text := getattr(segment, name))}
    return {"id": segment.docid, "text": segment.text, **more}
