"""Steps that begin at their top, and a key that runs them from anywhere."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import streamlit as st

from dpsco_app.parts.touch.modules import script


def to_the_top(step: str, run: str) -> None:
    """Scroll up when `step` changes; Ctrl+Enter on a choice presses the button of `run`."""
    _component()(key="to_the_top", data={"step": step, "run": run}, width="content", height=1)


@lru_cache(maxsize=1)
def _component() -> Any:
    """Return the component; made at its first use, when there is a server."""
    return st.components.v2.component("dpsco_top", js=script("top.js"))
