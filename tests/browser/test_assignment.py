"""An assignment in Chromium: made by a teacher, opened, answered and handed in by a student."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from dpsco_app.lessons.lessons import step_name
from tests.browser.responsive import Ready

SLOW = 60_000
QUESTION = "Why is <img src=x onerror=alert(1)> large?"


def test_a_link_that_a_teacher_makes_leads_a_student_to_what_is_handed_in(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + "/learn")
    page.get_by_role("button", name="For teachers: an assignment").click(timeout=SLOW)
    lessons = page.get_by_role("combobox", name="Lessons, in their order")
    for slug in ("noise", "clipping"):
        expect(lessons).to_be_visible(timeout=SLOW)
        lessons.fill(step_name(slug)[:12])
        page.get_by_role("option", name=step_name(slug)).click()
        page.keyboard.press("Escape")
        ready(page, seconds=60)
    questions = page.get_by_role("textbox", name="Questions of your own")
    questions.fill(QUESTION)
    questions.blur()
    code = page.locator("[data-testid=stCode] code")
    expect(code).to_contain_text("questions=", timeout=SLOW)
    ready(page, seconds=60)
    with page.expect_download() as download:
        page.get_by_role("button", name="Sheet to print (HTML)").click()
    sheet = download.value.path().read_text(encoding="utf-8")
    assert step_name("noise") in sheet and "<img" not in sheet
    assert sheet.count("<svg ") == 2, "each of the two lessons has its figure"

    page.goto(code.inner_text().strip())
    expect(page.get_by_text(step_name("noise")).first).to_be_visible(timeout=SLOW)
    ready(page, seconds=60)
    expect(page.get_by_role("link", name="Explore", exact=True)).to_have_count(0)
    for name in ("Next", "Next"):
        page.get_by_role("button", name=name, exact=True).click()
        ready(page, seconds=60)
    expect(page.locator("main, .stMain").get_by_text(QUESTION).first).to_be_visible(timeout=SLOW)
    reply = page.get_by_role("textbox", name="Your answer to question 1")
    reply.fill("One record is enormous.")
    reply.blur()
    expect(page.locator("[data-testid=stHtml]", has_text="One record is enormous.")).to_be_visible(
        timeout=SLOW
    )
    page.wait_for_url(lambda url: "replies=" in url, timeout=SLOW)
    ready(page, seconds=60)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download to print or send (HTML)").click()
    handed = download.value.path().read_text(encoding="utf-8")
    assert "One record is enormous." in handed and "<img" not in handed
    assert "1 of 1 question answered" in handed
