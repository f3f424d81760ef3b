"""Colours tell methods apart and are readable, and numbers are formatted for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import plotly.graph_objects as go
import pytest

from dpsco_app.figure import methods
from dpsco_app.figure.colours import METHODS, PART_INKS, QUIET
from dpsco_app.figure.render import DOT, plotly
from dpsco_app.figure.theme import SIZES, WIDE, Size, Theme
from dpsco_app.figure.values import Axis, Figure, Gap, Ladder, LadderRow, Line, Panel
from dpsco_app.parts.options import number_text
from dpsco_app.parts.presets import PRESETS, Preset
from dpsco_app.shell.teaching import SCALE
from dpsco_core.base.cards import Level
from dpsco_core.catalogue import PROBLEM_SLUGS, default_methods, method_card, methods_for
from dpsco_core.fields.field import series


def test_every_method_of_a_problem_has_its_own_combination_of_hue_mark_and_dash() -> None:
    for problem in PROBLEM_SLUGS:
        for level in get_args(Level):  # No figure shows methods of both privacy levels.
            slugs = methods_for(problem, level)
            looks = {
                (methods.colour_of(m), methods.symbol_of(m), methods.is_dashed(m)) for m in slugs
            }
            assert len(looks) == len(slugs), (problem, level)


def methods_by_hue(slugs: Sequence[str]) -> dict[methods.Pair, set[str]]:
    """Return the private methods of each hue; variants of one method count once."""
    hues: dict[methods.Pair, set[str]] = {}
    for card in map(method_card, slugs):
        if card.privacy != "none":
            hues.setdefault(methods.colour_of(card.slug), set()).add(card.name.split(",")[0])
    return hues


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_the_methods_of_a_preset_have_different_hues(preset: Preset) -> None:
    assert all(len(names) == 1 for names in methods_by_hue(preset.scenario.methods).values())


def test_the_best_estimators_of_means_differ_in_their_hues() -> None:
    """These are the methods that adapt to the data, one of which the page Methods recommends."""
    best = [m for m in methods_for("mean", "item") if method_card(m).private_radius]
    hues = methods_by_hue([*default_methods("mean"), *best, "mean.coinpress"])
    assert len(best) >= 3 and all(len(names) == 1 for names in hues.values())


def contrast_ratio(colour: str, page: str) -> float:
    """Return the WCAG 2 contrast ratio of two colours."""
    light = []
    for text in (colour, page):
        parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(light) + 0.05) / (min(light) + 0.05)


def test_every_colour_of_text_can_be_read_on_its_page() -> None:
    for on_light, on_dark in (*METHODS.values(), *PART_INKS.values()):
        assert contrast_ratio(on_light, "#ffffff") >= 4.5, on_light
        assert contrast_ratio(on_dark, "#171614") >= 4.5, on_dark


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (10_000, "10,000"),
        (0.05, "0.05"),
        (1e-6, "10⁻⁶"),
        (2e-4, "2·10⁻⁴"),
        (1e7, "10⁷"),
        (2397, "2,397"),
    ],
)
def test_numbers_are_written_as_people_write_them(value: float, text: str) -> None:
    assert number_text(value) == text


def test_slider_values_are_one_two_and_five_times_powers_of_ten() -> None:
    assert series(0, 1) == (1, 2, 5, 10)


@pytest.mark.parametrize("name", ["Sample mean", "Objective perturbation", 4 * "Very long name "])
def test_the_panels_shrink_for_long_names_up_to_a_limit(name: str) -> None:
    row = LadderRow(
        key="own", name=name, colour=QUIET, values=["0.0094", "0.090"], end=2.0, bold=True
    )
    axis = Axis(title="Error", low=1.0, high=10.0, ticks=[(1.0, "1"), (10.0, "10")])
    ladder = Ladder(title="At n", columns=["ℓ₁ ball", "ℓ₂ ball"], rows=[row])
    figure = Figure(panels=[Panel(title="", x=axis)], y=axis, ladder=ladder, alt="A figure")
    layout = plotly(figure, Theme(dark=False, size=WIDE))["layout"]
    whole = f"<b>{name}</b>" in [note["text"] for note in layout["annotations"]]
    assert whole == (len(name) < 40)
    room = layout["margin"]["r"] - WIDE.right
    assert room == 0 if len(name) < 15 else 0 < room <= 64


def test_a_factor_at_the_right_end_stays_off_the_names_even_where_no_place_is_free() -> None:
    x = Axis(title="n", low=1.0, high=10.0, ticks=[(1.0, "1"), (10.0, "10")])
    y = Axis(title="Error", low=1.0, high=10.0, ticks=[(1.0, "1"), (10.0, "10")])
    lines = [
        Line(key=f"{i}", name=f"{i}", x=[1, 10], y=[10 ** (i / 60)] * 2, colour=QUIET)
        for i in range(60)
    ]
    gap = Gap(x=10.0, low=3.0, high=3.3, text="×1.2", colour=QUIET, key="own")
    panel = Panel(title="", x=x, lines=lines, gap=gap, chosen=10.0)
    row = LadderRow(key="own", name="Own", colour=QUIET, values=["1"], end=3.0)
    ladder = Ladder(title="At n", columns=["error"], rows=[row])
    figure = Figure(panels=[panel], y=y, ladder=ladder, alt="A figure")
    layout = plotly(figure, Theme(dark=False, size=WIDE))["layout"]
    (note,) = [note for note in layout["annotations"] if "×1.2" in note["text"]]
    # The right end of the axis is at log10 = 1.
    assert note["xanchor"] == "left" and note["x"] < 1 - 0.02


@pytest.mark.parametrize("size", [*SIZES.values(), replace(WIDE, scale=SCALE)])
def test_plotly_accepts_a_figure_of_every_size_and_no_number_lies_below_the_dot(size: Size) -> None:
    x = Axis(title="n", low=1.0, high=10.0, ticks=[(1.0, "1"), (10.0, "10")])
    ladder = Ladder(title="At n", columns=["error"], rows=[])
    figure = Figure(panels=[Panel(title="", x=x, chosen=10.0)], y=x, ladder=ladder, alt="A figure")
    parts = plotly(figure, Theme(size=size))
    # Plotly refuses fields that are not allowed.
    layout = go.Figure(parts["data"], parts["layout"]).layout
    assert layout.xaxis.ticklabelstandoff >= DOT * size.scale - 1
