"""Geometry in Chromium: a deep link, controls that move figures, a phone, axe, no other host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dpsco_app.pages.geometry.state import Q_OPTIONS
from dpsco_app.parts.touch.modules import script
from dpsco_core.explain.geometry import KINDS, Shape, nearest, outline
from tests.browser.responsive import (
    PHONE,
    Ready,
    expect_no_axe_violation,
    expect_to_fit_a_phone,
    figure,
)

FLAT = "/geometry?noise_d=10&draws=50"
SOLID = FLAT + "&dimensions=3&geometry=group-l1&x1=0.3&x3=1.6"


def said(page: Page) -> Locator:
    return page.locator(".st-key-geometry_said")


def test_the_browser_projects_and_supports_as_numpy_does(page: Page) -> None:
    shapes = [Shape(kind=kind) for kind in KINDS if kind != "lq"]
    shapes += [Shape(kind="lq", q=q) for q in (*Q_OPTIONS, 100.0)]
    shapes += [Shape(kind="ellipsoid", half_axis=0.3), Shape(kind="hull", seed=7)]
    grid = [(0.0, 0.0), (1.4, 0.0), (0.0, -1.4), (1.0, 1.0), (-1.5, 1.5), (0.5, -0.5), (2.0, 0.05)]
    points = [*np.random.default_rng(0).uniform(-2, 2, (60, 2)).round(2).tolist(), *grid]
    body = f"{script('sets.js')}\nreturn sets.map((set) => points.map((x) => seenFrom(set, x)))"
    given: dict[str, Any] = {"sets": [outline(shape) for shape in shapes], "points": points}
    found = page.evaluate(f"({{sets, points}}) => {{ {body} }}", given)
    for shape, seen in zip(shapes, found, strict=True):
        for x, here in zip(points, seen, strict=True):
            truth, where = nearest(shape, tuple(x)), f"{shape} {x}"
            pairs = {
                "nearest": truth.nearest,
                "normal": truth.normal,
                "dualPoint": truth.dual_point,
                "farthest": truth.farthest,
                "foot": truth.foot,
                "distance": truth.distance,
                "norm": truth.norm,
                "dualNorm": truth.dual_norm,
            }
            for name, value in pairs.items():
                assert (here[name] is None) == (value is None), (name, where)
                if value is not None:
                    got = np.reshape(np.array(here[name], dtype=float), np.shape(value))
                    assert got == pytest.approx(value, abs=1e-9, rel=0), (name, where)
    assert len(found) == len(shapes) > 20


@pytest.mark.slow  # tests/app has the link, tests/browser/test_every_page.py the figures
def test_a_deep_link_restores_the_page_and_keys_and_the_hand_move_the_point(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + FLAT + "&geometry=lq&q=3&x1=0.5&x2=1.2")
    ready(page)
    for name in ("set", "reach", "running", "growth", "cloud_0", "cloud_1", "sweep"):
        expect(figure(page, name)).to_be_visible(timeout=20_000)
        expect(figure(page, name, "compact")).to_be_hidden()
    slider = page.get_by_role("slider", name="Exponent q of the norm")
    expect(slider).to_have_attribute("aria-valuetext", "3")
    expect(said(page)).to_contain_text("x = (0.50, 1.20)")
    page.get_by_role("slider", name="Coordinate 2 of the point x").press("ArrowRight")
    expect(said(page)).to_contain_text("x = (0.50, 1.25)", timeout=10_000)
    ready(page)
    page.wait_for_url(lambda url: "x2=1.25" in url, timeout=10_000)
    title = figure(page, "set").locator(".gtitle").inner_html()
    slider.press("Home")  # q = 1
    expect(said(page)).to_contain_text("x = (0.50, 1.25) goes to P(x) = (0.13, 0.88)")
    ready(page)
    expect(figure(page, "set").locator(".gtitle")).not_to_have_text(title)
    page.wait_for_url(lambda url: "q=1&" in f"{url}&", timeout=10_000)
    # Keys move the point itself, which keeps the focus, and then a hand.
    grip = page.get_by_role("slider", name="Point x", exact=True)
    grip.press("ArrowLeft")
    grip.press("ArrowDown")
    page.wait_for_url(lambda url: "x1=0.45" in url and "x2=1.2" in url, timeout=10_000)
    expect(said(page)).to_contain_text("x = (0.45, 1.20) goes to")
    expect(grip).to_be_focused()
    ready(page)
    drawn, middle = page.locator("svg.hand > g:first-child"), grip.bounding_box()
    expect(drawn.locator("polyline")).to_have_count(0)
    assert middle is not None
    # A finger on it scrolls nothing.
    assert grip.evaluate("g => !g.dispatchEvent(new Event('touchstart', {cancelable: true}))")
    x, y = middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 150, steps=5)
    for name in ("x", "P(x)", "y", "farthest"):
        expect(drawn.get_by_text(name, exact=True)).to_have_count(1)
    expect(drawn.locator("polyline")).to_have_count(5)  # across, reach, touching, ray, residual
    text = said(page).locator(".said")
    held, point = text.inner_text(), grip.get_attribute("aria-valuetext")
    assert f"{point} goes to P(x) = (" in held and "x2=1.2" in page.url
    expect(figure(page, "set").locator(".g-gtitle")).to_have_css("visibility", "hidden")
    page.mouse.up()
    x1, x2 = (point or "").removeprefix("x = (").removesuffix(")").split(", ")
    page.wait_for_url(lambda url: f"x1={float(x1):g}&x2={float(x2):g}&" in url, timeout=10_000)
    expect(drawn.locator("polyline")).to_have_count(0)  # Python's figure has taken over
    expect(text).to_have_text(held, use_inner_text=True)
    slid = page.get_by_role("slider", name="Coordinate 1 of the point x")
    expect(slid).to_have_attribute("aria-valuetext", x1)


@pytest.mark.slow
def test_a_scene_opens_in_space_and_the_slider_turns_it(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + FLAT)
    ready(page)
    page.get_by_role("button", name="Groups vanish together").click()
    expect(said(page)).to_contain_text("P(x) = (0.00, 0.00, 1.00)", timeout=20_000)
    ready(page)
    for name in ("set", "polar", "reach", "cloud_0", "cloud_1"):
        expect(figure(page, name, "space")).to_be_visible(timeout=30_000)
    eye = "e => e._fullLayout.scene.camera.eye.x"
    before = figure(page, "set", "space").evaluate(eye)
    page.get_by_role("slider", name="Turn the pictures").press("ArrowRight")
    page.wait_for_url(lambda url: "turn=40" in url, timeout=10_000)
    ready(page)
    page.wait_for_function(
        f"before => ({eye})(document.querySelector("
        "'.st-key-set_figure_space .js-plotly-plot')) < before - 0.01",
        arg=before,
        timeout=20_000,
    )


@pytest.mark.slow
def test_a_visit_to_explore_and_back_keeps_the_page_as_it_was(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + FLAT + "&geometry=simplex&seed=3")
    ready(page)
    page.get_by_role("link", name="Users", exact=True).first.click()
    expect(page.get_by_role("heading", name="Users").first).to_be_visible(timeout=20_000)
    page.get_by_role("link", name="Sets and noise", exact=True).first.click()
    expect(page.get_by_role("heading", name="Geometry").first).to_be_visible(timeout=20_000)
    ready(page)
    expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("3")
    page.wait_for_url(lambda url: "seed=3" in url and "simplex" in url, timeout=10_000)


@pytest.mark.slow
def test_on_a_phone_the_page_fits(page: Page, dashboard: str, ready: Ready) -> None:
    flat = ("set", "reach", "running", "growth", "cloud_0", "cloud_1", "sweep")
    expect_to_fit_a_phone(page, dashboard + FLAT, ready, flat)


@pytest.mark.slow
def test_on_a_phone_pictures_in_space_fit(page: Page, dashboard: str, ready: Ready) -> None:
    expect_to_fit_a_phone(page, dashboard + SOLID, ready, ("running", "growth", "sweep"))
    for name in ("set", "polar", "reach", "cloud_0", "cloud_1"):
        picture = figure(page, name, "space")
        expect(picture).to_be_visible(timeout=30_000)
        assert picture.evaluate("e => e.getBoundingClientRect().right") <= PHONE["width"]


@pytest.mark.slow
@pytest.mark.parametrize("address", [FLAT, SOLID], ids=["plane", "space"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    browser: Browser, dashboard: str, ready: Ready, scheme: str, address: str
) -> None:
    expect_no_axe_violation(
        browser, dashboard + address, ready, scheme, last="sweep", expander="How to read"
    )
