"""Geometry: a set and its projection, Gaussian widths, and noise shaped to a norm."""

from functools import partial

import streamlit as st

from dpsco_app.figure.colours import INK, PAGE
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.geometry import words
from dpsco_app.pages.geometry.figures import (
    growth_figure,
    noise_table,
    point_table,
    reach_figure,
    reach_table,
    set_figure,
    sweep_figure,
    width_table_frame,
)
from dpsco_app.pages.geometry.state import (
    DIMENSION_OPTIONS,
    NOISE_Q_OPTIONS,
    PARTS,
    Q_OPTIONS,
    SPAN,
    STATE,
    STEP,
    View,
    on_this_set,
    set_of,
    shown_set,
)
from dpsco_app.pages.scripts import geometry_script
from dpsco_app.parts.export import draw_page_files
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.page import draw_parts, draw_wrong, link, opened, slider, to_explore
from dpsco_app.parts.problem_words import geometry_name
from dpsco_app.parts.themes import is_dark
from dpsco_app.parts.touch.components import component
from dpsco_app.shell import visit
from dpsco_app.shell.places import draw_views
from dpsco_core.explain.geometry import (
    LARGEST_SEED,
    NOISES,
    dual_square,
    few_directions,
    nearest,
    outline,
    plane_width,
    sweep,
    width_table,
)
from dpsco_core.geometry.geometries import GEOMETRIES

HAND = "geometry_hand"  # the hand that moves the point in the picture of the plane
FOLLOWED = "geometry_followed"  # the visit's set when the page was last drawn
_kept = partial(st.cache_data, max_entries=200, show_spinner=False)
_widths, _grid = _kept()(width_table), _kept()(sweep)


def page() -> None:
    draw_views("geometry")
    STATE.restore()
    # The set of the visit's scenario is shown when that has changed, unless the address names one.
    mine = set_of(visit.mine())
    followed = st.session_state.get(FOLLOWED, set_of(visit.BASE))
    if followed != mine and not {"geometry", "q"} & set(st.query_params):
        _show(*mine)
    st.session_state[FOLLOWED] = mine
    view, wrong = opened(STATE)
    draw_wrong(wrong)
    STATE.remember(view)
    DRAW[view.part](view)
    fold_words("What the symbols mean", words.HOW_TO_READ, "geometry_fold_reading")
    with st.container(horizontal=True, vertical_alignment="bottom", key="geometry_row"):
        draw_page_files("geometry", lambda: geometry_script(view))
        link(STATE, view)
        scenario = on_this_set(view, visit.mine())
        if scenario is not None and view.part != "noise":
            to_explore(scenario, "Run algorithms on this set in Explore")


def _show(kind: str, q: float | None) -> None:
    STATE.change({"geometry": kind} | ({} if q is None else {"q": q}))


def _choose(view: View, screen: FirstScreen) -> None:
    """Draw the parts of the page, and what the part that is shown asks for."""
    with (
        screen.controls,
        st.container(horizontal=True, vertical_alignment="bottom", key="geometry_choices"),
    ):
        draw_parts(PARTS, STATE.key("part"))
        if view.part == "noise":
            exponent = {"format_func": words.exponent_text}
            slider(STATE, "Exponent q of the norm", "noise_q", NOISE_Q_OPTIONS, **exponent)
            slider(STATE, "Dimension d", "noise_d", DIMENSION_OPTIONS)
            return
        st.selectbox(
            "Set C",
            GEOMETRIES,
            format_func=lambda kind: words.SETS[kind].name,
            key=STATE.key("geometry"),
            width=240,
        )
        if view.geometry == "lq":
            slider(
                STATE,
                "Exponent q of the norm",
                "q",
                Q_OPTIONS,
                format_func=words.exponent_text,
                help="1 is the ℓ₁ ball, 2 the round ball, ∞ the box.",
            )


def _apart(view: View) -> None:
    """Say that another set than the visit's is shown, and offer the ways back."""
    mine = visit.mine()
    if shown_set(view) == set_of(mine):
        return
    everywhere = on_this_set(view, mine)
    with st.container(horizontal=True, vertical_alignment="center", key="geometry_apart"):
        name = geometry_name(mine.geometry, mine.q)
        st.markdown(f"**Here:** {words.set_name(view)} (yours: {name}).", width="content")
        if everywhere is not None:
            st.button(
                "Use it everywhere",
                key="geometry_use_everywhere",
                on_click=visit.take,
                args=(everywhere, STATE.name),
            )
        st.button("Back to mine", key="geometry_back_to_mine", on_click=_show, args=set_of(mine))


def _moved() -> None:
    """Put the point where the hand has let it go."""
    x1, x2 = st.session_state[HAND]["chosen"]
    if all(isinstance(x, int | float) and abs(x) <= SPAN for x in (x1, x2)):
        STATE.change({"x1": float(x1), "x2": float(x2)})


def _set(view: View) -> None:
    screen = FirstScreen("set", beside=True)
    _choose(view, screen)
    shape, projected, about = view.shape, nearest(view.shape, view.point), words.SETS[view.geometry]
    figure = set_figure(shape, projected, words.set_answer(view))
    screen.say(words.QUESTIONS["set"], figure.alt)
    screen.draw(figure)
    sentences = words.sentences(symmetric=shape.symmetric)
    with screen.beside, st.container(key="geometry_said"):
        component("point", "hand.css", "point.css")(
            key=HAND,
            data={
                "figure": "set_figure_",
                "set": outline(shape),
                "at": view.point,
                "limit": SPAN,
                "step": STEP,
                "said": words.point_sentence(projected, sentences),
                "sentences": sentences,
                "colours": {"ink": INK[is_dark()], "page": PAGE[is_dark()]},
            },
            on_chosen_change=_moved,
            height="content",
        )
        st.markdown(f"${about.formula}$. {about.what}")
        st.caption(words.LOOK_AT["set"])
    with screen.foot:
        _apart(view)
    screen.draw_files(figure, lambda: point_table(projected))


def _width(view: View) -> None:
    screen = FirstScreen("growth")
    _choose(view, screen)
    rows = _widths(view.q)
    names = {kind: known.name for kind, known in words.SETS.items()}
    names["lq"] = f"ℓ_q ball, q = {words.exponent_text(view.q)}"
    figure = growth_figure(rows, names, view.geometry, words.width_answer(rows, view))
    screen.say(words.QUESTIONS["width"], figure.alt)
    screen.draw(figure)
    screen.foot.caption(words.LOOK_AT["width"])
    screen.draw_files(figure, lambda: width_table_frame(rows))
    few, width = few_directions(view.shape, view.seed), plane_width(view.shape)
    title = f"In the plane the width is {width:.4g}; {len(few.heights)} random directions reach "
    below = FirstScreen("reach", beside=True)
    figure = reach_figure(view.shape, few, f"{title}{few.heights.mean():.2f} on average")
    below.draw(figure)
    with below.beside:
        st.subheader(figure.alt)
        st.caption(words.LOOK_AT["reach"])
        _draw_again(view)
    below.draw_files(figure, lambda: reach_table(few))


def _noise(view: View) -> None:
    screen = FirstScreen("sweep")
    _choose(view, screen)
    d, q, seed = view.noise_d, view.noise_q, view.seed
    rows = _grid(d, seed)
    gg, gaussian = (dual_square(d, q, noise, seed) for noise in NOISES)
    rows = rows if any(row.q == q for row in rows) else (*rows, gg, gaussian)
    figure = sweep_figure(rows, q, words.noise_answer(gg, gaussian, d))
    screen.say(words.QUESTIONS["noise"], figure.alt)
    screen.draw(figure)
    screen.foot.caption(words.LOOK_AT["noise"])
    screen.draw_files(figure, lambda: noise_table(rows))


def _draw_again(view: View) -> None:
    st.button(
        "Draw again",
        icon=":material/casino:",
        key="geometry_again",
        on_click=STATE.change,
        args=({"seed": (view.seed + 1) % (LARGEST_SEED + 1)},),
    )


DRAW = {"set": _set, "width": _width, "noise": _noise}
