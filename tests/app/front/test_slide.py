"""A slide is one 16:9 page with embedded fonts, and shows the same values as the figure."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace

import pytest

from dpsco_app.figure.slide import slide
from dpsco_app.figure.values import Figure
from dpsco_app.front.figure import front_figure
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.pages.first_screen import has_slide
from dpsco_app.parts.evaluations import hardest
from dpsco_app.parts.presets import FIRST
from dpsco_core.runs.study import study
from tests.app.results import SWEEP, run

HEADLINE = ("Privacy costs 3.4 times the error.", "No private algorithm can promise less.")
SOURCE = "n = 10,000, seed 7"


@pytest.fixture(scope="module")
def preset_figure() -> Figure:
    """Return the front figure of the first preset at two sizes and with two trials."""
    scenario = replace(FIRST.scenario, trials=2, grid=(1000, 10_000))
    whole = Study(scenario=scenario, outcomes=tuple(study(scenario)), role="hardest")
    return front_figure([whole], View())


def written_letters(pdf: bytes) -> str:
    """Return the ASCII letters that are written onto the page."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    texts = []
    for stream in streams:
        try:
            texts.append(zlib.decompress(stream).decode("latin-1"))
        except zlib.error:  # This stream holds a font and not page text.
            continue
    drawn_texts = re.findall(r"\(((?:[^()\\]|\\.)*)\)", "".join(texts), re.DOTALL)
    return "".join(drawn_texts).replace("\\", "").replace("\0", "")


def test_a_slide_is_one_16_to_9_page_with_embedded_fonts(preset_figure: Figure) -> None:
    document = slide(preset_figure, HEADLINE, SOURCE)
    assert document.startswith(b"%PDF") and document == slide(preset_figure, HEADLINE, SOURCE)
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", document)
    width, height = map(float, box)
    assert width / height == pytest.approx(16 / 9, rel=1e-3)
    fonts = re.findall(rb"/BaseFont /([\w-]+)", document)
    assert fonts and document.count(b"/FontFile2") >= len(set(fonts)) > 1


def test_a_slide_shows_the_headline_the_names_the_factors_and_the_source(
    preset_figure: Figure,
) -> None:
    text = written_letters(slide(preset_figure, HEADLINE, SOURCE))
    assert preset_figure.ruler is not None
    names = [rung.name for rung in preset_figure.ruler.rungs]
    factors = [rung.text.removeprefix("×") for rung in preset_figure.ruler.rungs if rung.text]
    assert len(names) > 3 and len(factors) > 3
    for words in (*HEADLINE, *names, *factors, SOURCE, preset_figure.y.title):
        assert words.replace(" ", "") in text.replace(" ", ""), words


def test_slides_support_two_panels_and_the_dark_theme(preset_figure: Figure) -> None:
    hard = hardest(SWEEP)
    assert hard is not None
    studies = [
        Study(scenario=SWEEP, outcomes=run(SWEEP).outcomes),
        Study(scenario=hard, outcomes=run(hard).outcomes, role="hardest"),
    ]
    figure = front_figure(studies, View())
    text = written_letters(slide(figure, ("Two panels",), SOURCE)).replace(" ", "")
    for panel in figure.panels:
        assert panel.title.replace(" ", "") in text
    for row in figure.ladder.rows:
        assert row.name.replace(" ", "") in text
    assert slide(preset_figure, HEADLINE, SOURCE, dark=True) != slide(
        preset_figure, HEADLINE, SOURCE
    )
    assert has_slide(figure) and not has_slide(replace(figure, square=True))
