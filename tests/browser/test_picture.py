"""The picture that a hand can move: its sums against numpy's, the hand, the keyboard, the file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from dpsco_app.parts.touch.modules import script
from dpsco_app.parts.touch.picture import picture_page
from dpsco_core.data import DenseRows
from dpsco_core.explain.picture import REACH, picture
from dpsco_core.methods.mean.base import clipped_mean
from dpsco_core.methods.mean.ladder import norm_counts, radius_choice
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.mechanisms import gaussian_noise_std
from dpsco_core.scenario import Scenario
from tests.browser.responsive import Ready

SLOW = 60_000
SEEN = Scenario(distribution="skewed-pareto", p=2.0)


def compute(page: Page, expression: str, **values: Any) -> Any:
    """Return what an expression of clipping.js gives in the browser."""
    names = ", ".join(values)
    body = f"(({{{names}}}) => {{ {script('clipping.js')}\nreturn {expression} }})"
    return page.evaluate(body, values)


def test_the_browser_clips_and_averages_as_numpy_does(page: Page) -> None:
    shown = picture(SEEN)
    for p, n in ((0, 500), (2, 50), (5, 20)):
        records = shown.records[p, :n]
        for radius in np.geomspace(0.25, 30, 10):
            got = compute(
                page, "clippedAverage(points, radius)", points=records.tolist(), radius=radius
            )
            truth = clipped_mean(DenseRows(records), float(radius))
            assert np.abs(np.array(got) - truth).max() < 1e-9


def test_the_browser_has_the_parts_that_the_library_has_and_they_add_up(page: Page) -> None:
    shown = picture(SEEN)
    for order, n, rho in ((0, 500, 0.03), (5, 20, 2.0), (2, 200, 1e-3)):
        law = shown.laws[order]
        sent = {"bias": law.bias.tolist(), "variance": law.variance.tolist(), "whole": law.whole}
        for radius in (*np.geomspace(*REACH, 9), 1.234, 17.0):
            got = compute(
                page, "squaredParts(law, radius, n, rho)", law=sent, radius=radius, n=n, rho=rho
            )
            wanted = law.parts(n, float(radius), gaussian_noise_std(2 * radius / n, rho))
            assert got == pytest.approx(vars(wanted) | {"total": wanted.total}, rel=1e-9)
            assert got["total"] == got["sampling"] + got["bias"] + got["noise"]
        open_ = compute(page, "squaredParts(law, Infinity, n, rho)", law=sent, n=n, rho=rho)
        assert open_ == {"sampling": law.whole / n, "bias": 0, "noise": 0, "total": law.whole / n}


def test_the_guesses_are_those_of_the_normal_law_and_of_the_budget(page: Page) -> None:
    from scipy.special import ndtr

    points = [-9.0, -3.2, -0.4, 0.0, 0.1, 1.0, 2.5, 6.0]
    got = compute(page, "points.map(normalCdf)", points=points)
    assert got == pytest.approx(ndtr(points), abs=1e-9)
    assert compute(page, "guessLimit(1, 1e-6)") == pytest.approx((np.e + 1e-6) / (np.e + 1))
    # What one record can do at most stays under what the budget allows, at every budget.
    shown = picture(SEEN)
    for epsilon, rho in zip(shown.epsilons, shown.rhos, strict=True):
        guess = compute(page, "bestGuess(shift, 1)", shift=float(np.sqrt(2 * rho)))
        limit = compute(page, "guessLimit(e, d)", e=epsilon, d=shown.delta)
        assert 0.5 < guess <= limit
    assert ApproxDP(epsilon=1.0, delta=1e-6).to_zcdp().rho > 0


def test_the_odds_of_a_private_choice_are_those_of_the_mechanism(page: Page) -> None:
    shown = picture(SEEN)
    for p, n, epsilon in ((0, 4, 3), (2, 2, 6), (5, 4, 4)):
        top, target, choice, _ = shown.choices[p, n, epsilon]
        assert choice > 0
        radii, records = top * shown.ladders[n], shown.records[p, : shown.sizes[n]]
        counts = norm_counts(DenseRows(records), radii)
        drawn_from = radius_choice(radii, counts, target, choice)
        assert drawn_from.log_base is not None
        weights = np.exp(drawn_from.log_base + choice / 2 * drawn_from.scores)
        names = {"points": records.tolist(), "radii": radii.tolist(), "target": target}
        got = compute(page, "choiceOdds(points, radii, target, epsilon)", epsilon=choice, **names)
        assert got == pytest.approx(weights / weights.sum(), abs=1e-9)
    shares = [0.0, 0.19, 0.2, 0.99]
    assert compute(page, "shares.map((s) => placeAt([0.2, 0.5, 0.3], s))", shares=shares) == [
        *(0, 0, 1, 2)
    ]


@pytest.fixture
def alone(page: Page, tmp_path: Path) -> Page:
    """Open the exported picture from a file."""
    file = tmp_path / "picture.html"
    file.write_text(picture_page(SEEN), encoding="utf-8")
    page.emulate_media(reduced_motion="reduce")
    page.goto(file.as_uri())
    expect(page.locator("p.summary")).to_contain_text("records are clipped")
    return page


def output(page: Page | Locator, name: str) -> float:
    return float(page.locator(f"label [data-value={name}]").inner_text())


def test_the_exported_picture_follows_the_hand(alone: Page) -> None:
    canvas = alone.locator("canvas.records")
    box = canvas.bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    scale = (box["height"] - 2) / 2 / 8  # pixels per unit: 8 from the middle up
    alone.mouse.move(middle[0] + 3 * scale, middle[1])
    alone.mouse.down()
    expect(alone.locator("label [data-value=radius]")).to_have_text("3")
    bars = alone.locator("svg.bars").get_attribute("aria-label")
    alone.mouse.move(middle[0] + 1 * scale, middle[1])
    expect(alone.locator("label [data-value=radius]")).to_have_text("1")
    assert alone.locator("svg.bars").get_attribute("aria-label") != bars
    alone.mouse.up()
    alone.mouse.move(middle[0] + 5 * scale, middle[1])
    assert output(alone, "radius") == 1


def test_the_numbers_at_ten_radii_are_those_of_numpy(alone: Page) -> None:
    shown = picture(SEEN)
    n, epsilon, p = shown.start
    records = shown.records[p, : shown.sizes[n]]
    slider = alone.locator("input[name=radius]")
    for tick in range(10, 200, 19):
        slider.fill(str(tick))
        radius = 0.25 * (30 / 0.25) ** (tick / 200)
        noise_std = gaussian_noise_std(2 * radius / len(records), shown.rhos[epsilon])
        found = shown.laws[p].parts(len(records), radius, noise_std)
        total = float(f"{found.error:.2g}")
        clipped = int((np.linalg.norm(records, axis=1) > radius).sum())
        expect(alone.locator("p.summary")).to_contain_text(
            f"{clipped} of 500 records are clipped. A typical release is {total:g} from"
        )
        drawn = alone.locator("svg.bars rect.part")
        widths = [float(drawn.nth(i).get_attribute("width") or "") for i in range(3)]
        squares = np.array([found.sampling, found.bias, found.noise])
        assert np.array(widths) / sum(widths) == pytest.approx(squares / found.total, abs=1e-6)
        whole = alone.locator("svg.bars rect.whole")
        assert sum(float(whole.nth(i).get_attribute("width") or "") for i in range(3)) == (
            pytest.approx(sum(widths))
        )


def heights(page: Page, key: str) -> list[float]:
    """Return how high a line of the curve stands at each radius, downwards."""
    path = page.locator(f"svg.curve .lines path.{key}").get_attribute("d")
    assert path is not None
    return [float(point.split(",")[1]) for point in path.removeprefix("M").split("L")]


def test_no_part_lies_above_the_whole_and_the_noise_never_on_the_axis(alone: Page) -> None:
    sliders = {name: alone.locator(f"input[name={name}]") for name in ("n", "epsilon", "p")}
    for n, epsilon, p in ((4, 3, 0), (0, 0, 5), (4, 6, 2), (2, 3, 5)):
        for name, place in zip(sliders, (n, epsilon, p), strict=True):
            sliders[name].fill(str(place))
        expect(alone.locator("label [data-value=p]")).to_have_text(f"{picture(SEEN).orders[p]:g}")
        alone.wait_for_timeout(100)
        total = heights(alone, "total")
        for key in ("sampling", "bias", "noise"):
            assert all(
                y >= whole - 0.1 for y, whole in zip(heights(alone, key), total, strict=True)
            )
        bottom = float(
            alone.locator("svg.curve > line[x1='44'][y1='140']").get_attribute("y1") or ""
        )
        noise = heights(alone, "noise")
        assert all(after < before for before, after in pairwise(noise))  # it rises everywhere
        assert max(noise) < bottom - 2 and max(heights(alone, "sampling")) < bottom - 2


def test_one_record_can_be_changed_by_keyboard_and_the_cloud_hardly_moves(alone: Page) -> None:
    change = alone.get_by_role("button", name="Change one record")
    change.focus()
    alone.keyboard.press("Enter")
    expect(change).to_have_attribute("aria-pressed", "true")
    alone.keyboard.press("Tab")
    alone.keyboard.press("Enter")  # to its worst place
    said = alone.locator("p.summary")
    expect(said).to_contain_text("right 52 % of the time")
    expect(said).to_contain_text("more than 73 % at this budget")
    before = said.inner_text()
    alone.locator("canvas.records").focus()
    for _ in range(30):
        alone.keyboard.press("ArrowRight")
    expect(said).not_to_have_text(before)
    change.click()
    expect(said).to_contain_text("records are clipped")


def test_a_private_choice_shows_its_odds_and_the_hand_ends_it(alone: Page) -> None:
    said, odds = alone.locator("p.summary"), alone.locator("svg.curve rect.odds")
    button = alone.get_by_role("button", name="Choose the radius privately")
    shown, radii, drawn = picture(SEEN), set(), 0
    n, epsilon, p = shown.start
    while len(radii) < 2 and drawn < 60:  # one alone: less than once in 10^12
        drawn += 1
        button.press("Enter")
        expect(said).to_contain_text("how likely each radius is in a private choice")
        expect(said).to_contain_text("The choice cost 10 % of the privacy budget")
        radii.add(output(alone, "radius"))
    assert len(radii) > 1 and max(radii) <= shown.choices[p, n, epsilon, 0]
    assert odds.count() == len(shown.ladders[n])
    alone.locator("input[name=radius]").press("ArrowLeft")
    expect(odds).to_have_count(0)
    expect(said).to_contain_text("records are clipped")


def test_many_moves_between_two_frames_are_drawn_once(alone: Page) -> None:
    # However fast the hand, a frame is drawn once.
    drawn = alone.evaluate(
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
    assert drawn == 1


def test_a_door_of_learn_leads_to_the_picture(page: Page, dashboard: str, ready: Ready) -> None:
    page.goto(dashboard + "/learn")
    ready(page, seconds=60)
    expect(page.locator(".st-key-learn_doors img")).to_have_count(3, timeout=SLOW)
    page.get_by_role("link", name="A picture to play with").click()
    page.wait_for_url(lambda url: "/private-mean" in url, timeout=SLOW)
    ready(page, seconds=60)
    summary = page.locator("p.summary")
    expect(summary).to_contain_text("records are clipped", timeout=SLOW)
    before = summary.inner_text()
    slider = page.get_by_role("slider", name="Clip radius R")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(summary).not_to_have_text(before)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download this picture (HTML)").click()
    assert "How a private mean is made" in download.value.path().read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_exported_picture_passes_axe(browser: Browser, tmp_path: Path, scheme: str) -> None:
    file = tmp_path / "picture.html"
    file.write_text(picture_page(SEEN, dark=scheme == "dark"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page.goto(file.as_uri())
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
