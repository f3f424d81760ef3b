"""Page setup and navigation."""

from pathlib import Path

import streamlit as st

from dpsco_app.figure.colours import INK
from dpsco_app.pages import private_mean, why
from dpsco_app.pages.bounds import page as bounds
from dpsco_app.pages.check import page as check
from dpsco_app.pages.explore import doors
from dpsco_app.pages.explore import page as explore
from dpsco_app.pages.geometry import page as geometry
from dpsco_app.pages.learn import page as learn
from dpsco_app.pages.lower_bounds import page as lower_bounds
from dpsco_app.pages.methods import errata
from dpsco_app.pages.methods import page as methods
from dpsco_app.pages.one_run import page as one_run
from dpsco_app.pages.privacy import page as privacy
from dpsco_app.pages.users import page as users
from dpsco_app.pages.who_wins import page as who_wins
from dpsco_app.parts import glossary
from dpsco_app.parts.themes import is_dark
from dpsco_app.runs.turns import TURNS
from dpsco_app.shell import teaching, visit, window
from dpsco_app.shell.names import PLACES
from dpsco_app.shell.places import menu_style, place
from dpsco_app.shell.style import PAGE, shared_style

TITLE = "DP-SCO Explorer"
ABOUT_TEXT = (
    f"**{TITLE}**\n\nDifferentially private stochastic convex optimization: what privacy costs on "
    "heavy-tailed data."
)
PACKAGE = Path(__file__).resolve().parents[1]
# The icon in a checkout and in an installed wheel.
ICONS = (PACKAGE.parent / "assets" / "icon.png", PACKAGE / "assets" / "icon.png")
MARK = (PACKAGE / "assets" / "mark.svg").read_text(encoding="utf-8")
DRAW = {
    "learn": learn.page,
    "explore": explore.page,
    "private-mean": private_mean.page,
    "one-run": one_run.page,
    "who-wins": who_wins.page,
    "bounds": bounds.page,
    "check": check.page,
    "lower-bounds": lower_bounds.page,
    "methods": methods.page,
    "errata": errata.page,
    "privacy": privacy.page,
    "geometry": geometry.page,
    "users": users.page,
    "why": why.page,
}


def main() -> None:
    """Draw the dashboard: its frame, its menu and the page that the address names."""
    visit.note_way_back()
    mode = teaching.take()
    st.set_page_config(
        page_title=TITLE,
        page_icon=next((str(icon) for icon in ICONS if icon.exists()), None),
        layout="wide",
        initial_sidebar_state=teaching.SIDEBAR_WIDTH if mode.large else "auto",
        menu_items={"About": ABOUT_TEXT},
    )
    st.html(shared_style(dark=is_dark()))
    st.logo(MARK.replace(INK[0], INK[is_dark()]), size="medium")
    places = [place(slug, DRAW[slug]) for slug in PLACES]
    page = st.navigation(places, position="hidden" if teaching.is_part_hidden("nav") else "top")
    if mark := menu_style(page.url_path):
        st.html(mark)
    if page.url_path:
        # The titles tell apart tabs and bookmarks of several pages.
        st.set_page_config(page_title=f"{PLACES[page.url_path]} · {TITLE}")
    if page.url_path:  # The page is not the front page.
        st.session_state[doors.DOORS_CLOSED] = True
    teaching.apply(mode)
    with TURNS.first_figure(), st.container(gap="xsmall", key=PAGE):
        page.run()
        glossary.draw_glossary()
        window.watch(page.url_path)
