"""The questions below the figure, as cards: one is open at a time."""

from collections.abc import Sequence

import streamlit as st

from dpsco_app.front.questions.cards import STEPS, Question
from dpsco_app.pages.explore.state import STATE
from dpsco_app.parts.options import CARD
from dpsco_app.shell import visit


def draw_cards(cards: Sequence[Question], chosen: str) -> None:
    """Draw a button a card; the steps of the open one stand below all of them."""
    if not cards:
        return
    with st.container(horizontal=True, key="cards"):
        for card in cards:
            is_open = card.slug == chosen
            state = "open_" * is_open or "next_" * card.is_suggested
            with st.container(key=f"card_{state}{card.slug}"):
                st.button(
                    f"**{card.title}** {'−' if is_open else '+'}  \n{card.sentence}",
                    key=f"open_{card.slug}",
                    width="stretch",
                    on_click=_open,
                    args=(card.slug,),
                )
    steps = [text for card in cards for text in card.more if card.slug == chosen]
    if steps:
        st.markdown("\n".join(f"{i}. {text}" for i, text in enumerate(steps[:STEPS], 1)))
    for text in steps[STEPS:]:
        st.markdown(text)


def _open(slug: str) -> None:
    session = visit.current()
    session.open_card(slug)
    st.session_state[STATE.key(CARD)] = session.view.card
