"""The questions below the figure, as cards: one is open at a time."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from dpsco_app.front.questions.cards import STEPS, Question
from dpsco_app.pages.explore.state import STATE
from dpsco_app.pages.explore.style import cards_style
from dpsco_app.parts.options import CARD
from dpsco_app.parts.themes import is_dark
from dpsco_app.shell import visit


def draw_cards(cards: Sequence[Question], chosen: str) -> None:
    """Draw a button for each card; the steps of the open card stand below all buttons."""
    if not cards:
        return
    open_card = next((card for card in cards if card.choices or card.slug == chosen), None)
    suggested = next((card for card in cards if card.is_suggested), None)
    st.html(cards_style(open_card, suggested, dark=is_dark()))
    with st.container(horizontal=True, key="cards"):
        for card in cards:
            is_open = card.slug == chosen or bool(card.choices)
            # The key is the same when a card opens, so that keyboard focus stays on its button.
            with st.container(key=f"card_{card.slug}"):
                st.button(
                    f"**{card.title}** {'−' if is_open else '+'}  \n{card.sentence}",
                    key=f"open_{card.slug}",
                    width="stretch",
                    on_click=_open,
                    args=(card.slug,),
                )
            for place, words in enumerate(card.choices):
                with st.container(key=f"guess_{place}"):
                    st.button(
                        words,
                        key=f"guess_{card.slug}_{place}",
                        width="stretch",
                        on_click=_guess,
                        args=(place,),
                    )
        news = "" if open_card is None else open_card.sentence
        st.html(f"<div class='heard' role='status'>{escape(news)}</div>")
    steps = [text for card in cards for text in card.steps if card.slug == chosen]
    if steps:
        st.markdown("\n".join(f"{i}. {text}" for i, text in enumerate(steps[:STEPS], 1)))
    for text in steps[STEPS:]:
        st.markdown(text)


def _open(slug: str) -> None:
    """Open the card with this slug, or close it if it is open; a callback."""
    session = visit.current()
    session.open_card(slug)
    st.session_state[STATE.key(CARD)] = session.view.card


def _guess(place: int) -> None:
    """Record the choice of this index as the visitor's guess, and open the card with the answer."""
    session = visit.current()
    session.answer_guess(place)
    st.session_state[STATE.key(CARD)] = session.view.card
