"""Support labels as the track's organizers have them: a line an answer, with its sentences and their citations."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from django.db.models import QuerySet

from evaluation.formats.citation_judgments import UNJUDGED, CitationLine, SentenceLine, answer_line, support_number
from evaluation.models import AnswerProvenance, Campaign, Citation, Judge, Sentence, SupportJudgment
from evaluation.terms import SupportCondition

ANSWERS_A_PART = 200


def answer_lines(
    campaign: Campaign, condition: SupportCondition, judge: Judge, topics: Collection[int] | None = None
) -> Iterator[str]:
    """Yield the answers with a label by run and topic, and of their topics those that cite nothing.

    Citations without a label are unjudged; those that lead to no passage are left out.
    """
    labels = SupportJudgment.objects.current().filter(
        condition=condition, judge=judge, sentence__answer__topic__campaign=campaign
    )
    if topics is not None:
        labels = labels.filter(sentence__answer__topic__in=topics)
    answers = AnswerProvenance.objects.filter(
        run__campaign=campaign, topic__in=labels.values("sentence__answer__topic")
    )
    rows = answers.select_related("run", "topic").order_by("run__run_id", "topic__position", "sample").iterator()
    while part := list(islice(rows, ANSWERS_A_PART)):
        yield from _lines(part, labels)


def _lines(part: Sequence[AnswerProvenance], labels: QuerySet[SupportJudgment]) -> Iterator[str]:
    answers = [answer.answer_id for answer in part]
    of_part = labels.filter(sentence__answer__in=answers)
    judged = set(of_part.values_list("sentence__answer", flat=True))
    # Submissions ascend: of a pair that was judged again, the newest label stays.
    rows = of_part.order_by("submission").values_list("sentence", "segment", "label")
    numbers = {(sentence, segment): support_number(label) for sentence, segment, label in rows}
    citing: set[int] = set()
    citations: dict[int, list[CitationLine]] = defaultdict(list)
    fields = ("sentence__answer", "sentence", "position", "segment", "segment__docid")
    cited = Citation.objects.filter(sentence__answer__in=answers).order_by("position")
    for answer, sentence, position, segment, docid in cited.values_list(*fields):
        citing.add(answer)
        if docid is not None:
            support = numbers.get((sentence, segment), UNJUDGED)
            citations[sentence].append({"citationID": position, "reference": docid, "support": support})
    sentences: dict[int, list[SentenceLine]] = defaultdict(list)
    texts = Sentence.objects.filter(answer__in=answers).order_by("index")
    for pk, answer, index, text in texts.values_list("pk", "answer", "index", "text"):
        sentences[answer].append({"sentenceID": index, "text": text, "citations": citations[pk]})
    for answer in part:
        if answer.answer_id in judged or answer.answer_id not in citing:
            yield answer_line(answer.topic.topic_id, answer.run.run_id, answer.sample, sentences[answer.answer_id])
