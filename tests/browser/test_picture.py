"""The picture that a hand can move: its sums against numpy's, the hand, the keyboard, the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from dpsco_app.parts.touch.modules import script
from dpsco_app.parts.touch.picture import picture_data, picture_page
from dpsco_core.data import DenseRows
from dpsco_core.explain.picture import REACH, picture
from dpsco_core.methods.mean.ladder import radius_choice
from dpsco_core.methods.records.base import clipped_mean
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms import gaussian_noise_std
from dpsco_core.scenario import Scenario
from tests.browser.responsive import Ready

SLOW = 60_000
PICTURED = Scenario(distribution="skewed-pareto", p=2.0, n=500)
TOP = 24  # The number of pixels above the stack.


def compute(page: Page, expression: str, module: str = "clipping.js", **values: Any) -> Any:
    """Return the value that an expression of a JavaScript module has in the browser, with `values`
    as its variables.
    """
    names = ", ".join(values)
    body = f"(({{{names}}}) => {{ {script(module)}\nreturn {expression} }})"
    return page.evaluate(body, values)


def sample_of(scenario: Scenario) -> Any:
    """Return the first sample in the data of a scenario's picture."""
    return picture_data(scenario, dark=False)["samples"][0]


def test_the_browser_clips_and_averages_as_numpy_does(page: Page) -> None:
    for p, n in ((2.0, 500), (3.0, 50), (10.0, 20)):
        scenario = replace(PICTURED, p=p, n=n)
        records = picture(scenario).records
        moved_records = np.array([[300.0, -4.0], *records[1:]])
        for radius in np.geomspace(0.25, 30, 10):
            answer = compute(
                page,
                "[averageAt(s, r), withMoved(averageAt(s, r), s.records[0], at, r, s.n), "
                "s.records.map((x) => clipped(x, r))]",
                s=sample_of(scenario),
                r=radius,
                at=moved_records[0].tolist(),
            )
            clipped_records = np.array(
                [clipped_mean(DenseRows(x[None]), float(radius)) for x in records]
            )
            assert np.abs(np.array(answer[2]) - clipped_records).max() < 1e-9
            # The browser interpolates the averages linearly between the radii at which they are
            # known.
            truth = clipped_mean(DenseRows(records), float(radius))
            assert np.abs(np.array(answer[0]) - truth).max() < 1e-3 * radius
            shift = clipped_mean(DenseRows(moved_records), float(radius)) - truth
            assert np.array(answer[1]) - answer[0] == pytest.approx(shift, abs=1e-9)


def test_the_error_parts_in_the_browser_are_those_of_the_library_and_add_up(page: Page) -> None:
    for order, n, rho in ((2.0, 500, 0.03), (10.0, 20, 2.0), (3.0, 200, 1e-3)):
        scenario = replace(PICTURED, p=order, n=n)
        law, sample = picture(scenario).clipped, sample_of(scenario)
        for radius in (*np.geomspace(*REACH, 9), 1.234, 17.0):
            parts = compute(
                page, "squaredParts(s.law, s.reach, r, n, rho)", s=sample, r=radius, n=n, rho=rho
            )
            expected = law.parts(n, float(radius), gaussian_noise_std(2 * radius / n, rho))
            assert parts == pytest.approx(vars(expected) | {"total": expected.total}, rel=1e-9)
            assert parts["total"] == parts["sampling"] + parts["bias"] + parts["noise"]
        open_ = compute(page, "squaredParts(s.law, s.reach, Infinity, n, 1)", s=sample, n=n)
        assert open_ == {"sampling": law.whole / n, "bias": 0, "noise": 0, "total": law.whole / n}


def test_a_squared_error_is_the_square_of_the_error_beside_it(page: Page) -> None:
    squares = [*np.geomspace(1e-7, 1e3, 200).tolist(), 0.0, 0.1049305**2, 0.01102]
    texts = compute(page, "squares.map(squared)", "errors.js", squares=squares)
    roots = [float(text.split("²")[0]) for text in texts]
    squares_of_roots = compute(page, "roots.map((x) => short(x * x))", "errors.js", roots=roots)
    assert [text.split(" = ")[1] for text in texts] == squares_of_roots
    assert roots == pytest.approx(np.sqrt(squares), rel=0.05) and "0.105² = 0.011" in texts


def test_the_guesses_are_those_of_the_normal_law_and_of_the_budget(page: Page) -> None:
    from scipy.special import ndtr

    points = [-9.0, -3.2, -0.4, 0.0, 0.1, 1.0, 2.5, 6.0]
    probabilities = compute(page, "points.map(normalCdf)", points=points)
    assert probabilities == pytest.approx(ndtr(points), abs=1e-9)
    assert compute(page, "guessLimit(1, 1e-6)") == pytest.approx((np.e + 1e-6) / (np.e + 1))
    # At every budget the best guess on one record is right no more often than the budget allows.
    for epsilon in (0.1, 0.5, 1.0, 5.0, 10.0):
        drawing = picture(replace(PICTURED, epsilon=epsilon))
        guess = compute(page, "bestGuess(shift, 1)", shift=float(np.sqrt(2 * drawing.rho)))
        limit = compute(page, "guessLimit(e, d)", e=epsilon, d=drawing.delta)
        assert 0.5 < guess <= limit
    assert ApproxDP(epsilon=1.0, delta=1e-6).to_zcdp().rho > 0


def test_the_odds_of_a_private_choice_are_those_of_the_mechanism(page: Page) -> None:
    for p, n, epsilon in ((2.0, 500, 1.0), (3.0, 100, 10.0), (10.0, 20_000, 2.0)):
        drawing = picture(replace(PICTURED, p=p, n=n, epsilon=epsilon))
        choice = drawing.choice_epsilon
        assert choice > 0
        drawn_from = radius_choice(drawing.ladder, drawing.longer, drawing.target, choice)
        assert drawn_from.mechanism.log_base is not None
        weights = np.exp(drawn_from.mechanism.log_base + choice / 2 * drawn_from.scores)
        names = {"longer": drawing.longer.tolist(), "radii": drawing.ladder.tolist()}
        odds = compute(page, "choiceOdds(longer, radii, k, e)", k=drawing.target, e=choice, **names)
        assert odds == pytest.approx(weights / weights.sum(), abs=1e-9)
    shares = [0.0, 0.19, 0.2, 0.99]
    assert compute(page, "shares.map((s) => placeAt([0.2, 0.5, 0.3], s))", shares=shares) == [
        *(0, 0, 1, 2)
    ]


def opened(page: Page, tmp_path: Path, scenario: Scenario) -> None:
    """Open a scenario's exported picture from a file, and wait until it is drawn."""
    file = tmp_path / "picture.html"
    file.write_text(picture_page(scenario), encoding="utf-8")
    page.emulate_media(reduced_motion="reduce")
    page.goto(file.as_uri())
    expect(page.locator("p.summary")).to_contain_text("are clipped")


@pytest.fixture
def exported(page: Page, tmp_path: Path) -> Page:
    """Open the exported picture; return its page."""
    opened(page, tmp_path, PICTURED)
    return page


def output(page: Page | Locator, name: str) -> float:
    """Return the number that a picture shows under a name."""
    return float(page.locator(f"label [data-value={name}]").inner_text())


def test_the_exported_picture_follows_a_drag(exported: Page) -> None:
    canvas = exported.locator("canvas.records")
    box = canvas.bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    # This is the height of the upper half of the plane, in the records' unit.
    view = 1.5 * picture(PICTURED).start
    scale = (box["height"] - 2) / 2 / view  # The scale is in pixels per unit.
    exported.mouse.move(middle[0] + 3 * scale, middle[1])
    exported.mouse.down()
    expect(exported.locator("label [data-value=radius]")).to_have_text("3")
    bars = exported.locator("svg.bars").get_attribute("aria-label")
    exported.mouse.move(middle[0] + 1 * scale, middle[1])
    expect(exported.locator("label [data-value=radius]")).to_have_text("1")
    assert exported.locator("svg.bars").get_attribute("aria-label") != bars
    exported.mouse.up()
    exported.mouse.move(middle[0] + 5 * scale, middle[1])
    assert output(exported, "radius") == 1


def squares(page: Page) -> list[float]:
    """Return the squared lengths of the parts of the stack, from bottom to top."""
    parts = page.locator("svg.bars rect.part").all()
    return [float(part.get_attribute("data-square") or "") for part in parts]


def number(text: str | None) -> float:
    """Return a text as a number, or nan for no text."""
    return float(text or "nan")


def test_the_numbers_at_ten_radii_are_those_of_numpy_and_the_stack_adds_up(exported: Page) -> None:
    drawing = picture(PICTURED)
    slider, scales = exported.locator("input[name=radius]"), list[float]()
    for tick in range(10, 200, 19):
        slider.fill(str(tick))
        low, high = drawing.clipped.radii[[0, -1]]
        radius = low * (high / low) ** (tick / 200)
        noise_std = gaussian_noise_std(2 * radius / drawing.n, drawing.rho)
        expected = drawing.clipped.parts(drawing.n, radius, noise_std)
        clipped = int((np.linalg.norm(drawing.records, axis=1) > radius).sum())
        expect(exported.locator("p.summary")).to_contain_text(
            f"{clipped} of 500 records are clipped. A typical release is {expected.error:.2g} from"
        )
        assert squares(exported) == pytest.approx(
            [expected.sampling, expected.bias, expected.noise], rel=1e-6
        )
        # Each part begins where the one below it ends, on one scale that no radius changes.
        bars = exported.locator("svg.bars rect.part").all()
        tops = [number(bar.get_attribute("y")) for bar in bars]
        ends = [y + number(bar.get_attribute("height")) for y, bar in zip(tops, bars, strict=True)]
        assert ends[1:] == pytest.approx(tops[:-1], abs=0.01)
        if tops[-1] > min(tops) + 1e-9 or ends[0] - tops[-1] < 0.99 * (ends[0] - TOP):
            scales.append((ends[0] - tops[-1]) / expected.total)
    assert len(scales) >= 2 and scales == pytest.approx([scales[0]] * len(scales), rel=1e-3)


def areas(page: Page, key: str) -> np.ndarray[Any, Any]:
    """Return the heights of an area's upper and lower edge at each radius, in pixels from the top,
    shape (2, radii).
    """
    path = page.locator(f"svg.curve .lines path.{key}").get_attribute("d")
    assert path is not None
    heights = [float(point.split(",")[1]) for point in path[1:].removesuffix("Z").split("L")]
    return np.array([heights[: len(heights) // 2], heights[: len(heights) // 2 - 1 : -1]])


@pytest.mark.parametrize(
    "fields", [{}, {"n": 20, "epsilon": 0.1, "p": 10.0}, {"n": 12_345, "epsilon": 10.0, "p": 3.0}]
)
def test_the_areas_add_up_to_the_whole_and_the_axis_has_numbers(
    page: Page, tmp_path: Path, fields: dict[str, Any]
) -> None:
    opened(page, tmp_path, replace(PICTURED, **fields))
    sampling, bias, noise = (areas(page, key) for key in ("sampling", "bias", "noise"))
    # The lower edge of the lowest area is the horizontal axis.
    assert (np.diff(sampling[1]) == 0).all()
    assert sampling[0].tolist() == bias[1].tolist() and bias[0].tolist() == noise[1].tolist()
    total = page.locator("svg.curve path.total").get_attribute("d") or ""
    heights = [float(point.split(",")[1]) for point in total[1:].split("L")]
    assert heights == noise[0].tolist()
    ticks = [line.get_attribute("y1") for line in page.locator("svg.curve > line").all()]
    scale = page.locator("svg.curve > text").all_text_contents()
    page.locator("input[name=radius]").fill("150")
    assert ticks[:3] == [
        line.get_attribute("y1") for line in page.locator("svg.curve > line").all()[:3]
    ]
    assert scale == page.locator("svg.curve > text").all_text_contents() and scale[0] == "0"


def test_one_record_can_be_changed_by_keyboard_and_the_cloud_hardly_moves(exported: Page) -> None:
    change = exported.get_by_role("button", name="Change one record")
    change.focus()
    exported.keyboard.press("Enter")
    expect(change).to_have_attribute("aria-pressed", "true")
    summary = exported.locator("p.summary")
    expect(summary).to_contain_text("right 52 % of the time")
    expect(summary).to_contain_text("more than 73.11 % at this budget")
    old_summary = summary.inner_text()
    exported.locator("canvas.records").focus()
    for _ in range(30):
        exported.keyboard.press("ArrowRight")
    expect(summary).not_to_have_text(old_summary)
    # The record is moved to a distance of 1,000: the plane grows, and clipping hides the move.
    distance = exported.get_by_role("slider", name="Distance of your record")
    distance.press("End")
    expect(exported.locator("label [data-value=distance]")).to_have_text("1,000")
    expect(summary).to_contain_text("of the noise's standard deviation")
    distance.press("Home")
    expect(summary).not_to_contain_text("right 52 % of the time")
    change.focus()
    exported.keyboard.press("Tab")
    exported.keyboard.press("Enter")  # This key moves the record to its worst place.
    expect(summary).to_contain_text("right 52 % of the time")
    change.click()
    expect(summary).to_contain_text("records are clipped")


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("fields", [{"n": 10_000, "distribution": "student-t"}, {"n": 200}])
def test_the_names_of_radii_stand_above_their_lines_and_do_not_overlap(
    page: Page, tmp_path: Path, width: int, fields: dict[str, Any]
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    opened(page, tmp_path, replace(PICTURED, **fields))
    lines = page.locator("svg.curve > line[stroke-dasharray]").all()
    places = [number(line.get_attribute("x1")) for line in lines]
    boxes = []
    for line_x, name in zip(places, ("best", "without looking"), strict=True):
        text = page.locator("svg.curve > text").get_by_text(name, exact=True)
        left, top, text_width, text_height = text.evaluate(
            "(e) => { const b = e.getBBox(); return [b.x, b.y, b.width, b.height] }"
        )
        assert left < line_x < left + text_width
        boxes.append((left, left + text_width, top, top + text_height))
    (a, b, top, foot), (c, d, other_top, other_foot) = boxes
    assert b < c or d < a or foot <= other_top + 1 or other_foot <= top + 1
    # In the row of labels no label crosses the other line.
    assert not (c < places[0] < d and other_top > TOP)
    hand = page.locator("svg.curve > line[stroke]:not([stroke-dasharray], [stroke-opacity])")
    # The line does not reach up to the row of names.
    assert number(hand.get_attribute("y1")) > TOP + 14


def test_a_private_choice_shows_its_odds_until_the_radius_is_dragged(exported: Page) -> None:
    summary, odds = exported.locator("p.summary"), exported.locator("svg.curve rect.odds")
    button = exported.get_by_role("button", name="Choose the radius privately")
    drawing, radii, choices = picture(PICTURED), set(), 0
    # The same radius 60 times in a row has a probability below 10^-12.
    while len(radii) < 2 and choices < 60:
        choices += 1
        button.press("Enter")
        expect(summary).to_contain_text("how likely each radius is in a private choice")
        expect(summary).to_contain_text("The choice cost 10 % of the privacy budget")
        radii.add(output(exported, "radius"))
    assert len(radii) > 1 and max(radii) <= drawing.ladder[0]
    assert odds.count() == len(drawing.ladder)
    exported.locator("input[name=radius]").press("ArrowLeft")
    expect(odds).to_have_count(0)
    expect(summary).to_contain_text("records are clipped")


def test_many_moves_between_two_frames_are_drawn_once(exported: Page) -> None:
    # A frame is drawn once, however fast the pointer moves.
    count_drawn = exported.evaluate(
        """async () => {
          const bars = document.querySelector("svg.bars")
          const slider = document.querySelector("input[name=radius]")
          let drawn = 0
          new MutationObserver(() => (drawn += 1)).observe(bars, { childList: true })
          for (let i = 0; i < 60; i++) {
            slider.value = 20 + 2 * i
            slider.dispatchEvent(new Event("input"))
          }
          for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame)
          return drawn
        }"""
    )
    assert count_drawn == 1


def test_learn_links_to_the_picture(page: Page, dashboard: str, ready: Ready) -> None:
    page.goto(dashboard + "/learn")
    ready(page, seconds=60)
    expect(page.locator(".st-key-learn_doors img")).to_have_count(3, timeout=SLOW)
    # Every part of a card is a link, its picture included.
    page.locator(".st-key-learn_door_private-mean img").click(force=True)
    page.wait_for_url(lambda url: "/private-mean" in url, timeout=SLOW)
    ready(page, seconds=60)
    summary = page.locator("p.summary")
    expect(summary).to_contain_text("are clipped", timeout=SLOW)
    old_summary = summary.inner_text()
    slider = page.get_by_role("slider", name="Clip radius R")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(summary).not_to_have_text(old_summary)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download this picture (HTML)").click()
    assert "How a private mean is made" in download.value.path().read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_exported_picture_passes_axe(browser: Browser, tmp_path: Path, scheme: str) -> None:
    file = tmp_path / "picture.html"
    file.write_text(picture_page(PICTURED, dark=scheme == "dark"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page.goto(file.as_uri())
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
