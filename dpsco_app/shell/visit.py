"""The session of a visitor of the dashboard."""

import streamlit as st

from dpsco_app.session.session import Session
from dpsco_core.base.limits import DASHBOARD

SESSION = "session"


def current() -> Session:
    """Return the visitor's session, which begins with the first page."""
    if SESSION not in st.session_state:
        st.session_state[SESSION] = Session(DASHBOARD)
    session: Session = st.session_state[SESSION]
    return session
