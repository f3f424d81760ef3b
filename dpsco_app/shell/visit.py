"""The session of a visitor of the dashboard."""

import streamlit as st

from dpsco_app.front.fits import item_level, with_problem
from dpsco_app.front.links import BASE, query, read
from dpsco_app.session.scenarios import Use
from dpsco_app.session.session import Session
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.fields import NAMES as FIELDS

__all__ = ["BASE", "FIELDS", "Use", "current", "item_level", "query", "read", "with_problem"]
SESSION = "session"


def current() -> Session:
    """Return the visitor's session, which begins with the first page."""
    if SESSION not in st.session_state:
        st.session_state[SESSION] = Session(DASHBOARD)
    session: Session = st.session_state[SESSION]
    return session
