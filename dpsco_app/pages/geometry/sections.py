"""Geometry's later sections: widths, and noise shaped to a norm."""

from functools import partial

import pandas as pd
import streamlit as st

from dpsco_app.pages.geometry.charts import cloud_figure, reach_figure
from dpsco_app.pages.geometry.measures import (
    NOISE_COLOURS,
    columns,
    growth_figure,
    noise_table,
    running_figure,
    short_noise_table,
    sweep_figure,
    width_frame,
)
from dpsco_app.pages.geometry.places import figure_of, remember
from dpsco_app.pages.geometry.state import (
    DIMENSION_OPTIONS,
    DRAWS_OPTIONS,
    NOISE_Q_OPTIONS,
    STATE,
    View,
)
from dpsco_app.pages.geometry.words import (
    ABOUT_NOISE,
    ABOUT_WIDTH,
    LOOK_AT_GROWTH,
    LOOK_AT_INTERVAL,
    LOOK_AT_LINES,
    LOOK_AT_NEEDLES,
    LOOK_AT_NOISE,
    LOOK_AT_SWEEP,
    NOISE_NAMES,
    SETS,
    clouds_sentence,
    exponent_text,
    headed,
    sweep_title,
    width_text,
    width_title,
)
from dpsco_app.parts.export import show_table
from dpsco_app.parts.page import slider
from dpsco_core.explain.geometry import (
    COMPARED,
    LARGEST_SEED,
    MANY,
    NOISES,
    Cloud,
    DualSquare,
    Shape,
    cloud,
    contour,
    dual_square,
    few_directions,
    plane_or_space_width,
    running_mean,
    sweep,
    width_table,
)

CLOUD_DRAWS = 1200
_kept = partial(st.cache_data, show_spinner=False)
_running = _kept(max_entries=500, hash_funcs={Shape: repr})(running_mean)
_widths = _kept(max_entries=100)(width_table)
_grid = _kept(max_entries=100)(sweep)


@st.fragment
def width_part() -> None:
    """Draw a few directions, and the running mean of the support function."""
    view = STATE.current()
    remember(view)
    st.header("Gaussian width: how far the set reaches in a random direction")
    st.markdown(ABOUT_WIDTH)
    left, middle, right = st.columns([3, 2, 2], vertical_alignment="bottom")
    with left:
        slider(STATE, "Random directions", "draws", DRAWS_OPTIONS, format_func=lambda n: f"{n:,}")
    again = "Another one draws other directions."
    middle.number_input("Seed", 0, LARGEST_SEED, key=STATE.key("seed"), help=again)
    with right:
        _draw_again("seed", view.seed)
    shape = view.shape
    running = _running(shape, view.draws, view.seed)
    few, width = few_directions(shape, view.seed), plane_or_space_width(shape)
    left, right = st.columns(2)
    with left:
        title = (
            f"The first {len(few.heights)} directions: the mean reach is {few.heights.mean():.2f}"
        )
        reach = columns("Direction", few.directions).assign(Reach=few.heights)
        draw, memo = partial(reach_figure, shape, few), (shape, view.seed)
        figure_of("reach", title, draw, lambda: reach, space=shape.d == 3, memo=memo)
    with right:
        title, memo = width_title(running, width), (shape, view.draws, view.seed)
        means = {"Draws": running.draws, "Mean": running.means}
        means |= {"Low": running.low, "High": running.high}
        draw = partial(running_figure, running, width)
        figure_of("running", title, draw, lambda: pd.DataFrame(means), memo=memo)
    first = LOOK_AT_LINES if shape.d == 2 else LOOK_AT_NEEDLES
    st.caption(first + LOOK_AT_INTERVAL)
    st.caption(f"Width: {width_text(width)}.")


def growth_part(view: View) -> None:
    st.header("Width against dimension")
    rows, kind = _widths(view.q), view.geometry
    names = {compared: SETS[compared].name for compared in COMPARED}
    names["lq"] = f"ℓ_q ball, q = {exponent_text(view.q)}"
    told = kind if kind in names else "l1"
    mine = [row.width.value for row in rows if row.kind == told]
    title = (
        f"From {MANY[0]} to {MANY[-1]:,} dimensions the width of the {names[told]} grows "
        f"{mine[-1] / mine[0]:.2g} times"
    )
    draw, memo = partial(growth_figure, rows, names, kind), (view.q, kind)
    figure_of("growth", title, draw, lambda: width_frame(rows, names), memo=memo)
    st.caption(LOOK_AT_GROWTH)


@_kept(max_entries=100)
def _clouds(d: int, q: float, seed: int) -> tuple[Cloud, ...]:
    return tuple(cloud(d, q, noise, CLOUD_DRAWS, seed) for noise in NOISES)


@_kept(max_entries=500)
def _squares(d: int, q: float, seed: int) -> tuple[DualSquare, ...]:
    return tuple(dual_square(d, q, noise, seed) for noise in NOISES)


@st.fragment
def noise_parts() -> None:
    """Draw what is about noise; one exponent and one seed for all of it."""
    view = STATE.current()
    remember(view)
    _clouds_part(view)
    _sweep_part(view)


def _clouds_part(view: View) -> None:
    st.header("Noise shaped to the norm")
    st.markdown(ABOUT_NOISE)
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    with left:
        slider(
            STATE,
            "Exponent q of the parameters' norm",
            "noise_q",
            NOISE_Q_OPTIONS,
            format_func=exponent_text,
            help="Gradients are measured in the dual norm, with exponent q′ = q/(q − 1).",
        )
    with right:
        _draw_again("noise_seed", view.noise_seed)
    d, q = view.dimensions, view.noise_q
    clouds, squares = _clouds(d, q, view.noise_seed), _squares(d, q, view.noise_seed)
    curves = [contour(c) for c in clouds] if d == 2 else []
    span = 1.35 * max(c.contour_scale for c in clouds)
    for i, column in enumerate(st.columns(2)):
        found, lines = clouds[i], []
        for k in (i, 1 - i) if curves else ():
            noise = clouds[k].noise
            name = f"90 % of the {NOISE_NAMES[noise]} draws"
            lines.append((name, curves[k], NOISE_COLOURS[noise]))
        draw = partial(cloud_figure, found.draws, lines, NOISE_COLOURS[found.noise], span)
        table = partial(columns, "Coordinate", found.draws)
        memo, name = (d, q, view.noise_seed, i), headed(NOISE_NAMES[found.noise])
        title = f"{name} noise: expected squared dual norm {squares[i].exact:.2f} units"
        with column:
            figure_of(f"cloud_{i}", title, draw, table, space=d == 3, memo=memo)
    st.container(key="geometry_said_noise").markdown(clouds_sentence(clouds[0], *squares))
    show_table(short_noise_table(squares))
    st.caption(LOOK_AT_NOISE)


def _sweep_part(view: View) -> None:
    st.header("The noise's dual norm against q")
    slider(
        STATE,
        "Dimension d of this figure",
        "noise_d",
        DIMENSION_OPTIONS,
        format_func=lambda d: f"{d:,}",
    )
    rows, q = _grid(view.noise_d, view.noise_seed), view.noise_q
    if not any(row.q == q for row in rows):
        rows = (*rows, *_squares(view.noise_d, q, view.noise_seed))
    title, memo = sweep_title(rows, q, view.noise_d), (q, view.noise_d, view.noise_seed)
    draw, table = partial(sweep_figure, rows, q), partial(noise_table, rows)
    figure_of("sweep", title, draw, table, memo=memo)
    st.caption(LOOK_AT_SWEEP)


def _draw_again(name: str, seed: int) -> None:
    st.button(
        "Draw again",
        icon=":material/casino:",
        key=f"geometry_again_{name}",
        on_click=STATE.change,
        args=({name: (seed + 1) % (LARGEST_SEED + 1)},),
    )
