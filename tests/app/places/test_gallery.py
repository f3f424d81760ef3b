"""The gallery: every preset has its picture, drawn from its run, and opens."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from dpsco_app.figure.colours import IMPOSSIBLE
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.values import Axis, Line, Panel
from dpsco_app.parts.presets import FOLDER, MOST_WORDS, PRESETS, Preset
from dpsco_core.catalogue import method_card
from tests.app.pages import address_scenario, open_page, press_button, shown_result
from tests.app.thumbnails import HEIGHT, WIDTH, middle, svg, thumbnail
from tests.folded import one_in

SVG = "{http://www.w3.org/2000/svg}"


def points(text: str, kind: str = "polyline") -> list[tuple[str, np.ndarray]]:
    """Return the lines of a picture, or its areas: their colour and their points."""
    root = ElementTree.fromstring(text)
    return [
        (
            shape.get("stroke") or shape.get("fill") or "",
            np.array(re.findall(r"-?[\d.]+", shape.get("points") or ""), float),
        )
        for shape in root.iter(SVG + kind)
    ]


def is_same_picture(a: str, b: str) -> bool:
    """Whether two pictures show the same lines and areas, up to the rounding of other machines."""
    shapes_a, shapes_b = (points(text) + points(text, "polygon") for text in (a, b))
    return [c for c, _ in shapes_a] == [c for c, _ in shapes_b] and all(
        len(p) == len(q) and np.abs(p - q).max() < 0.3
        for (_, p), (_, q) in zip(shapes_a, shapes_b, strict=True)
    )


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_has_its_picture(preset: Preset) -> None:
    lines = points(preset.picture.read_text(encoding="utf-8"))
    colours = [colour for colour, _ in lines]
    private = [m for m in preset.scenario.methods if method_card(m).privacy != "none"]
    colours_drawn = {middle(colour_of(m)) for m in private} & set(colours)
    if preset.open == "others":
        assert (
            len(colours_drawn) >= min(len({colour_of(m) for m in private}), 3) - 1
        )  # One colour may be missing, since a method may refuse to run.
    else:  # The picture has the best method, or no measured line.
        assert len(colours_drawn) == (preset.open == "")
    assert "http" not in preset.picture.read_text().replace("http://www.w3.org/2000/svg", "")


def test_no_picture_remains_of_a_removed_preset() -> None:
    assert {p.name for p in FOLDER.glob("*")} == {preset.picture.name for preset in PRESETS}


@pytest.mark.parametrize("name", one_in(2, ["What privacy costs", "Privacy is free"]))
def test_a_picture_is_drawn_from_its_run(name: str) -> None:
    preset = next(p for p in PRESETS if p.name == name)
    another = next(p for p in PRESETS if p.name != name)
    fresh = thumbnail(preset)
    assert is_same_picture(fresh, preset.picture.read_text(encoding="utf-8"))
    assert not is_same_picture(fresh, another.picture.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_picture_is_drawn_from_its_run(preset: Preset) -> None:
    assert is_same_picture(thumbnail(preset), preset.picture.read_text(encoding="utf-8"))


def test_a_higher_error_is_drawn_higher_and_inside() -> None:
    pair = ("#888888", "#888888")
    lines = [Line(key=str(y), name=str(y), x=[1, 10], y=[y, y], colour=pair) for y in (1.0, 10.0)]
    x = Axis(title="", low=1, high=10, ticks=())
    y = Axis(title="", low=0.5, high=20, ticks=())
    (_, lower), (_, upper) = points(svg([Panel(title="", x=x, lines=lines)], y))
    assert (upper[1::2] < lower[1::2]).all() and upper[0] == lower[0]
    assert upper.min() > 0 and upper[0::2].max() < WIDTH and lower[1::2].max() < HEIGHT


def test_no_private_line_of_a_picture_runs_through_the_region_that_none_reaches() -> None:
    """The check covers the pictures shown first."""
    root = ElementTree.fromstring(PRESETS[0].picture.read_text(encoding="utf-8"))
    areas = [p for p in root.iter(SVG + "polygon") if p.get("fill") == middle(IMPOSSIBLE.edge)]
    assert len(areas) == 1  # The area below the edge begins each polygon.
    private = {middle(colour_of(m)) for m in PRESETS[0].scenario.methods[1:]}
    lines = [p for colour, p in points(PRESETS[0].picture.read_text()) if colour in private]
    assert len(lines) == 1
    for i, area in enumerate(areas):
        edge = np.array(re.findall(r"[\d.]+", area.get("points") or ""), float).reshape(-1, 2)
        edge = edge[: len(edge) // 2]
        for line in lines[i:]:
            corners = line.reshape(-1, 2)
            assert (corners[:, 1] <= np.interp(corners[:, 0], edge[:, 0], edge[:, 1]) + 0.2).all()


def test_the_gallery_opens_a_preset() -> None:
    page = press_button(open_page(), "Presets")
    dialog = page.get("dialog")
    assert len(dialog) == 1 and len(page.get("image")) == len(PRESETS)
    captions = {c.value for c in page.caption}
    assert {preset.card for preset in PRESETS} <= captions
    assert not captions & {preset.look_for for preset in PRESETS}
    preset = next(p for p in PRESETS if p.name == "Hardest input")
    page.button(key=f"preset_{preset.name}").click().run()
    assert not page.exception
    assert address_scenario(page) == preset.scenario == shown_result(page).scenario
    assert preset.look_for in " ".join(c.value for c in (*page.caption, *page.markdown))


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_card_has_few_words_and_whole_sentences(preset: Preset) -> None:
    assert 15 <= len(preset.card.split()) <= MOST_WORDS
    assert preset.card.endswith(".") and preset.card != preset.look_for
