"""Handed-out work in a real browser: accessible, nothing sticking out, and usable by keyboard."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Membership, Topic
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from evaluation.tasks.remarks import answer_remark, remark
from evaluation.terms import RemarkKind
from tests.assessor.desk_client import Window
from tests.browser.pages.test_axe import SIZES, problems_on, sign_in
from tests.worlds.desk import DeskWorld
from tests.worlds.work import REASON, hand, make_work_world, more_topics

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture
def desk(live_server: LiveServer, tmp_path: Path) -> DeskWorld:
    """Tasks in every state, a submitted one with a lineage, remarks with and without an answer."""
    desk = make_work_world(tmp_path)
    submit_with_every_relation(desk)
    blocked, reopened, late = hand(desk, more_topics(desk.campaign, 3), "ann")
    order = TaskChange(Change.BLOCK, (blocked.public_id,), REASON)
    change_tasks(campaign=desk.campaign, order=order, actor=desk.people["olga"])
    type(late).objects.filter(pk=late.pk).update(due="2020-02-01")
    type(reopened).objects.filter(pk=reopened.pk).update(state="reopened", version=2, reopened_reason=REASON)
    remarks = [
        remark(task=desk.manual.public_id, user=desk.people["ann"], kind=kind, about="P3", text="Is this German?")
        for kind in (RemarkKind.FLAG, RemarkKind.COMMENT)
    ]
    answer_remark(
        campaign=desk.campaign, remark=remarks[0].public_id, answer="Skip it.", actor=desk.people["olga"]
    )
    return desk


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    context = chromium.new_context(base_url=live_server.url, viewport=SIZES["desk"])
    yield context.new_page()
    context.close()


LEAVE = re.compile("Leave it|Back to people")


def submit_with_every_relation(desk: DeskWorld) -> None:
    window = Window(desk.client(), desk.post_edit).open()
    window.do("merge", {"d1": 1, "d2": 1}, key="m", from_=["d1", "d2"], text="both", importance=2, evidence=[])
    parts = [{"key": key, "text": f"part {key} " * 12, "importance": 1} for key in ("s1", "s2")]
    window.do("split", {"d3": 1}, from_="d3", into=parts)
    window.do("decide", {"d4": 1}, key="d4", decision="rejected")
    window.do("edit", {"d5": 1}, key="d5", text="quite another sentence")
    window.do("importance", {"d5": 2}, key="d5", importance=2)
    window.do("add", key="a", text="a new one", importance=1, evidence=[], after=None)
    response = window.post("submit/", {"window": window.window, "seq": window.state()["seq"]})
    assert response.status_code == 200, json.loads(response.content)


def test_the_organizer_s_pages_are_accessible(desk: DeskWorld, page: Page) -> None:
    sign_in(page, "olga")
    names = ["work", "inbox", "hand_out", "change_work", "remind"]
    addresses = [reverse(f"organizer:{name}", args=["river"]) for name in names]
    addresses += [reverse("organizer:task", args=["river", desk.post_edit.public_id])]
    addresses += [reverse("organizer:task", args=["river", desk.manual.public_id])]
    assert not [problem for address in addresses for problem in problems_on(page, address)]


def test_the_assessor_s_home_is_accessible(desk: DeskWorld, page: Page) -> None:
    for name in ("ann", "ben"):
        sign_in(page, name)
        assert not problems_on(page, "/desk/")
        page.context.clear_cookies()


def test_work_is_handed_out_by_keyboard(desk: DeskWorld, page: Page) -> None:
    sign_in(page, "olga")
    page.goto(reverse("organizer:work", args=["river"]))
    page.get_by_label("Topic t3").press("Space")
    page.get_by_role("button", name="Hand out…", exact=True).press("Enter")
    page.get_by_role("radio", name=re.compile("^Write nuggets")).press("Space")
    page.get_by_role("button", name="Hand out 1 task").press("Enter")
    page.get_by_text("Handed out: 1 task.").wait_for()


def test_check_89_a_hundred_topics_all_by_keyboard(desk: DeskWorld, page: Page) -> None:
    for number in range(93):
        Topic.objects.create(
            campaign=desk.campaign, topic_id=f"n{number:02}", text=f"topic {number} " * 12, position=900 + number
        )
    sign_in(page, "olga")
    blocked: list[str] = []
    page.on("console", lambda line: blocked.append(line.text) if line.type == "error" else None)
    page.goto(reverse("organizer:work", args=["river"]))
    rows = page.locator("[data-matrix] tbody tr")
    expect(rows).to_have_count(30 + 1)  # the last line leads to the others
    first = page.get_by_label("Topic t1")
    first.focus()
    for key in ("ArrowRight", "ArrowRight", "Space"):
        page.keyboard.press(key)
    bar = page.get_by_role("group", name="With what is ticked")
    expect(bar).to_contain_text("1 task ticked")
    expect(page.get_by_role("group").filter(has_text="submitted v1")).to_be_visible()
    for shown in (60, 90, 100):
        for _ in range(29 if shown == 60 else 30):
            page.keyboard.press("ArrowDown")
        expect(rows.nth(shown - 1)).to_be_attached()
    for _ in range(10):
        page.keyboard.press("ArrowDown")
    heights = rows.evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) <= 44  # one line of chips
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    expect(bar).to_contain_text("1 topic, 1 task ticked")
    expect(bar).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(page.locator(".matrix input:checked")).to_have_count(0)
    assert not blocked


def test_all_topics_found_are_ticked_by_one_box(desk: DeskWorld, page: Page) -> None:
    for number in range(60):
        Topic.objects.create(campaign=desk.campaign, topic_id=f"n{number:02}", text="sand", position=900 + number)
    sign_in(page, "olga")
    page.goto(reverse("organizer:work", args=["river"]) + "?words=sand")
    bar = page.get_by_role("group", name="With what is ticked")
    page.get_by_role("checkbox", name="All 60 topics found").check()
    expect(bar).to_contain_text("All 60 topics found are ticked")
    page.get_by_label("Topic n29").scroll_into_view_if_needed()
    expect(page.get_by_label("Topic n59")).to_be_checked()  # it came after the tick
    page.get_by_label("Topic n07").uncheck()
    expect(bar).to_contain_text("59 topics ticked")
    page.get_by_role("checkbox", name="All 60 topics found").check()
    bar.get_by_role("button", name="Hand out…").click()
    expect(page.locator("input[name=topics]:checked")).to_have_count(60)


def test_ticks_reach_the_page_s_own_way_to_hand_out(desk: DeskWorld, page: Page) -> None:
    sign_in(page, "olga")
    work = reverse("organizer:work", args=["river"])
    for topics in ([], ["t3"], ["t3", "t4"]):
        page.goto(work)
        for topic in topics:
            page.get_by_label(f"Topic {topic}").check()
        page.get_by_role("link", name="Hand out…", exact=True).click()
        page.get_by_role("heading", name="Hand out").wait_for()
        ticked = page.locator("input[name=topics]:checked")
        if topics:
            expect(ticked).to_have_count(len(topics))
        else:
            expect(ticked.first).to_be_visible()


def test_topics_have_pages_where_no_script_runs(
    desk: DeskWorld, chromium: Browser, live_server: LiveServer
) -> None:
    for number in range(60):
        Topic.objects.create(campaign=desk.campaign, topic_id=f"n{number:02}", text="sand", position=900 + number)
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, "olga")
    page.goto(reverse("organizer:work", args=["river"]) + "?words=sand")
    expect(page.locator("input[name=topics]")).to_have_count(30)
    page.get_by_role("link", name="Topics after the first 30").click()
    expect(page.locator("input[name=topics]")).to_have_count(30)
    page.get_by_role("link", name="Previous").click()
    page.get_by_role("checkbox", name="All 60 topics found").check()
    page.get_by_role("group", name="With what is ticked").get_by_role("button", name="Hand out…").click()
    expect(page.locator("input[name=topics]:checked")).to_have_count(60)
    context.close()


def test_a_chip_s_card_opens_by_enter_and_closes_by_escape(desk: DeskWorld, page: Page) -> None:
    sign_in(page, "olga")
    page.goto(reverse("organizer:work", args=["river"]))
    chip = page.get_by_role("link", name="Ann Archer, Write nuggets, not started")
    chip.first.focus()
    page.keyboard.press("Enter")
    card = page.locator(".task-card")
    expect(card.get_by_role("link").first).to_be_focused()
    expect(card.get_by_role("link", name="Hand to…")).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(chip.first).to_be_focused()


def test_the_search_of_work_follows_what_is_typed(desk: DeskWorld, page: Page) -> None:
    sign_in(page, "olga")
    page.goto(reverse("organizer:work", args=["river"]))
    rows = page.locator("[data-matrix] tbody tr")
    page.get_by_label("Words, id or /pattern/").press_sequentially("/^t[12]/")
    expect(rows).to_have_count(2)
    expect(page.get_by_label("Words, id or /pattern/")).to_be_focused()
    page.go_back()
    page.wait_for_load_state("networkidle")  # Back reads the page anew
    page.go_forward()
    expect(rows).to_have_count(2)


def test_topics_ticked_one_by_one_stay_ticked(desk: DeskWorld, page: Page) -> None:
    sign_in(page, "olga")
    page.goto(reverse("organizer:hand_out", args=["river"]) + "?choose=ticked")
    ticked = page.locator("input[name=topics]:checked")
    expect(ticked).to_have_count(0)
    page.locator("label", has=page.locator("input[name=topics]")).filter(has_text="t3").click()
    page.get_by_role("radio", name=re.compile("^Label answers")).check()
    expect(ticked).to_have_count(1)
    expect(page.get_by_role("button", name=re.compile("^Hand out"))).to_be_disabled()
    page.get_by_role("radio", name=re.compile("^Write nuggets")).check()
    expect(ticked).to_have_count(1)
    expect(page.get_by_role("button", name="Hand out 1 task")).to_be_enabled()


def test_ticks_follow_the_chosen_stage_without_a_reload(desk: DeskWorld, page: Page) -> None:
    sign_in(page, "olga")
    page.goto(reverse("organizer:hand_out", args=["river"]) + "?stage=post-edit")
    boxes, ticked = page.locator("input[name=topics]"), page.locator("input[name=topics]:checked")
    note = page.get_by_text("No topic lacks this stage")
    page.get_by_role("radio", name=re.compile("^Label answers")).check()
    expect(ticked).to_have_count(boxes.count())
    expect(note).to_be_hidden()
    page.get_by_role("button", name="None").click()
    expect(ticked).to_have_count(0)
    page.get_by_role("radio", name=re.compile("^Write nuggets")).check()
    assert 0 < ticked.count() < boxes.count()
    page.get_by_role("button", name="All", exact=True).click()
    expect(ticked).to_have_count(boxes.count())


def test_check_67_the_preview_follows_each_change(desk: DeskWorld, page: Page) -> None:
    sign_in(page, "olga")
    page.goto(reverse("organizer:hand_out", args=["river"]) + "?stage=manual")
    preview = page.locator("#preview")
    expect(preview.get_by_role("row")).to_have_count(1 + 2)
    expect(page.get_by_role("button", name="Preview")).to_have_count(0)
    page.get_by_role("searchbox").fill("otters")
    expect(page.get_by_text("3 of 7 ticked, 1 found")).to_be_visible()
    page.get_by_role("button", name="None").click()
    expect(page.get_by_text("2 of 7 ticked, 1 found")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    for choose, caption in (
        ("None", "Hand out"),
        ("All", "Hand out 2 tasks"),
        ("Those that lack", "Hand out 2 tasks"),
    ):
        page.get_by_role("button", name=choose).first.click()
        expect(preview.get_by_role("button")).to_have_text(re.compile(f"^\\s*{caption}\\s+Ctrl Enter"))


def test_check_68_the_one_primary_button_is_in_view(desk: DeskWorld, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    hand_out_page = reverse("organizer:hand_out", args=["river"])
    [*topics] = Topic.objects.filter(campaign=desk.campaign).values_list("public_id", flat=True)
    sign_in(page, "olga")
    for query in ("?stage=manual", "?stage=manual&choose=ticked&topics=" + "&topics=".join(topics)):
        page.goto(hand_out_page + query)
        expect(page.locator(".go")).to_have_count(1)
        expect(page.locator("[data-primary]")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("radio").first).to_be_hidden()  # folded, since the matrix has chosen
    page.get_by_text("Change", exact=True).click()
    expect(page.get_by_role("radio").first).to_be_visible()
    expect(page.locator("[data-primary]")).to_be_in_viewport(ratio=1)


def test_check_91_taking_a_role_away_asks_in_a_dialog(desk: DeskWorld, page: Page) -> None:
    hand(desk, [desk.topic("t3")], "ben")
    sign_in(page, "olga")
    page.goto(reverse("organizer:people", args=["river"]))
    more = page.get_by_role("button", name="More about Ben Brook")
    dialog = page.get_by_role("dialog")
    for way in ("key", "link"):
        more.click()
        page.get_by_role("link", name="Take away the role assessor…").click()
        expect(dialog).to_have_accessible_name("Take the role assessor away from Ben Brook?")
        expect(dialog).to_contain_text("1 unfinished task")
        expect(dialog.get_by_role("link", name="t3, Write nuggets")).to_be_visible()
        if way == "key":
            page.keyboard.press("Escape")
        else:
            dialog.get_by_role("link", name=LEAVE).click()
        expect(dialog).to_be_hidden()
        expect(more).to_be_focused()
    page.get_by_role("button", name=re.compile("^⋯?More about Rita|More about rita")).click()
    page.get_by_role("link", name="Take away the role researcher…").click()
    page.get_by_role("button", name="Take away researcher from").click()
    expect(page.get_by_text("is no researcher any more")).to_be_visible()
    assert not Membership.objects.filter(user__username="rita").exists()
