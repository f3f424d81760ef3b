"""Geometry: sets, their duals, projections, Gaussian widths, and noise shaped to a norm."""

from functools import partial

import streamlit as st

from dpsco_app.pages.geometry.charts import polar_figure, set_figure, space_figure
from dpsco_app.pages.geometry.measures import projection_table
from dpsco_app.pages.geometry.places import SHOWN, figure_of, remember
from dpsco_app.pages.geometry.sections import growth_part, noise_parts, width_part
from dpsco_app.pages.geometry.state import (
    Q_OPTIONS,
    SCENES,
    SPAN,
    STATE,
    STEP,
    View,
    on_this_set,
    set_of,
    shown_set,
)
from dpsco_app.pages.geometry.words import (
    HOW_TO_READ,
    INTRODUCTION,
    LOOK_AT_SET,
    SENTENCES,
    SETS,
    UNBOUNDED,
    exponent_text,
    headed,
    plane_note,
    polar_name,
    projection_sentence,
    projection_title,
    set_name,
)
from dpsco_app.pages.scripts import geometry_script
from dpsco_app.parts.export import PAGE, draw_page_files
from dpsco_app.parts.folding import fold_words
from dpsco_app.parts.look import Look
from dpsco_app.parts.page import draw_scenes, draw_wrong, link, opened, slider, to_explore
from dpsco_app.parts.problem_words import geometry_name
from dpsco_app.parts.touch.modules import component
from dpsco_app.shell import visit
from dpsco_app.shell.places import draw_views
from dpsco_core.explain.geometry import (
    KINDS,
    LARGEST_SEED,
    SHORTEST_AXIS,
    nearest,
    outline,
    unbounded_polar,
)

HAND = "geometry_hand"  # which moves the point in the picture of the plane
FOLLOWED = "geometry_followed"  # the visit's set when the page was last drawn
STYLE = """<style>
.st-key-geometry_scenes { gap: 0.5rem; }
@media (max-width: 760px) {
  .st-key-geometry_set > div > [data-testid="stHorizontalBlock"],
  .st-key-geometry_set > [data-testid="stHorizontalBlock"] { flex-direction: column-reverse; }
}
</style>"""


def page() -> None:
    st.html(STYLE)
    draw_views("geometry")
    STATE.restore()
    # The set of the visit's scenario is shown when that has changed, unless the address names one.
    mine = set_of(visit.mine())
    if st.session_state.get(FOLLOWED) != mine and not {"geometry", "q"} & set(st.query_params):
        _show(*mine)
    st.session_state[FOLLOWED] = mine
    view, wrong = opened(STATE)
    st.title("Geometry: norms, sets, and the noise that fits them")
    draw_wrong(wrong)
    st.markdown(INTRODUCTION)
    draw_scenes(STATE, SCENES)
    _choose(view)
    # Each part runs again by itself when one of its own controls moves.
    _set_part()
    width_part()
    growth_part(view)
    noise_parts()
    fold_words(
        "How to read these figures, and what the symbols mean", HOW_TO_READ, "geometry_fold_reading"
    )


def _show(kind: str, q: float | None) -> None:
    STATE.change({"geometry": kind} | ({} if q is None else {"q": q}))


def _apart(view: View) -> None:
    """Say that another set than the visit's is shown, and offer the ways back."""
    mine = visit.mine()
    if shown_set(view) == set_of(mine):
        return
    everywhere = on_this_set(view, mine)
    with st.container(horizontal=True, vertical_alignment="center", key="geometry_apart"):
        name = geometry_name(mine.geometry, mine.q)
        st.markdown(f"**Here:** {set_name(view)} (yours: {name}).", width="content")
        if everywhere is not None:
            st.button(
                "Use it everywhere",
                key="geometry_use_everywhere",
                on_click=visit.take,
                args=(everywhere, STATE.name),
            )
        st.button("Back to mine", key="geometry_back_to_mine", on_click=_show, args=set_of(mine))


def _choose(view: View) -> None:
    left, middle, right, apart = st.columns([6, 5, 5, 10], vertical_alignment="bottom")
    with apart:
        _apart(view)
    left.selectbox(
        "Set C",
        KINDS,
        format_func=lambda kind: SETS[kind].name,
        key=STATE.key("geometry"),
        help="The constraint set: where the parameter must lie.",
    )
    middle.segmented_control(
        "Picture in",
        [2, 3],
        format_func=lambda d: f"{d} dimensions",
        key=STATE.key("dimensions"),
        required=True,
    )
    with right:
        if view.geometry == "lq":
            slider(
                STATE,
                "Exponent q of the norm",
                "q",
                Q_OPTIONS,
                format_func=exponent_text,
                help="1 is the ℓ₁ ball, 2 the round ball, ∞ the box.",
            )
        elif view.geometry == "ellipsoid":
            st.slider(
                "Shortest half-axis", SHORTEST_AXIS, 1.0, step=0.05, key=STATE.key("half_axis")
            )
        elif view.geometry == "hull":
            st.number_input("Which points (a seed)", 0, LARGEST_SEED, key=STATE.key("hull"))


def _moved() -> None:
    """Put the point where the hand has let it go."""
    x1, x2 = st.session_state[HAND]["chosen"]
    if all(isinstance(x, int | float) and abs(x) <= SPAN for x in (x1, x2)):
        STATE.change({"x1": float(x1), "x2": float(x2)})


@st.fragment
def _set_part() -> None:
    view = STATE.current()
    remember(view)
    words = SETS[view.geometry]
    shape, found = view.shape, nearest(view.shape, view.point)
    with st.container(key="geometry_set"):
        controls, pictures = st.columns([1, 3])
    with controls:
        for j in range(view.dimensions):
            label = f"Coordinate {j + 1} of the point x"
            st.slider(label, -SPAN, SPAN, step=STEP, key=STATE.key(f"x{j + 1}"))
        if view.dimensions == 3:
            st.slider(
                "Turn the pictures (degrees)",
                0,
                360,
                step=5,
                key=STATE.key("turn"),
                help="Or drag a picture with the mouse or a finger.",
            )
        with st.container(key="geometry_said"):
            look = Look(dark=st.context.theme.type == "dark")
            component("point", "hand.css", "point.css")(
                key=HAND,
                data={
                    "figure": "set_figure_",
                    "set": outline(view.shape) if view.dimensions == 2 else None,
                    "at": view.point,
                    "limit": SPAN,
                    "step": STEP,
                    "said": projection_sentence(found),
                    "sentences": SENTENCES,
                    "colours": {"ink": look.ink, "page": look.colour(PAGE)},
                },
                on_chosen_change=_moved,
                height="content",
            )
    title, table = projection_title(found), partial(projection_table, found)
    with pictures:
        if view.dimensions == 2:
            figure_of("set", title, partial(set_figure, shape, found), table)
        else:
            left, right = st.columns(2)
            with left:
                draw = partial(space_figure, shape, found, view.turn)
                figure_of("set", title, draw, table, space=True)
            with right:
                draw = partial(polar_figure, shape, found, view.turn)
                figure_of("polar", f"Its polar: {polar_name(view)}", draw, table, space=True)
    st.markdown(
        f"**{headed(set_name(view))}**: ${words.formula}$. {words.what}{plane_note(view)} "
        f"Its **polar set** is {polar_name(view)}."
    )
    st.caption(LOOK_AT_SET + (UNBOUNDED if unbounded_polar(shape) else ""))
    with st.container(horizontal=True, vertical_alignment="bottom", key="geometry_row"):
        shown = st.session_state[SHOWN]  # at a download, other parts may have run by themselves
        draw_page_files("geometry", lambda: geometry_script(shown["view"]))
        link(STATE, view)
        scenario = on_this_set(view, visit.mine())
        if scenario is not None:
            to_explore(scenario, "Run algorithms on this set in Explore")
