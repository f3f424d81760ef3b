"""The gallery: every preset has its picture, drawn from its run, and opens."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from dpsco_app.pages.explore.presets import FOLDER, PRESETS, Preset
from dpsco_app.parts.look import colour_of
from dpsco_app.parts.options import NO_SET, TAIL
from tests.app.pages import chosen, open_page, press, result
from tests.app.thumbnails import HEIGHT, WIDTH, Stroke, middle, svg, thumbnail

SVG = "{http://www.w3.org/2000/svg}"


def points(text: str) -> list[tuple[str, np.ndarray]]:
    """Return the lines of a picture: their colour and their points."""
    root = ElementTree.fromstring(text)
    return [
        (
            line.get("stroke") or "",
            np.array(re.findall(r"-?[\d.]+", line.get("points") or ""), float),
        )
        for line in root.iter(SVG + "polyline")
    ]


def same_picture(a: str, b: str) -> bool:
    """Whether two pictures show the same lines, up to the rounding of other machines."""
    first, second = points(a), points(b)
    return [c for c, _ in first] == [c for c, _ in second] and all(
        len(p) == len(q) and np.abs(p - q).max() < 0.3
        for (_, p), (_, q) in zip(first, second, strict=True)
    )


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_has_its_picture(preset: Preset) -> None:
    lines = points(preset.picture.read_text(encoding="utf-8"))
    colours = [colour for colour, _ in lines]
    times = 1 if preset.against in (NO_SET, TAIL) else 2
    for method in preset.scenario.methods:
        assert colours.count(middle(colour_of(method))) in (0, times)
    drawn = {middle(colour_of(m)) for m in preset.scenario.methods} & set(colours)
    assert len(drawn) >= len(preset.scenario.methods) - 1  # one may refuse
    assert "http" not in preset.picture.read_text().replace("http://www.w3.org/2000/svg", "")


def test_no_picture_is_left_of_a_preset_that_is_gone() -> None:
    assert {p.name for p in FOLDER.glob("*")} == {preset.picture.name for preset in PRESETS}


@pytest.mark.parametrize("name", ["Heavy tails hurt", "Privacy is free"])
def test_a_picture_is_drawn_from_its_run(name: str) -> None:
    preset = next(p for p in PRESETS if p.name == name)
    other = next(p for p in PRESETS if p.name != name)
    drawn = thumbnail(preset)
    assert same_picture(drawn, preset.picture.read_text(encoding="utf-8"))
    assert not same_picture(drawn, other.picture.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_picture_is_drawn_from_its_run(preset: Preset) -> None:
    assert same_picture(thumbnail(preset), preset.picture.read_text(encoding="utf-8"))


def test_a_higher_error_is_drawn_higher() -> None:
    (low_, high) = (Stroke(points=[(1, e), (10, e)], colour="#888888") for e in (1.0, 10.0))
    (_, below), (_, above) = points(svg([low_, high]))
    assert (above[1::2] < below[1::2]).all() and above[0] == below[0]
    assert above.min() > 0 and above[0::2].max() < WIDTH and below[1::2].max() < HEIGHT


def test_the_gallery_opens_a_preset() -> None:
    page = press(open_page(), "Gallery")
    dialog = page.get("dialog")
    assert len(dialog) == 1 and len(page.get("image")) == len(PRESETS)
    preset = next(p for p in PRESETS if p.name == "Hardest input")
    page.button(key=f"gallery_{preset.name}").click().run()
    assert not page.exception
    assert chosen(page) == preset.scenario == result(page).scenario
    assert preset.look_for in " ".join(c.value for c in (*page.caption, *page.markdown))
