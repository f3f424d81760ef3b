"""What is seen of Geometry's point, and in the plane the hand that moves it."""

import streamlit as st

from dpsco_app.pages.geometry.state import SPAN, STATE, STEP, View
from dpsco_app.pages.geometry.words import SENTENCES, projection_sentence
from dpsco_app.parts.export import PAGE
from dpsco_app.parts.look import Look
from dpsco_app.parts.touch.modules import component
from dpsco_core.explain.geometry import Nearest, outline

KEY = "geometry_hand"


def draw_hand(view: View, found: Nearest) -> None:
    """Draw here what is seen, and into the figure of the plane the grip."""
    look = Look(dark=st.context.theme.type == "dark")
    component("point", "hand.css", "point.css")(
        key=KEY,
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
        on_chosen_change=_choose,
        height="content",
    )


def _choose() -> None:
    """Put the point where the hand has let it go."""
    x1, x2 = st.session_state[KEY]["chosen"]
    if all(isinstance(x, int | float) and abs(x) <= SPAN for x in (x1, x2)):
        STATE.change({"x1": float(x1), "x2": float(x2)})
