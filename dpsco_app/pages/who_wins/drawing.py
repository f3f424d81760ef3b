"""A map of winners on a page: it fills in, and a click into it moves the chosen point."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import streamlit as st

from dpsco_app.live.running import HEAD_START_SECONDS, Pace
from dpsco_app.pages.who_wins.charts import winners_figure
from dpsco_app.pages.who_wins.words import rest_sentence, winner_title, winners_table
from dpsco_app.parts import controls
from dpsco_app.parts.export import draw_files
from dpsco_app.parts.figures import figure_place, show
from dpsco_app.parts.look import Look
from dpsco_core.explain.contest import Contest, Reading
from dpsco_core.explain.regimes import Plane
from dpsco_core.fields import is_whole


def draw_contest(
    name: str,  # of the figure, for its keys
    stages: Iterator[Contest],  # the last one is whole
    point: object,  # marked, and moved by a click
    reading: Reading,
    *,
    words: Callable[[Contest], str],  # what is said of the whole contest
    # between which values a click moves an axis
    limits: Mapping[str, tuple[int, int]] | None = None,
    setting: str = "",  # at the foot of its files
) -> None:
    """Draw a contest again and again as it fills in, and below the last one its numbers."""
    [(kind, place)] = figure_place(f"{name}_").items()
    look = Look(dark=st.context.theme.type == "dark", compact=kind == "compact")
    status = st.empty()

    def draw(found: Contest, key: str, on_click: Callable[[], None] | None = None) -> str:
        title = winner_title(found, point, reading)
        figure = winners_figure(found, point, replace(look, title=title))
        show(place, figure, key, title, bar=False, on_click=on_click)
        return title

    pace = Pace.of_figures(HEAD_START_SECONDS)
    found = next(stages)
    whole = found.known.all()
    for count, later in enumerate(stages):
        # A coarse map is whole, and drawn at once; of one that grows, now and then.
        if whole or pace.due():
            draw(found, f"{name}_part_{count}_{kind}")
            share = float(found.known.mean())
            status.progress(share, f"{int(found.known.sum())} of {found.known.size} cells")
        found, whole = later, False
    status.empty()
    key = f"{name}_{kind}"
    title = draw(found, key, lambda: move_point(key, found.plane, limits))
    draw_files(
        name,
        title,
        lambda look: winners_figure(found, point, look),
        lambda: winners_table(found),
        setting=setting,
    )
    st.markdown(words(found) + rest_sentence(found))


def move_point(key: str, plane: Plane, limits: Mapping[str, tuple[int, int]] | None = None) -> None:
    points = st.session_state[key].selection.points
    if not points:
        return
    x, y = points[0]["customdata"][:2]
    for axis, value in ((plane.x_axis, x), (plane.y_axis, y)):
        low, high = (limits or {}).get(axis, (value, value))
        rounded = float(f"{min(max(value, low), high):.2g}")
        st.session_state[controls.PREFIX + axis] = int(rounded) if is_whole(axis) else rounded
