"""What of a long passage a judge is sent that has a limit of words, and the place that it quotes."""

import pytest

from evaluation.models import Citation, Segment, Sentence, SupportJudgment
from jobs.models import WorkItem
from llmjobs.job_service import JobRequest, plan_support, start
from llmjobs.kinds import ITEM_KINDS
from llmjobs.models import CallUse
from llmjobs.prompt_store import Parameters, add_llm_judge, way_of
from loadtest.servers.simulator import LoggedSimulator
from tests.worlds.llm import grade_segments, make_world, work_on

LONG = "Dogs bark all night.\n\nRivers bend on soft ground.\n\nCows moo in the meadow."


@pytest.mark.django_db
def test_citations_and_grades_are_judged_by_the_best_paragraphs() -> None:
    world = make_world()
    (segment,) = grade_segments(world, 1)
    Segment.objects.filter(pk=segment.pk).update(text=LONG)
    sentence = Sentence.objects.earliest("pk")
    Sentence.objects.filter(pk=sentence.pk).update(text="A river bends where its ground is soft.")
    world.topics[0].text = "rivers on soft ground"
    world.topics[0].save()
    judge, _ = add_llm_judge(name="brief", model="m", parameters=Parameters(passage_words=6))
    pair = {"sentence": sentence.pk, "segment": segment.pk}
    grade = {"topic": world.topics[0].pk, "segment": segment.pk, "top": 3, "source": "brief"}
    for kind, payload in (("support", pair), ("relevance", grade)):
        (step,) = ITEM_KINDS[kind].begin([WorkItem(key="k", kind=kind, payload=payload)], [way_of(judge)])
        sent = next(step).messages[1].content
        assert "<passage>\n[...]\n\nRivers bend on soft ground.\n\n[...]\n</passage>" in sent


@pytest.mark.django_db
def test_of_a_long_passage_a_quote_is_asked_for_unless_the_judge_has_a_prompt_of_its_own() -> None:
    world = make_world()
    (segment,) = grade_segments(world, 1)
    pair = {"sentence": Sentence.objects.earliest("pk").pk, "segment": segment.pk}
    own, _ = add_llm_judge(name="own", model="m", prompts={"support": "support@1"})
    hot, _ = add_llm_judge(name="hot", model="m", parameters=Parameters(temperature=1.0))

    def prompts(words: int, word: str = "flow ") -> list[tuple[str, float | None]]:
        Segment.objects.filter(pk=segment.pk).update(text=word * words)
        items = [WorkItem(key=str(number), kind="support", payload=pair) for number in range(3)]
        steps = ITEM_KINDS["support"].begin(items, [way_of(judge) for judge in (world.judge, hot, own)])
        requests = [next(step) for step in steps]
        return [(request.template, request.temperature) for request in requests]

    assert prompts(400) == [("support", 0), ("support", 1), ("support", 0)]
    assert prompts(401) == [("support-quote", 0), ("support-quote", 1), ("support", 0)]
    assert [prompts(words, "流")[0][0] for words in (400, 401)] == ["support", "support-quote"]


def test_a_quote_is_kept_as_the_label_s_evidence_and_nothing_is_paid_for_twice(
    transactional_db: None, simulator: LoggedSimulator
) -> None:
    world = make_world()
    (segment,) = grade_segments(world, 1)
    Segment.objects.filter(pk=segment.pk).update(text=LONG)
    sentence = Sentence.objects.earliest("pk")
    Sentence.objects.filter(pk=sentence.pk).update(text="Rivers bend on soft ground.")
    Citation.objects.create(sentence=sentence, segment=segment, position=0, raw=segment.docid)
    judge, _ = add_llm_judge(
        name="quoting",
        model=world.judge.model,
        base_url=world.judge.base_url,
        prompts={"support": "support-quote@1"},
        parameters=Parameters(passage_words=6),
    )
    request = JobRequest(world.campaign, judge)
    start(request, "Judge citations", plan_support(request))
    work_on()
    labels = SupportJudgment.objects.values_list("label", "evidence", "quote")
    assert list(labels) == [(2, 1, "Rivers bend on soft ground.")]
    assert [note.partition(":")[0] for note in CallUse.objects.get().notes] == ["shortened"]
    assert plan_support(request).items == []
    assert len(simulator.log.served()) == 1
