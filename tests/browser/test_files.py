"""Files of figures in Chromium: pictures that the browser makes, pages that load nothing, tables.

The pictures are made without a server, from the figure as it is on the page.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from dpsco_app.pages.who_wins.state import SIZES
from dpsco_app.shell.names import PLACES
from tests.browser.responsive import PHONE, Ready

CELLS = math.prod(SIZES["rates"])


def files_of(page: Page, name: str) -> Locator:
    """Open the fold of files under a figure, and return it."""
    plot = page.locator(f"[class*='st-key-{name}_figure_'] .js-plotly-plot:visible")
    # Without a GPU, drawing three-dimensional figures takes long.
    expect(plot).to_be_visible(timeout=60_000)
    files = page.locator(f".st-key-{name}_fold_numbers")
    files.locator("summary").click()
    expect(files.get_by_role("button", name="PNG", exact=True)).to_be_visible(timeout=20_000)
    return files


def saved(page: Page, files: Locator, kind: str, *, key: str = "") -> tuple[str, bytes]:
    """Press a button, with the mouse or a key; return the name and the content of the file that it
    saves.
    """
    button = files.get_by_role("button", name=kind, exact=True)
    with page.expect_download(timeout=60_000) as download:
        if key:
            button.press(key)
        else:
            button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def size_of(png: bytes) -> tuple[int, int]:
    """Return the width and height in pixels that a PNG's header states."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def words_in(svg: ElementTree.Element) -> str:
    """Return the text of an SVG without breaks."""
    return " ".join(" ".join(svg.itertext()).split())


def box_of(figure: Locator) -> tuple[int, int]:
    """Return the width and height of a figure in pixels."""
    box = figure.bounding_box()
    assert box is not None
    return round(box["width"]), round(box["height"])


@pytest.mark.slow  # The figure of Explore is saved in the same way by a quick test.
def test_a_map_is_saved_as_picture_page_and_table(
    page: Page, dashboard: str, ready: Ready, tmp_path: Path
) -> None:
    page.goto(dashboard + "/who-wins?reading=rates")
    ready(page, seconds=60)
    figure = page.locator(".st-key-who_wins_figure_wide .js-plotly-plot")
    title = page.locator(".st-key-who_wins_figure_wide [role=figure]").get_attribute("aria-label")
    assert title
    title = " ".join(title.split())
    files = files_of(page, "who_wins")
    name, png = saved(page, files, "PNG", key="Enter")
    assert name == "dpsco-who_wins.png"
    width, height = box_of(figure)
    assert size_of(png) == pytest.approx((2 * width, 2 * height), abs=4)
    name, svg_bytes = saved(page, files, "SVG", key="Space")
    svg = ElementTree.fromstring(svg_bytes)
    assert name == "dpsco-who_wins.svg" and svg.tag.endswith("svg") and title in words_in(svg)
    expect(files.get_by_role("status")).to_have_text("Saved dpsco-who_wins.svg")
    # The page keeps its own colours and fonts, since those of the picture were for the file only.
    family = figure.evaluate("e => e._fullLayout.font.family")
    assert "Source Sans" in family and figure.locator(".gtitle").count() == 0
    name, content = saved(page, files, "CSV")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert len(rows) == CELLS and float(rows[0]["ε"]) == 0.01
    name, content = saved(page, files, "HTML")
    assert name == "dpsco-who_wins.html" and title in " ".join(content.decode().split())
    _draws_without_a_network(page, content, tmp_path / "figure.html")


def _draws_without_a_network(page: Page, html: bytes, file: Path) -> None:
    """Check that a saved page has its figure and its table, and requests nothing."""
    file.write_bytes(html)
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(file.as_uri())
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert [url for url in requested if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.get_by_role("heading", level=1).inner_text()
    assert page.locator("tbody tr").count() > 1  # The table is the ladder of numbers.


@pytest.mark.slow
def test_a_phone_saves_the_figure_that_it_shows(page: Page, dashboard: str, ready: Ready) -> None:
    page.set_viewport_size(PHONE)
    page.goto(dashboard + "/who-wins")
    ready(page, seconds=60)
    files = files_of(page, "who_wins")
    for kind in ("PNG", "SVG", "HTML", "CSV"):
        button = files.get_by_role("button", name=kind, exact=True)
        box = button.bounding_box()
        assert box is not None and box["x"] + box["width"] <= PHONE["width"]
    _, png = saved(page, files, "PNG")
    compact = page.locator(".st-key-who_wins_figure_compact .js-plotly-plot")
    width, height = box_of(compact)
    assert size_of(png) == pytest.approx((2 * width, 2 * height), abs=4)
    with page.expect_download() as download:
        page.locator(".st-key-who_wins_export button").click()
        page.get_by_role("button", name="Notebook: the same in Jupyter").click()
    notebook = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and len(notebook["cells"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("slug", [slug for slug in PLACES if slug != "explore"])
def test_every_figure_of_every_page_is_saved_in_every_way(
    page: Page, dashboard: str, ready: Ready, slug: str
) -> None:
    page.goto(f"{dashboard}/{slug}")
    ready(page, seconds=120)
    page.wait_for_timeout(2000)  # A second run of the page may add elements during this pause.
    ready(page, seconds=120)
    rows = page.locator("[data-testid=stExpander]", has_text="Numbers behind this figure, and")
    for index in range(rows.count()):
        files = rows.nth(index)
        files.locator("summary").click()
        expect(files.get_by_role("button", name="HTML", exact=True)).to_be_visible(timeout=20_000)
        played = slug == "one-run" and index == 0  # The animated run is not offered as a picture.
        if not played:
            expect(files.get_by_role("button", name="PNG", exact=True)).to_be_visible()
        for kind in ("HTML", "CSV") if played else ("PNG", "SVG", "HTML", "CSV"):
            if kind == "CSV" and not files.get_by_role("button", name=kind, exact=True).count():
                continue
            name, content = saved(page, files, kind)
            assert name.endswith(kind.lower()) and len(content) > 50, name


@pytest.mark.slow
def test_saving_a_picture_leaves_the_menu_of_its_button_open(
    page: Page, dashboard: str, ready: Ready
) -> None:
    page.goto(dashboard + "/?n=2000&d=5&trials=5&grid=1000,5000")
    expect(page.locator(".status")).to_contain_text("Measured in ", timeout=60_000)
    ready(page)
    page.get_by_role("button", name="Export").click()
    menu = page.get_by_test_id("stPopoverBody")
    name, png = saved(page, menu, "PNG")
    assert name == "dpsco-explore.png" and min(size_of(png)) > 500
    name, svg_bytes = saved(page, menu, "SVG")
    assert name == "dpsco-explore.svg"
    svg_text = words_in(ElementTree.fromstring(svg_bytes))
    assert "d = 5, p = " in svg_text and "5 trials, seed 0" in svg_text
    name, content = saved(page, menu, "HTML: the figure as a page")
    assert name == "dpsco-explore.html" and b"Plotly.react(" in content
    name, content = saved(page, menu, "Notebook: the same run in Jupyter")
    assert name == "dpsco_run.ipynb" and json.loads(content)["nbformat"] == 4


BOXES = """svg => {
  const place = document.createElement("div")
  place.innerHTML = svg
  document.body.append(place)
  const boxes = (selector) => [...place.querySelectorAll(selector)].map((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect()
    return { text: one.textContent, left, top, right, bottom }
  })
  const found = {
    notes: boxes(".annotation-text"), ticks: boxes(".xtick text"),
  }
  place.remove()
  return found
}"""


def test_a_picture_has_room_for_its_title_and_its_numbers(
    page: Page, dashboard: str, ready: Ready
) -> None:
    """The title takes three lines, in a font that is wider than the page's."""
    page.goto(dashboard + "/?trials=2&n=10000")
    ready(page, seconds=60)
    page.get_by_role("button", name="Export").click()
    picture = page.get_by_role("button", name="SVG", exact=True)
    expect(picture).to_be_visible()
    with page.expect_download(timeout=60_000) as download:
        picture.click()
    svg = Path(download.value.path()).read_text(encoding="utf-8")
    boxes = page.evaluate(BOXES, svg)
    (title,) = (note for note in boxes["notes"] if "Best of the private" in note["text"])
    other_notes = [note for note in boxes["notes"] if note is not title]
    assert title["bottom"] - title["top"] > 40  # The title has more than one line.
    assert all(note["top"] >= title["bottom"] for note in other_notes)
    row = sorted(boxes["ticks"], key=lambda tick: tick["left"])
    assert len(row) > 3
    for left, right in itertools.pairwise(row):
        assert left["right"] + 2 <= right["left"], (left["text"], right["text"])
