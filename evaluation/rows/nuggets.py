"""Nugget sets, and the nuggets of every submitted list, as rows."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Count, Max, QuerySet

from evaluation.models import ListedNugget, NuggetEvidence, NuggetLineage, NuggetList, NuggetSet
from evaluation.rows.base import Reader, Row, Values
from evaluation.terms import Importance


class NuggetSets(Reader):
    model = NuggetSet
    paths = {"campaign": "campaign", "judges": "judge"}
    values = ("campaign", "origin", "judge", "drafts")

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        lists = NuggetList.objects.using(self.alias).filter(
            nugget_set__in=[row[0] for row in chunk], submitted=True
        )
        topics = dict(lists.order_by().values_list("nugget_set").annotate(Count("topic", distinct=True)))
        for pk, campaign, origin, judge, drafts in chunk:
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "name": self.names.nugget_set(pk),
                "origin": origin,
                "judge": self.names.judge(campaign, judge),
                "drafts": self.names.nugget_set(drafts),
                "topics": topics.get(pk, 0),
            }


class Nuggets(Reader):
    """The nuggets of submitted lists: how much each is needed, where it comes from, what it rests on."""

    model = ListedNugget
    paths = {
        "campaign": "nugget_list__nugget_set__campaign",
        "topics": "nugget_list__topic",
        "judges": "nugget_list__nugget_set__judge",
        "sets": "nugget_list__nugget_set",
    }
    values = (
        *("nugget_list__nugget_set__campaign", "nugget_list__topic__topic_id", "nugget_list__topic"),
        *("nugget_list__nugget_set", "nugget_list__version", "position", "nugget_version"),
        *("nugget_version__nugget__public_id", "nugget_version__number", "nugget_version__text"),
        *("importance", "raw_importance", "group"),
    )

    def rows(self) -> QuerySet[ListedNugget]:
        return super().rows().filter(nugget_list__submitted=True)

    def newest(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        # The version that reports read: earlier versions of a reopened list are history.
        return rows.filter(NuggetList.objects.newest_submitted_q("nugget_list__"))

    def told(self, chunk: Sequence[Values]) -> Iterator[Row]:
        wordings = [row[7] for row in chunk]
        lineage, evidence = self._lineage(wordings), self._evidence(wordings)
        newest = self._newest(chunk)
        for pk, campaign, topic_id, topic, made, version, position, wording, nugget, number, *shown in chunk:
            text, importance, raw_importance, group = shown
            yield {
                "id": pk,
                "campaign": self.names.slug(campaign),
                "topic_id": topic_id,
                "nugget_set": self.names.nugget_set(made),
                "list_version": version,
                "newest": newest.get((made, topic)) == version,
                "position": position,
                "nugget": nugget,
                "nugget_version": number,
                "text": text,
                "importance": Importance(importance).name.lower(),
                "raw_importance": raw_importance,
                "group": group,
                "lineage": lineage[wording],
                "evidence": evidence[wording],
            }

    def _newest(self, chunk: Sequence[Values]) -> dict[tuple[int, int], int]:
        lists = NuggetList.objects.using(self.alias).filter(
            submitted=True, topic__in={row[3] for row in chunk}, nugget_set__in={row[4] for row in chunk}
        )
        versions = lists.order_by().values_list("nugget_set", "topic").annotate(Max("version"))
        return {(made, topic): version for made, topic, version in versions}

    def _lineage(self, wordings: Sequence[int]) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = defaultdict(list)
        rows = NuggetLineage.objects.using(self.alias).filter(child__in=wordings).order_by("pk")
        fields = ("child", "relation", "parent__nugget__public_id", "parent__number", "parent__text")
        for child, relation, nugget, number, text in rows.values_list(*fields):
            found[child].append({"relation": relation, "nugget": nugget, "nugget_version": number, "text": text})
        return found

    def _evidence(self, wordings: Sequence[int]) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = defaultdict(list)
        rows = NuggetEvidence.objects.using(self.alias).filter(nugget_version__in=wordings).order_by("pk")
        for wording, docid, sentence in rows.values_list("nugget_version", "segment__docid", "sentence"):
            found[wording].append({"docid": docid, "sentence": sentence})
        return found
