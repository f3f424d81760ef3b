"""The glossary at the foot of every page: every symbol and term, in one sentence each."""

import streamlit as st

from dpsco_app.parts.glossary_terms import GLOSSARY, Term, matching
from dpsco_app.shell.places import PLACES

QUERY = "glossary_query"


@st.fragment
def draw_glossary() -> None:
    """Draw the button that opens the glossary; the page itself does not run again for it."""
    if st.button("Glossary of symbols and words", icon=":material/menu_book:", key="glossary"):
        _show()


@st.dialog("Glossary", width="large", icon=":material/menu_book:")
def _show() -> None:
    query = st.text_input("Find a symbol or a word", key=QUERY, placeholder="epsilon, packing, G …")
    found = matching(query)
    st.caption(f"{len(found)} of {len(GLOSSARY)} entries")
    if not found:
        st.markdown("Nothing fits. Try a single word, or the name of a Greek letter.")
        return
    st.markdown("\n".join(entry(term) for term in found))


def entry(term: Term) -> str:
    """Return one entry as an item of a Markdown list."""
    sign = f"${term.latex}$ · " if term.latex else ""
    name = term.name if term.latex else term.name[0].upper() + term.name[1:]
    control = f" In the address: `{term.field}`." if term.field else ""
    pages = ", ".join(PLACES[slug] for slug in term.places)
    return f"- {sign}**{name}**: {term.meaning}{control} *Seen on {pages}.*"
