"""Figures: what they draw, in which order, and that no two names overlap."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import plotly.graph_objects as go
import pytest

from dpsco_app.figure import methods as methods_look
from dpsco_app.parts.charts import error_figure
from dpsco_app.parts.look import (
    BESIDE,
    FADED,
    REGION,
    ROLES,
    Label,
    Look,
    log_ticks,
    place_labels,
    translucent,
    wrapped,
)
from dpsco_app.parts.options import number_text
from dpsco_app.parts.presets import PRESETS
from dpsco_app.parts.traces import BEST_HERE, HERE, WORST, bound_name
from dpsco_app.shell.teaching import enlarged
from dpsco_core.base.law_classes import DIRECTIONAL
from dpsco_core.catalogue import (
    BOUND_SLUGS,
    METHOD_SLUGS,
    PROBLEM_SLUGS,
    bound,
    bounds_for,
    method_card,
    methods_for,
)
from dpsco_core.fields.field import series
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario
from tests.app.results import FLOORS, SWEEP, bounds, table

RATE = "upper.mean.clipped"
PROVEN = "upper.mean.clipped-expected"


def traces(figure: go.Figure, name: str) -> list[go.Scatter]:
    return [t for t in figure.data if t.name.replace("<br>", "") == name]


def written(figure: go.Figure) -> list[str]:
    return [a.text.replace("<br>", "") for a in figure.layout.annotations]


def draw(scenario: Scenario = SWEEP, *slugs: str, look: Look | None = None) -> go.Figure:
    look = look or Look(title="A title")
    return error_figure(scenario, table(scenario), bounds(scenario, *slugs), look)


def test_a_sweep_draws_regions_then_bounds_then_bands_and_lines() -> None:
    figure = draw(SWEEP, *FLOORS, RATE, PROVEN)
    names = [t.name for t in figure.data]
    lines = [method_card(m).name for m in SWEEP.methods]
    assert names[:2] == ["CDP Fano", "CDP hypercube"]
    assert set(names[2:-6]) == {
        bound("upper.mean.clipped").card.name + " (constant 1)",
        PROVEN_NAME,
    }
    assert names[-6:] == [text for name in lines for text in (f"{name}, 10-90 %", name)]
    assert figure.layout.title.text == "A title"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


PROVEN_NAME = f"{bound(PROVEN).card.name}, for {DIRECTIONAL.short}"


def test_the_region_below_a_lower_bound_is_filled_down_to_the_edge() -> None:
    figure = draw(replace(SWEEP, distribution="hypercube"), *FLOORS)
    floor = 10 ** figure.layout.yaxis.range[0]
    (region,) = traces(figure, "lower.mean.hypercube-cdp")
    assert region.fill == "toself" and region.line.width == 0
    truth = bounds(replace(SWEEP, distribution="hypercube"), "lower.mean.hypercube-cdp")
    assert region.y[:3] == pytest.approx([e.value for e in truth])
    assert max(region.y[3:]) < floor
    assert HERE in written(figure)


@pytest.mark.parametrize(
    ("distribution", "filled"),
    [
        ("hypercube", ["lower.mean.hypercube-cdp"]),
        ("spike", ["lower.mean.fano-cdp"]),
        ("student-t", []),
        ("gaussian", []),
    ],
)
def test_a_region_is_filled_only_on_the_data_that_its_bound_is_proven_for(
    distribution: str, filled: list[str]
) -> None:
    figure = draw(replace(SWEEP, distribution=distribution), *FLOORS)
    assert [slug for slug in FLOORS if traces(figure, slug)] == filled
    assert (HERE in written(figure)) == bool(filled)
    for slug in FLOORS:  # the others are lines that say what they are
        worst = f"{bound(slug).card.name}, worst case"
        assert (worst in written(figure)) == (slug not in filled)


def test_rates_are_dashed_and_say_that_their_constant_is_one() -> None:
    figure = draw(SWEEP, RATE, PROVEN)
    rates = [t for t in figure.data if t.name.endswith("(constant 1)")]
    assert rates and all(t.line.dash == "dash" for t in rates)
    assert all(t.line.dash == "solid" for t in traces(figure, PROVEN_NAME))
    assert all("rate, drawn with constant 1" in text for t in rates for text in t.hovertext)


def test_a_curve_is_faded_where_a_hypothesis_fails_and_its_hover_says_which() -> None:
    good = bounds(SWEEP, RATE)
    failing = [replace(good[0], failures=("n is too small.",)), *good[1:]]
    figure = error_figure(SWEEP, table(SWEEP), failing, Look())
    whole, faded = traces(figure, bound_name(bound(RATE).card))
    assert (whole.opacity, faded.opacity) == (0.9, FADED)
    assert [y is None for y in whole.y] == [True, False, False]
    assert [y is None for y in faded.y] == [False, False, True]
    assert "⚠ n is too small." in faded.hovertext[0].replace("<br>", "")


def test_hover_texts_hold_the_numbers_of_the_table() -> None:
    figure = draw()
    for row in table(SWEEP).itertuples():
        line = traces(figure, row.name)[0]
        text = line.hovertext[SWEEP.grid.index(row.x)]
        assert line.y[SWEEP.grid.index(row.x)] == row.mean_error
        for value in (row.median_error, row.mean_error, row.q10, row.q90):
            assert f"{value:.3g}" in text
        assert f"n = {row.x:,.0f}" in text and "5 trials" in text


def test_the_band_holds_ten_to_ninety_percent() -> None:
    figure = draw()
    for method in SWEEP.methods:
        rows = table(SWEEP).query("method == @method").sort_values("x")
        (band,) = traces(figure, f"{method_card(method).name}, 10-90 %")
        assert list(band.y[:3]) == rows["q90"].tolist()
        assert list(band.y[:2:-1]) == rows["q10"].tolist()


def test_a_phone_gets_a_legend_instead_of_labels() -> None:
    figure = draw(SWEEP, *FLOORS, look=Look(compact=True, title="word " * 30))
    assert figure.layout.showlegend and "CDP Fano" not in written(figure)
    assert "<br>" in figure.layout.title.text
    assert not draw().layout.showlegend


def test_an_empty_table_still_draws_the_bounds() -> None:
    figure = error_figure(SWEEP, table(SWEEP).head(0), bounds(SWEEP, *FLOORS), Look())
    assert len(traces(figure, "CDP Fano")) == 1
    assert len(error_figure(SWEEP, table(SWEEP).head(0), [], Look()).data) == 0


def test_a_refused_method_and_values_that_do_not_exist_are_left_out() -> None:
    scenario = replace(SWEEP, delta=0.0, methods=("mean.sample", "mean.clipped"))
    nowhere = [
        Evaluation(bound=bound(RATE), x=x, value=v, terms={}, failures=())
        for x, v in zip(SWEEP.grid, (math.nan, math.inf, 0.0), strict=True)
    ]
    figure = error_figure(scenario, table(scenario), nowhere, Look())
    assert {t.name for t in figure.data} == {"Sample mean", "Sample mean, 10-90 %"}


def test_every_bound_can_be_drawn_at_once_and_all_axes_too() -> None:
    for axis, grid in (("n", SWEEP.grid), ("d", (2, 20)), ("epsilon", (0.1, 1)), ("p", (2, 4))):
        scenario = replace(SWEEP, axis=axis, grid=grid)
        slugs = [b.card.slug for b in bounds_for("mean") if b.card.quantity == "l2 error"]
        figure = draw(scenario, *slugs)
        assert len(figure.data) > 20
        assert list(figure.layout.xaxis.ticktext) == [number_text(x) for x in grid]
        assert (figure.layout.xaxis.type == "log") == (axis != "p")


def pixel_boxes(figure: go.Figure, low: float, high: float) -> list[tuple[float, float]]:
    """Return the vertical extent of each label at the right edge, in pixels."""
    span = math.log10(high / low)
    height = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    boxes = []
    for a in figure.layout.annotations:
        if a.x == BESIDE:
            middle = (a.y - math.log10(low)) / span * height
            half = (1 + a.text.count("<br>")) * a.font.size * 1.3 / 2
            boxes.append((middle - half, middle + half))
    return sorted(boxes)


@pytest.mark.parametrize("method_count", [1, 4, 7])
def test_labels_never_overlap(method_count: int) -> None:
    scenario = replace(SWEEP, methods=methods_for("mean")[:method_count], trials=2)
    slugs = [b.card.slug for b in bounds_for("mean") if b.card.quantity == "l2 error"]
    drawn = [draw(scenario, *chosen) for chosen in ((), FLOORS, slugs)]
    for figure in (*drawn, *map(enlarged, drawn)):
        low, high = (10**end for end in figure.layout.yaxis.range)
        boxes = pixel_boxes(figure, low, high)
        assert len(boxes) >= method_count
        for below, above in itertools.pairwise(boxes):
            assert below[1] <= above[0] + 0.01
        assert boxes[-1][1] < figure.layout.height - figure.layout.margin.b


@pytest.mark.parametrize(("lines", "fitting"), [(5, 4), (23, 9)])
def test_labels_keep_their_order_of_rank_where_there_is_no_room_or_more_than_nine(
    lines: int, fitting: int
) -> None:
    figure = go.Figure()
    labels = [Label(text=f"bound {i}", y=1.0, colour="#000000", rank=2) for i in range(30)]
    labels.append(Label(text="measured", y=1.0, colour="#000000", rank=0))
    place_labels(figure, labels, 0.1, 10.0, lines)
    assert len(figure.layout.annotations) == fitting
    assert "measured" in written(figure)


@pytest.mark.parametrize("y", [0.1, 10.0])
def test_labels_at_an_edge_of_the_figure_stay_inside(y: float) -> None:
    figure = go.Figure()
    labels = [Label(text=f"line {i}", y=y, colour="#000000", rank=0) for i in range(20)]
    place_labels(figure, labels, 0.1, 10.0)
    heights = sorted(a.y for a in figure.layout.annotations)
    assert heights[0] > -1.001 and heights[-1] < 1.001
    assert min(b - a for a, b in itertools.pairwise(heights)) == pytest.approx(2 / 23)


def test_a_label_whose_line_ends_outside_takes_no_room() -> None:
    figure = go.Figure()
    outside = [Label(text="far", y=1e9, colour="#000000", rank=0)] * 30
    place_labels(figure, [*outside, Label(text="near", y=1.0, colour="#000000", rank=2)], 0.1, 10)
    assert written(figure) == ["near"]


def test_every_method_has_a_look_of_its_own_among_those_of_its_problem() -> None:
    for problem in PROBLEM_SLUGS:
        for level in ("item", "user"):  # no figure shows both
            methods = methods_for(problem, level)  # type: ignore[arg-type]
            looks = {(methods_look.colour_of(m), methods_look.symbol_of(m)) for m in methods}
            assert len(looks) == len(methods), (problem, level)


def contrast(colour: str, page: str) -> float:
    """Return the contrast of WCAG 2 between two colours."""
    light = []
    for text in (colour, page):
        parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(light) + 0.05) / (min(light) + 0.05)


def test_every_colour_can_be_read_as_text_on_its_page() -> None:
    for role, (on_light, on_dark) in ROLES.items():
        least = 3.0 if role == "pale grey" else 4.5  # large marks
        assert contrast(on_light, "#ffffff") >= least, role
        assert contrast(on_dark, "#0e1117") >= least, role


def test_the_name_of_a_bound_is_never_that_of_an_estimator() -> None:
    names = {method_card(m).name for m in METHOD_SLUGS}
    assert names.isdisjoint(bound_name(bound(s).card) for s in BOUND_SLUGS)


def test_ticks_are_one_two_five_and_powers_of_ten_over_a_wide_range() -> None:
    assert log_ticks(0.04, 3) == [0.05, 0.1, 0.2, 0.5, 1, 2]
    assert log_ticks(0.0004, 30) == [0.001, 0.01, 0.1, 1, 10]


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


def test_series_and_small_helpers() -> None:
    assert series(0, 1) == (1, 2, 5, 10)
    assert translucent("#0b57d0", 0.5) == "rgba(11,87,208,0.5)"
    assert wrapped("one two three", 7) == "one two <br>three"


USERS = replace(PRESETS[-1].scenario, grid=(1, 10, 1000), methods=("user.clipped-means",), trials=1)
STRONG = ("lower.sco-strong.hypercube-cdp", "lower.sco-strong.fano-cdp")


def test_a_shade_is_never_above_its_line_however_far_that_falls() -> None:
    """On the hypercube the floor falls from 10^-4 to 10^-26 between two points of the axis m."""
    look = Look(title="A title")
    figure = error_figure(USERS, table(USERS), bounds(USERS, *STRONG), look)
    (shade,) = traces(figure, STRONG[0])  # proven on these very data, the other is not
    assert not traces(figure, STRONG[1])
    (line,) = traces(figure, bound(STRONG[0]).card.name)
    count = len(shade.x) // 2
    assert list(shade.x[:count]) == [x for x, y in zip(line.x, line.y, strict=True) if y]
    assert list(shade.y[:count]) == pytest.approx([y for y in line.y if y], rel=1e-12)


def test_the_words_of_a_narrow_region_point_into_it() -> None:
    look = Look(title="A title")
    narrow = error_figure(USERS, table(USERS), bounds(USERS, *STRONG), look)
    (words,) = [a for a in narrow.layout.annotations if a.text.startswith("No private")]
    low, high = narrow.layout.yaxis.range
    edge = math.log10(bounds(USERS, STRONG[0])[0].value)
    assert words.showarrow and low < words.y < edge < high
    there = draw(replace(SWEEP, distribution="hypercube"), *FLOORS)
    (wide,) = [a for a in there.layout.annotations if "No private" in a.text]
    assert not wide.showarrow


DRAWN = (
    "lower.mean.fano-cdp",
    "lower.mean.hypercube-cdp",
    "lower.mean.rate-distortion-cdp",
    "lower.mean.tracing-cdp",
    "lower.mean.approx-tracing",
    "lower.mean.approx-assouad",
)
EVERYONE, GAUSSIAN = WORST[("none", "approx")], WORST[("zcdp",)]


def test_many_lower_bounds_are_one_line_for_each_notion_and_fano_by_name() -> None:
    figure = draw(SWEEP, *DRAWN)
    lines = [t for t in figure.data if t.line.color == Look().colour(REGION)]
    assert [t.name for t in lines] == ["CDP Fano", EVERYONE, GAUSSIAN]
    every = {e.bound.card.slug: e for e in bounds(SWEEP, *DRAWN) if e.x == SWEEP.grid[1]}
    approx = max(e.value for e in every.values() if e.bound.card.privacy == "approx")
    assert traces(figure, EVERYONE)[0].y[1] == approx
    assert traces(figure, GAUSSIAN)[0].y[1] == max(e.value for e in every.values()) > approx
    # Which bound it is, is said where one points at it.
    assert "CDP rate distortion" in traces(figure, GAUSSIAN)[0].hovertext[1]


def test_on_the_data_of_several_bounds_their_largest_is_filled() -> None:
    cube = replace(SWEEP, distribution="hypercube")
    figure = draw(cube, *DRAWN)
    (line,) = traces(figure, BEST_HERE)
    binding = [e for e in bounds(cube, *DRAWN) if e.bound.card.instance == "hypercube"]
    assert list(line.y) == [max(e.value for e in binding if e.x == x) for x in cube.grid]
    (shade,) = [t for t in figure.data if t.name.startswith("lower.")]
    assert list(shade.y[: len(cube.grid)]) == list(line.y)
