"""The list of topics and the page of one."""

from evaluation.models import Assignment, ConditionDefault, Judge, Run, Topic, TopicTag
from evaluation.terms import Condition, JudgeKind
from tests.worlds.campaign import HOSTILE, World


def page_of(world: World, page: str, query: str = "") -> str:
    return world.client("olga").get(world.pages()[page] + query).content.decode()


def test_the_list_finds_topics_by_words_and_says_when_none_fits(world: World) -> None:
    assert "how dams fail" not in page_of(world, "topics", "?words=bend")
    assert "No topic fits the search." in page_of(world, "topics", "?words=volcano")


def test_tags_have_a_column_where_a_topic_has_one(world: World) -> None:
    heading = '<th scope="col">Tags</th>'
    TopicTag.objects.all().delete()
    assert heading not in page_of(world, "topics")
    TopicTag.objects.create(topic=world.campaign.topics.all()[0], name="dams")
    assert heading in page_of(world, "topics")


def test_a_search_with_a_null_byte_is_no_error(world: World) -> None:
    assert "how dams fail" in page_of(world, "topics", "?words=%00")


def test_foreign_text_is_text(world: World) -> None:
    page = page_of(world, "topics")
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


def test_a_topic_shows_grades_nuggets_labels_and_answers(world: World) -> None:
    page = page_of(world, "topic")
    for text in ("On bends", "&lt;b&gt;raw&lt;/b&gt;", "text not loaded", "sand moves", "vital", "okay"):
        assert text in page
    for text in ("Sand moves.", "full support", "no citation", "d9", 'title="failed"', 'title="support"'):
        assert text in page


def test_the_grid_shows_the_judge_that_the_address_names(world: World) -> None:
    page = page_of(world, "topic")
    assert page.count("labels by") == 2
    assert "labels by person (A/M)</option>" in page
    person = next(line for line in page.split("<option") if "labels by person" in line).split('"')[1]
    assert f'value="{person}" selected' in page_of(world, "topic", f"?labels={person}")


def test_the_grid_opens_with_the_judge_that_the_leaderboard_counts(world: World) -> None:
    trial = Judge.objects.create(name="a-trial", kind=JudgeKind.LLM)
    for label in Assignment.objects.filter(judge__name="robot"):
        label.pk, label.judge = None, trial
        label.save(force_insert=True)
    ConditionDefault.objects.create(campaign=world.campaign, condition=Condition.AA, judge="robot")
    options = page_of(world, "topic").split("<option")
    assert "labels by robot" in next(option for option in options if " selected" in option)


def test_a_topic_without_anything_says_what_to_load(world: World) -> None:
    topic = Topic.objects.create(campaign=world.campaign, topic_id="t3", text="bare", position=7)
    page = world.client("olga").get(f"/campaigns/river/topics/{topic.public_id}/").content.decode()
    for kind in ("qrels", "nuggets", "runs", "assignments"):
        assert f'<a href="/campaigns/river/data/load/{kind}/">Load them</a>' in page


def test_check_87_a_run_without_an_answer_keeps_its_column(world: World) -> None:
    page = page_of(world, "topic")
    assert "no answer" not in page
    Run.objects.create(campaign=world.campaign, run_id="gamma", group="team c", task="RAG", sha256="0" * 64)
    page = " ".join(page_of(world, "topic").split())
    assert '<bdi>gamma</bdi></a> <span class="muted no-answer">no answer</span>' in page
    assert page.count('<span class="visually-hidden">no answer</span>') == 2  # one for each nugget
    assert "No answer by <bdi>gamma</bdi>." in page
