"""Where every curve of Explore's figure comes from: paper, statement, citation."""

import pandas as pd
import streamlit as st

from dpsco_app.parts.citations import bibtex, citation
from dpsco_app.parts.options import SHOW
from dpsco_app.parts.running import Result
from dpsco_app.parts.shown_bounds import shown
from dpsco_app.parts.traces import bound_name
from dpsco_core.base.cards import BoundCard, Card, Paper
from dpsco_core.catalogue import bound, method_card


def draw_sources(result: Result) -> None:
    """Draw a table with a row a curve, and the papers to be copied."""
    cards = drawn_cards(result, st.session_state[SHOW])
    st.dataframe(sources_table(cards), hide_index=True, width="stretch")
    st.markdown("".join(f"- **{p.key}**: {citation(p)}\n" for p in papers_of(cards)))
    st.caption(
        "The statement of a method is what its code follows; its measured errors are new here. "
        "BibTeX of the papers, to be copied:"
    )
    st.code(bibtex(papers_of(cards)), language="bibtex", wrap_lines=True)


def drawn_cards(result: Result, views: list[str]) -> tuple[Card, ...]:
    """Return the methods of a result (and of what is beside), then the bounds that are drawn."""
    methods = [m for part in result.parts for m in part.scenario.methods]
    cards: list[Card] = [method_card(m) for m in dict.fromkeys(methods)]
    return (*cards, *(bound(slug).card for slug in shown(result.scenario, views)))


def papers_of(cards: tuple[Card, ...]) -> tuple[Paper, ...]:
    """Return the papers of some cards, each once."""
    return tuple({card.paper.key: card.paper for card in cards}.values())


def sources_table(cards: tuple[Card, ...]) -> pd.DataFrame:
    """Return one row a curve: what it is, its statement, its paper."""
    return pd.DataFrame(
        [
            {
                "Curve": bound_name(card) if isinstance(card, BoundCard) else card.name,
                "Paper": card.paper.key,
                "Statement": card.statement,
                "What it is": _kind(card),
                "In words": card.summary,
            }
            for card in cards
        ]
    )


def _kind(card: Card) -> str:
    if not isinstance(card, BoundCard):
        return "measured"
    if card.constant == "rate":
        return f"{card.kind} rate"
    return f"{card.kind} bound, proven constant"
