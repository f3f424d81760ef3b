"""Geometry: a set and its projection, Gaussian widths, and noise shaped to a norm."""

import streamlit as st

from dpsco_app.figure.colours import INK, PAGE
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import draw_page
from dpsco_app.pages.geometry import words
from dpsco_app.pages.geometry.figures import (
    growth_figure,
    noise_table,
    point_table,
    set_figure,
    sweep_figure,
    width_table_frame,
)
from dpsco_app.pages.geometry.state import (
    DIMENSION_OPTIONS,
    NOISE_Q_OPTIONS,
    PARTS,
    SPAN,
    STATE,
    STEP,
    View,
    shape_of,
)
from dpsco_app.parts.page import SliderOptions, sliders
from dpsco_app.parts.problem_words import geometry_name
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.components import component
from dpsco_app.shell.places import draw_views
from dpsco_core.explain.geometry import (
    NOISES,
    dual_square,
    nearest,
    outline,
    sweep,
    width_table,
)
from dpsco_core.scenario import Scenario

SLIDERS: dict[str, SliderOptions] = {
    "noise_q": ("Exponent q of the norm", NOISE_Q_OPTIONS, None),
    "noise_d": ("Dimension d", DIMENSION_OPTIONS, None),
}
HAND = "geometry_hand"  # The key of the component that moves the point in the picture.
_grid = st.cache_data(max_entries=200, show_spinner=False)(sweep)


def page() -> None:
    """Draw the page on sets, their widths and the shapes of noise."""
    draw_views("geometry")
    draw_page(
        STATE,
        DRAW,
        words.QUESTIONS,
        names=PARTS,
        texts=words.LOOK_AT,
        symbols=words.HOW_TO_READ,
        with_side=("set",),
    )


def _move_point() -> None:
    """Move the point of the page to the place at which the visitor dropped it."""
    x1, x2 = st.session_state[HAND]["chosen"]
    if all(isinstance(x, int | float) and abs(x) <= SPAN for x in (x1, x2)):
        STATE.change({"x1": float(x1), "x2": float(x2)})


def _draw_set(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the set with a point that the visitor can drag, and the point's projection."""
    shape = shape_of(scenario)
    projected, set_words = nearest(shape, (view.x1, view.x2)), words.SETS[shape.kind]
    figure = set_figure(shape, projected, words.set_answer(shape))
    screen.show(words.QUESTIONS["set"], figure, table=lambda: point_table(projected))
    sentences = words.sentences(symmetric=shape.symmetric)
    with screen.side, st.container(key="geometry_said"):
        component("point", "hand.css", "point.css")(
            key=HAND,
            data={
                "figure": "geometry_figure_",
                "set": outline(shape),
                "at": (view.x1, view.x2),
                "limit": SPAN,
                "step": STEP,
                "said": words.point_sentence(projected, sentences),
                "sentences": sentences,
                "colours": {"ink": INK[is_dark()], "page": PAGE[is_dark()]},
            },
            on_chosen_change=_move_point,
            height="content",
        )
        st.markdown(f"${set_words.formula}$. {set_words.description}")


def _draw_widths(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw how the Gaussian widths of the sets grow with the dimension."""
    shape = shape_of(scenario)
    rows = width_table(shape.q)
    names = {kind: geometry_name(kind, shape.q) for kind in words.SETS}
    answer = words.width_answer(rows, shape.kind, names[shape.kind])
    figure = growth_figure(rows, names, shape.kind, answer)
    screen.show(words.QUESTIONS["width"], figure, table=lambda: width_table_frame(rows))


def _draw_noise(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the squared dual norm of shaped and of Gaussian noise against the exponent q."""
    with screen.controls:
        sliders(STATE, st.columns(4), SLIDERS)
    d, q, seed = view.noise_d, view.noise_q, view.seed
    gg, gaussian = (dual_square(d, q, noise, seed) for noise in NOISES)
    rows = _grid(d, seed)
    rows = rows if any(row.q == q for row in rows) else (*rows, gg, gaussian)
    figure = sweep_figure(rows, q, words.noise_answer(gg, gaussian, d))
    screen.show(words.QUESTIONS["noise"], figure, table=lambda: noise_table(rows))


DRAW = {"set": _draw_set, "width": _draw_widths, "noise": _draw_noise}
