"""The legend says in one line whether methods run as printed, and which of them differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dpsco_app.figure.theme import SIZES, Theme
from dpsco_app.front.screen import FrontScreen, front_screen
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario
from tests.golden_sentences import GOLDEN

METHODS = ("mean.sample", "mean.clipped", "mean.cwme-cdp")
SCENARIO = Scenario(methods=METHODS, axis="n", grid=(2000, 4000), trials=2, n=4000)
CALIBRATED = "Methods are calibrated: the least noise that the proof allows."


def front_screen_of(scenario: Scenario, size: str = "wide") -> FrontScreen:
    """Return the front page of a scenario that has run, at a size of the screen."""
    whole = Study(scenario=scenario, outcomes=tuple(study(scenario)))
    return front_screen((whole,), View(card="others"), Theme(size=SIZES[size]))


def test_the_caption_names_the_one_method_whose_form_differs() -> None:
    assert (
        front_screen_of(SCENARIO).figure.ladder.caption
        == f"{CALIBRATED} Coordinate-wise: one block."
    )
    pair = replace(SCENARIO, methods=METHODS[:2])
    assert front_screen_of(pair).figure.ladder.caption == CALIBRATED


def test_without_a_method_of_a_paper_there_is_no_caption() -> None:
    scenario = replace(SCENARIO, methods=("mean.sample", "mean.adaptive"))
    assert front_screen_of(scenario).figure.ladder.caption == ""


def test_the_caption_calls_noise_and_parameters_from_a_paper_printed() -> None:
    printed = replace(SCENARIO, calibration="paper", tuning="theory")
    caption = front_screen_of(printed).figure.ladder.caption
    assert caption == GOLDEN["methods run as printed"]


def ladder_notes(drawn_screen: FrontScreen) -> list[dict[str, Any]]:
    """Return the annotations of the ladder that say how a rung is calibrated."""
    parts: list[dict[str, Any]] = drawn_screen.charts["layout"]["annotations"]
    return [part for part in parts if "calibrated" in str(part["text"])]


def test_the_caption_stands_below_the_legend_and_the_sentence_in_the_table_and_the_hover_text() -> (
    None
):
    wide, phone = front_screen_of(SCENARIO), front_screen_of(SCENARIO, "compact")
    assert ladder_notes(wide) == [] and "one block" in wide.table
    assert ladder_notes(phone) == [] and f"<tfoot><tr><td colspan='3'>{CALIBRATED}" in phone.table
    assert "<small>Calibrated: the least noise" in phone.table
    hovers = {
        trace.get("name"): str(trace.get("customdata", trace)) for trace in wide.charts["data"]
    }
    assert "single block" in " ".join(hovers.values())
