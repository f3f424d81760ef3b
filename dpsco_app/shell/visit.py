"""The session of a visitor of the dashboard."""

import streamlit as st

from dpsco_app.parts.insides import get_script_run_ctx
from dpsco_app.session.session import Session
from dpsco_core.base.limits import DASHBOARD

SESSION = "session"
WAY_BACK = "visit_way_back"


def current() -> Session:
    """Return the session of this visitor, which the first call makes."""
    if SESSION not in st.session_state:
        st.session_state[SESSION] = Session(DASHBOARD)
    session: Session = st.session_state[SESSION]
    return session


def note_way_back() -> None:
    """Record that the browser came to this address by Back or Forward, if it says so.

    Call this before anything is drawn: if the run is stopped before its page opens, the next run
    reads the record, for which the browser reports an ordinary move.
    """
    run = get_script_run_ctx()
    if run is not None and run.is_history_navigation:
        st.session_state[WAY_BACK] = True
