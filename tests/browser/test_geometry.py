"""Geometry in Chromium: the hand, a deep link, a phone, axe, no other host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dpsco_app.pages.geometry.state import LARGEST_Q
from dpsco_app.parts.touch.modules import script
from dpsco_core.explain.geometry import Shape, nearest, outline
from dpsco_core.fields import TABLE
from dpsco_core.geometry import GEOMETRIES
from tests.browser.responsive import Ready, expect_no_axe_violation, expect_to_fit_a_phone, figure


def sentence_place(page: Page) -> Locator:
    """Return the place where the page describes the point and its projection."""
    return page.locator(".st-key-geometry_said")


def test_the_browser_computes_projections_and_support_points_as_numpy_does(page: Page) -> None:
    shapes = [Shape(kind=kind) for kind in GEOMETRIES if kind != "lq"]
    shapes += [Shape(kind="lq", q=q) for q in (1.05, 2.5, 20, *TABLE["q"].offered, LARGEST_Q)]
    grid = [(0.0, 0.0), (1.4, 0.0), (0.0, -1.4), (1.0, 1.0), (-1.5, 1.5), (0.5, -0.5), (2.0, 0.05)]
    points = [*np.random.default_rng(0).uniform(-2, 2, (60, 2)).round(2).tolist(), *grid]
    body = f"{script('sets.js')}\nreturn sets.map((set) => points.map((x) => seenFrom(set, x)))"
    inputs: dict[str, Any] = {"sets": [outline(shape) for shape in shapes], "points": points}
    answers = page.evaluate(f"({{sets, points}}) => {{ {body} }}", inputs)
    for shape, answers_of_shape in zip(shapes, answers, strict=True):
        for x, answer in zip(points, answers_of_shape, strict=True):
            truth, label = nearest(shape, tuple(x)), f"{shape} {x}"
            pairs = {
                "nearest": truth.nearest,
                "normal": truth.normal,
                "farthest": truth.farthest,
                "foot": truth.foot,
                "distance": truth.distance,
                "dualNorm": truth.dual_norm,
            }
            for name, value in pairs.items():
                assert (answer[name] is None) == (value is None), (name, label)
                if value is not None:
                    array = np.reshape(np.array(answer[name], dtype=float), np.shape(value))
                    assert array == pytest.approx(value, abs=1e-9, rel=0), (name, label)
    assert len(answers) == len(shapes) > 20


# The quick tests cover the link in tests/app, and the figures in tests/browser/test_every_page.py.
@pytest.mark.slow
def test_a_deep_link_restores_the_page_and_keys_or_a_drag_move_the_point(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + "/geometry?geometry=lq&q=3&x1=0.5&x2=1.2")
    ready(page)
    expect(figure(page, "geometry")).to_be_visible(timeout=20_000)
    expect(figure(page, "geometry", "compact")).to_be_hidden()
    slider = page.get_by_role("slider", name="Exponent q of the norm")
    expect(slider).to_have_attribute("aria-valuetext", "3")
    expect(sentence_place(page)).to_contain_text("x = (0.50, 1.20)")
    slider.press("Home")  # The left end of the slider is q = 1.
    expect(sentence_place(page)).to_contain_text("x = (0.50, 1.20) goes to P(x) = (0.15, 0.85)")
    page.wait_for_url(lambda url: "q=1&" in f"{url}&", timeout=10_000)
    ready(page)
    # Keys move the point itself, which keeps the focus, and the mouse moves it afterwards.
    grip = page.get_by_role("slider", name="Point x", exact=True)
    grip.press("ArrowLeft")
    grip.press("ArrowDown")
    page.wait_for_url(lambda url: "x1=0.45" in url and "x2=1.15" in url, timeout=10_000)
    expect(sentence_place(page)).to_contain_text("x = (0.45, 1.15) goes to")
    expect(grip).to_be_focused()
    ready(page)
    overlay, middle = page.locator("svg.hand > g:first-child"), grip.bounding_box()
    expect(overlay.locator("polyline")).to_have_count(0)
    assert middle is not None
    # A finger on the point does not scroll the page.
    assert grip.evaluate("g => !g.dispatchEvent(new Event('touchstart', {cancelable: true}))")
    x, y = middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 150, steps=5)
    for name in ("x", "P(x)", "farthest"):
        expect(overlay.get_by_text(name, exact=True)).to_have_count(1)
    # The four lines are named across, reach, touching and residual.
    expect(overlay.locator("polyline")).to_have_count(4)
    # The figure still shows the set; the traces of the point are hidden, as the overlay draws them.
    traces = figure(page, "geometry").locator(".scatterlayer .trace")
    hidden = traces.evaluate_all("all => all.map(e => e.style.visibility === 'hidden')")
    assert hidden.count(False) == 1
    text = sentence_place(page).locator(".said")
    sentence, point = text.inner_text(), grip.get_attribute("aria-valuetext")
    assert f"{point} goes to P(x) = (" in sentence and "x2=1.15" in page.url
    page.mouse.up()
    x1, x2 = (point or "").removeprefix("x = (").removesuffix(")").split(", ")
    page.wait_for_url(lambda url: f"x1={float(x1):g}&x2={float(x2):g}" in url, timeout=10_000)
    # The figure drawn by Python has replaced the browser's overlay.
    expect(overlay.locator("polyline")).to_have_count(0)
    expect(text).to_have_text(sentence, use_inner_text=True)


@pytest.mark.slow
def test_a_visit_to_users_and_back_keeps_the_page_as_it_was(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + "/geometry?part=width&geometry=simplex&seed=3")
    ready(page)
    page.get_by_role("link", name="Users", exact=True).first.click()
    expect(page.get_by_role("heading", name="with how many items per user").first).to_be_visible()
    page.get_by_role("link", name="Sets and noise", exact=True).first.click()
    expect(page.get_by_role("heading", name="How far does the set").first).to_be_visible()
    ready(page)
    page.wait_for_url(lambda url: "seed=3" in url and "simplex" in url, timeout=10_000)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["set", "width", "noise"])
def test_on_a_phone_the_page_fits(page: Page, dashboard: str, ready: Ready, part: str) -> None:
    names = {"set": ("geometry",), "width": ("geometry",), "noise": ("geometry",)}
    expect_to_fit_a_phone(page, f"{dashboard}/geometry?part={part}", ready, names[part])


@pytest.mark.slow
@pytest.mark.parametrize("part", ["set", "noise"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_accessibility_fault(
    browser: Browser, dashboard: str, ready: Ready, scheme: str, part: str
) -> None:
    address = f"{dashboard}/geometry?part={part}"
    expect_no_axe_violation(
        browser, address, ready, scheme, figure_name="geometry", expander="What the symbols mean"
    )
