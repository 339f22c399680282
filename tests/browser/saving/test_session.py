"""A session that ends is renewed above the page; another account gets nothing of the work."""

from pathlib import Path

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import User
from tests.browser.saving.desk_script import BAR, desk, drained, reword, wordings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]


@pytest.mark.walk
def test_an_ended_session_is_renewed_above_the_page(page: Page) -> None:
    page.evaluate(
        """() => {
            const field = Object.assign(document.createElement("textarea"), {id: "typing", value: "half a word"});
            document.querySelector("[data-notice=save]").after(field);
            field.focus();
            field.setSelectionRange(4, 6);
        }"""
    )
    Session.objects.all().delete()
    reword(page, "d1", "after the session")
    dialog = page.locator("#sign-in")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Username or email").fill("ann")
    dialog.get_by_label("Password").fill("wrong")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog.get_by_role("alert")).to_contain_text("not correct")
    assert wordings() == []

    dialog.get_by_label("Password").fill("ann")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    drained(page)
    place = "[document.activeElement.id, typing.value, typing.selectionStart, typing.selectionEnd]"
    assert page.evaluate(place) == ["typing", "half a word", 4, 6]
    assert wordings() == ["after the session"]


def test_another_account_neither_sees_nor_sends_the_work(page: Page) -> None:
    Session.objects.all().delete()
    reword(page, "d1", "Ann's words")
    dialog = page.locator("#sign-in")
    dialog.get_by_label("Username or email").fill("ben")
    dialog.get_by_label("Password").fill("ben")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_contain_text("Another account is signed in now")
    expect(page.locator(BAR)).to_be_hidden()
    assert wordings() == []

    dialog.get_by_label("Username or email").fill("ann")
    dialog.get_by_label("Password").fill("ann")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_be_hidden()
    drained(page)
    assert wordings() == ["Ann's words"]


def test_who_has_a_second_factor_comes_back_with_a_code(page: Page) -> None:
    ann = User.objects.get(username="ann")
    locked = get_adapter().encrypt
    Authenticator.objects.create(user=ann, type="totp", data={"secret": locked("JBSWY3DPEHPK3PXP")})
    Authenticator.objects.create(user=ann, type="recovery_codes", data={"migrated_codes": [locked("48151623")]})
    Session.objects.all().delete()
    reword(page, "d1", "after both factors")
    dialog = page.locator("#sign-in")
    dialog.get_by_label("Password").fill("ann")
    page.keyboard.press("Enter")
    code = dialog.get_by_label("Code of your app")
    expect(code).to_be_focused()
    code.fill("000000")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("not right")
    assert wordings() == []
    code.fill("48151623")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    drained(page)
    assert wordings() == ["after both factors"]


def test_who_signs_out_with_work_unsent_is_asked_first(page: Page) -> None:
    desk(page, "desk.save.halt('test')")
    reword(page, "d1", "not sent yet")
    home = page.context.new_page()
    home.goto(reverse("assessor:home"))
    sign_out = home.get_by_role("button", name="Sign out", exact=True)
    home.locator("details.menu summary").click()
    sign_out.click()
    dialog = home.get_by_role("dialog", name="1 change is not on the server")
    expect(dialog.get_by_role("button", name="Stay signed in")).to_be_focused()
    with home.expect_download() as copy:
        dialog.get_by_role("button", name="Download a copy").click()
    assert "not sent yet" in Path(copy.value.path()).read_text(encoding="utf-8")
    dialog.get_by_role("button", name="Stay signed in").click()
    expect(dialog).to_have_count(0)
    home.locator("details.menu summary").click()
    sign_out.click()
    dialog.get_by_role("button", name="Sign out and delete them").click()
    expect(home.get_by_label("Username")).to_be_visible()
