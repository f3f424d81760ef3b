"""The ends of the sliders that are always open have labels, in both hosts of the session."""

from __future__ import annotations

from dpsco_app.figure.theme import Theme
from dpsco_app.front.view import View
from dpsco_app.parts.fields import (
    ALL_CONTROLS,
    FOLDED_AT_FIRST,
    ends_html,
    front_fields,
    widget,
)
from dpsco_app.parts.presets import FIRST
from dpsco_app.static_page.controls import controls
from tests.app.pages import drawn_html, open_page

SLIDERS = [
    name
    for name in front_fields(FIRST.scenario, FOLDED_AT_FIRST)
    if widget(ALL_CONTROLS[name]) == "slider" and ALL_CONTROLS[name].is_shown(FIRST.scenario)
]


def test_each_end_of_an_open_slider_has_a_label() -> None:
    assert {"p", "n", "d", "epsilon"} <= set(SLIDERS)
    hosts = controls(FIRST.scenario, View(), Theme()), drawn_html(open_page())
    for name in SLIDERS:
        ends = ALL_CONTROLS[name].ends
        assert ends is not None
        left, right = ends
        words = f"<span>{left}</span><span>{right}</span>"
        assert ends_html(name) == words
        assert all(words in page for page in hosts), name
    # The smallest tail index is the heaviest tail, and the smallest budget the most private.
    assert ALL_CONTROLS["p"].ends == ("heavier", "lighter")
    assert ALL_CONTROLS["epsilon"].ends == ("more private", "less private")
