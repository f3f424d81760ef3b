"""Learn in Chromium: the path by keyboard, what teachers hide, large type, a phone."""

from __future__ import annotations

import time
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dpsco_app.lessons.lessons import BY_SLUG, SLUGS
from dpsco_app.lessons.words import WORDS
from dpsco_app.shell.teaching import SCALE
from dpsco_core.base.parsing import to_text
from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone, figure

SLOW = 60_000


def prediction(page: Page, slug: str) -> Locator:
    """Return the place where a lesson asks for a prediction."""
    return page.locator(f".st-key-learn_predict_{slug}")


def next_button(page: Page) -> Locator:
    """Return the button that leads to the next step."""
    return page.locator(".st-key-learn_next").get_by_role("button")


def predict_and_run_by_key(page: Page, slug: str, ready: Ready) -> None:
    """Make a prediction without a mouse, and run."""
    if BY_SLUG[slug].choices:
        choice = prediction(page, slug).get_by_role("radio").first
        choice.focus()
        choice.press("Space")
        expect(choice).to_be_checked()
    else:
        prediction(page, slug).get_by_role("slider").press("ArrowRight")
    expect(page.get_by_role("button", name="Run and see")).to_be_enabled(timeout=SLOW)
    ready(page, seconds=60)
    # The shortcut works from the slider and from the choice of answers.
    page.keyboard.press("Control+Enter")


def test_the_path_can_be_walked_by_keyboard(page: Page, dashboard: str, ready: Ready) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(dashboard + "/learn?lesson=heavy-tails")
    for slug in SLUGS[:3]:  # The whole path is covered by tests/app/places/test_learn.py.
        expect(page.get_by_role("heading", name=WORDS[slug].title)).to_be_visible(timeout=SLOW)
        expect(page.locator(".head h2")).to_have_text(WORDS[slug].preview_title, timeout=SLOW)
        ready(page, seconds=60)
        plot = figure(page, "learn")
        expect(plot).to_be_visible(timeout=SLOW)
        old_box = plot.bounding_box()
        expect(next_button(page)).to_be_in_viewport()
        assert old_box and old_box["y"] + old_box["height"] <= 900
        # Two lessons, with either kind of prediction, are run; the others are only opened.
        if slug in SLUGS[:2]:
            predict_and_run_by_key(page, slug, ready)
            expect(page.locator(".st-key-learn_said")).to_contain_text(
                "You chose" if BY_SLUG[slug].choices else "You predicted", timeout=SLOW
            )
            expect(page.get_by_text("Why.", exact=True)).to_be_visible(timeout=SLOW)
            ready(page, seconds=60)
            new_box = plot.bounding_box()
            assert new_box and new_box["y"] == pytest.approx(old_box["y"], abs=2)
            follow = next_button(page)
            follow.focus()
            follow.press("Enter")
            next_slug = SLUGS[SLUGS.index(slug) + 1]
            page.wait_for_url(
                lambda url, next_slug=next_slug: f"lesson={next_slug}" in url, timeout=SLOW
            )
    place = page.locator(".st-key-learn_place")
    expect(place).to_contain_text("1")
    marks = place.inner_text()
    page.reload()  # The prediction is in the address, and the lesson is measured again.
    expect(page.locator(".st-key-learn_forget")).to_be_visible(timeout=SLOW)
    ready(page, seconds=60)
    assert place.inner_text() == marks


def test_a_prediction_is_drawn_into_the_figure_and_the_trials_beside_it(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(dashboard + "/learn?lesson=noise")
    expect(figure(page, "learn", "compact")).to_be_visible(timeout=SLOW)
    ready(page, seconds=60)
    run = page.get_by_role("button", name="Run and see")
    expect(run).to_be_disabled()
    grip = page.locator(".prediction .grip")
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    assert box
    page.mouse.move(box["x"] + 11, box["y"] + 11)
    page.mouse.down()
    page.mouse.move(box["x"] + 11, box["y"] + 61, steps=4)
    page.mouse.up()
    prediction_text = prediction(page, "noise").locator("output").inner_text()
    assert prediction_text.startswith("Your prediction: ")
    labels = page.locator("svg.prediction text")
    expect(labels.first).to_have_text(prediction_text.replace("Your prediction", "you"))
    expect(run).to_be_enabled(timeout=SLOW)
    run.click()
    expect(page.locator(".st-key-learn_said")).to_contain_text("You predicted", timeout=SLOW)
    # The circles are ten trials at each of seven sizes, and the handle.
    expect(page.locator("svg.prediction circle")).to_have_count(71, timeout=SLOW)
    expect(labels.filter(has_text="measured: 47 times")).to_have_count(1)
    next_button(page).click()
    page.wait_for_url(lambda url: "lesson=free" in url, timeout=SLOW)
    ready(page, seconds=60)
    expect(page.get_by_role("heading", name=WORDS["free"].title)).to_be_in_viewport()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0


@pytest.mark.slow
def test_parts_hidden_by_a_teacher_are_hidden_on_every_page(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + "/learn?lesson=epsilon&hide=sidebar,details,privacy&type=large")
    ready(page, seconds=60)
    expect(figure(page, "learn")).to_be_visible(timeout=SLOW)
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page.get_by_text("Numbers behind this figure").first).to_be_hidden()
    size = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
    assert page.evaluate(size) == pytest.approx(16 * SCALE)
    label = figure(page, "learn").locator(".annotation-text").first
    size_of_name = label.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    # The name of the axis is the smallest text of the figure.
    assert size_of_name == pytest.approx(12 * SCALE)
    page.get_by_role("link", name="Explore", exact=True).first.click()
    page.wait_for_url(lambda url: "hide=sidebar" in url and "learn" not in url, timeout=SLOW)
    ready(page, seconds=60)
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    assert page.evaluate(size) == pytest.approx(16 * SCALE)


@pytest.mark.slow
def test_a_hidden_group_of_controls_keeps_the_values_of_the_link(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + "/?hide=data,study&p=4&trials=5&grid=1000,5000")
    ready(page, seconds=60)
    expect(page.get_by_role("slider", name="Records n")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("slider", name="Tail index p")).to_be_hidden()
    page.get_by_text("More settings").click()
    trials = page.locator(".st-key-field_trials")
    expect(trials).to_be_attached(timeout=SLOW)
    expect(trials).to_be_hidden()
    page.wait_for_url(lambda url: "hide=data,study&" in unquote(url) + "&", timeout=SLOW)
    assert "p=4" in page.url


# The script returns where a candidate of lesson 13 is drawn, in pixels of the window.
SPOT = """(gd, [x, y]) => {
  const { xaxis, yaxis } = gd._fullLayout
  const box = gd.getBoundingClientRect()
  return [box.x + xaxis._offset + xaxis.d2p(x), box.y + yaxis._offset + yaxis.d2p(y)]
}"""
# The script tells whether the ring lies around that place, and reads both at one moment, since the
# page may still scroll.
RINGED = f"""(gd, place) => {{
  const [x, y] = ({SPOT})(gd, place)
  const box = gd.querySelector("svg.choices .ring")?.getBoundingClientRect()
  return Boolean(box?.width) && Math.abs(box.x + box.width / 2 - x) < 2
    && Math.abs(box.y + box.height / 2 - y) < 2
}}"""


@pytest.mark.parametrize("size", [(1400, 900), (390, 844)], ids=str)
def test_a_click_on_a_candidate_chooses_it_as_its_button_does_again_and_again(
    page: Page, dashboard: str, ready: Ready, size: tuple[int, int]
) -> None:
    lesson = BY_SLUG["packing"]
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{dashboard}/learn?lesson=packing")
    plot = figure(page, "learn", "compact" if size[0] < 760 else "wide")
    expect(plot.locator("svg.choices .area")).to_have_count(1, timeout=SLOW)
    ready(page, seconds=60)
    expect(plot.locator("svg.choices .ring")).to_have_count(0)
    places = dict(zip(lesson.choices, lesson.spots, strict=True))

    def expect_chosen(slug: str) -> None:
        """Wait until a candidate is checked, and a ring lies around it."""
        chosen = prediction(page, "packing").get_by_role("radio", name=lesson.choices[slug])
        expect(chosen).to_be_checked(timeout=SLOW)
        ready(page, seconds=60)
        deadline = time.monotonic() + 10
        while not plot.evaluate(RINGED, places[slug]):
            assert time.monotonic() < deadline, f"no ring lies around {slug}"
            page.wait_for_timeout(50)

    plot.scroll_into_view_if_needed()
    for slug in (*lesson.choices, "upper-left"):
        page.mouse.click(*plot.evaluate(SPOT, places[slug]))
        expect_chosen(slug)
    # The same point can be chosen again after a press of another button.
    prediction(page, "packing").get_by_text(lesson.choices["lower-left"]).click()
    expect_chosen("lower-left")
    plot.scroll_into_view_if_needed()
    page.mouse.click(*plot.evaluate(SPOT, places["upper-left"]))
    expect_chosen("upper-left")
    expect(page.get_by_role("button", name="Run and see")).to_be_enabled()


SCREENS = {"laptop": ((1400, 900), ""), "projector": ((1920, 1080), "&type=large")}
HOLE = 60  # The largest allowed number of blank pixels between two things in one column.


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize(
    "slug", [pytest.param(s, marks=[pytest.mark.slow] * (s not in SLUGS[2:4])) for s in SLUGS]
)
def test_a_lesson_fits_one_screen_before_and_after_its_run_and_has_no_gap(
    page: Page, dashboard: str, ready: Ready, slug: str, screen: str
) -> None:
    (width, height), large = SCREENS[screen]
    page.set_viewport_size({"width": width, "height": height})

    def ends(place: Locator) -> tuple[float, float]:
        """Return the top and the bottom of a place, in pixels."""
        box = place.bounding_box()
        assert box is not None
        return box["y"], box["y"] + box["height"]

    page.goto(f"{dashboard}/learn?lesson={slug}{large}")
    plot = figure(page, "learn")
    expect(plot).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("Predict first.")).to_be_visible(timeout=SLOW)
    ready(page, seconds=60)
    for place in (plot, prediction(page, slug), page.locator(".st-key-learn_run")):
        assert ends(place)[1] <= height
    answer = to_text(BY_SLUG[slug].answers[0])
    page.goto(f"{dashboard}/learn?lesson={slug}{large}&answers={slug}:{answer}")
    button = page.locator(".st-key-learn_follow").get_by_role("button")
    expect(button).to_be_visible(timeout=SLOW)
    ready(page, seconds=60)
    verdict, reason = page.locator(".st-key-learn_said"), page.locator(".st-key-learn_after")
    assert ends(verdict)[1] <= height and ends(button)[1] <= height
    lower = page.locator(".st-key-learn_below_figure")
    upper = verdict if lower.count() else page.locator(".st-key-first_side_learn")
    if lower.count():
        assert ends(lower)[1] <= height
    assert 0 <= ends(reason)[0] - ends(upper)[1] <= HOLE


# The script returns the visible texts of a figure, and of the layer over it, that overlap each
# other.
OVERPRINTED = """gd => {
  const names = ".annotation-text, svg.prediction text, .xtick text, .ytick text"
  const boxes = [...gd.querySelectorAll(names)]
    .map((one) => [one.textContent, one.getBoundingClientRect()])
    .filter(([text, { width }]) => text && width)
  const inside = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 3 && b.top < a.bottom - 3
  return boxes.flatMap(([text, box], i) => boxes.slice(i + 1)
    .filter(([, other]) => inside(box, other)).map(([other]) => `${text} | ${other}`))
}"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 800), (390, 844)], ids=str)
@pytest.mark.parametrize("slug", SLUGS)
def test_no_texts_overlap_before_or_after_the_run(
    page: Page, dashboard: str, ready: Ready, slug: str, size: tuple[int, int]
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    kind = "compact" if size[0] < 760 else "wide"
    first_answer = to_text(BY_SLUG[slug].answers[0])
    for answers in ("", f"&answers={slug}:{first_answer}"):
        page.goto(f"{dashboard}/learn?lesson={slug}{answers}")
        plot = figure(page, "learn", kind)
        expect(plot).to_be_visible(timeout=SLOW)
        ready(page, seconds=60)
        if answers:
            expect(page.locator(".st-key-learn_said")).to_contain_text("You ", timeout=SLOW)
            ready(page, seconds=60)
        page.wait_for_timeout(300)  # The layer over the figure moves with it.
        assert plot.evaluate(OVERPRINTED) == []


def test_on_a_phone_the_figure_comes_before_the_text(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(dashboard + "/learn?lesson=look")
    plot = figure(page, "learn", "compact")
    expect(plot).to_be_visible(timeout=SLOW)
    ready(page, seconds=60)
    box, text_box = plot.bounding_box(), page.locator(".st-key-learn_text").bounding_box()
    assert box and text_box and box["y"] + box["height"] <= text_box["y"]
    assert box["y"] < 844 / 2
    expect(next_button(page)).to_be_in_viewport()


@pytest.mark.slow
def test_a_phone_shows_the_figure_for_phones(page: Page, dashboard: str, ready: Ready) -> None:
    expect_to_fit_a_phone(page, dashboard + "/learn?lesson=clipping", ready, ("learn",))
    expect(page.get_by_role("button", name="Run and see").locator("kbd")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str
) -> None:
    expect_no_axe_violation(
        browser,
        dashboard + "/learn?lesson=clipping",
        ready,
        scheme,
        figure_name="learn",
        expander="Numbers behind this figure",
    )


NAMES = """() => {
  const layer = document.querySelector("svg.prediction")
  const lines = [...layer.querySelectorAll("line")].map((one) =>
    ["x1", "y1", "x2", "y2"].map((name) => Number(one.getAttribute(name))))
  const names = [...layer.querySelectorAll("text")].map((one) => {
    const { x, y, width, height } = one.getBBox()
    return { text: one.textContent, x, y, width, height }
  })
  const away = ({ x, y, width, height }, [a, b, c, d]) => Math.min(
    ...Array.from({ length: 201 }, (_, k) => [a + ((c - a) * k) / 200, b + ((d - b) * k) / 200])
      .map(([p, q]) => Math.hypot(
        Math.max(x - p, 0, p - x - width), Math.max(y - q, 0, q - y - height))))
  return names.map((name) => [name.text, ...lines.map((line) => away(name, line))])
}"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    ("slug", "answer"),
    [("geometry", 20), ("heavy-tails", 20), ("noise", 20), ("users", 10), ("free", 1)],
)
def test_the_prediction_and_the_measurement_stand_at_their_own_lines(
    page: Page, dashboard: str, ready: Ready, slug: str, answer: float, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{dashboard}/learn?lesson={slug}&answers={slug}:{answer}")
    expect(page.locator("svg.prediction text")).to_have_count(2, timeout=SLOW)
    ready(page, seconds=60)
    measured, you = page.evaluate(NAMES)  # Each label comes with its distances from both lines.
    assert measured[0].startswith("measured: ") and measured[1] < measured[2], measured
    assert you[0].startswith("you: ") and you[2] < you[1], you
    assert measured[1] <= 30 and you[2] <= 30
