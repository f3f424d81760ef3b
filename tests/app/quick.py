"""An AppTest that costs what its page costs, and pages that wait for no browser.

Importing this file is enough for the first; `AT_ONCE` is what the second replaces.
"""

from __future__ import annotations

from functools import cache
from math import inf

import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner, require_widgets_deltas

from dpsco_app.pages.explore import page as explore
from dpsco_app.session import curves, screen
from dpsco_app.shell.window import arrive


def wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the script's thread; AppTest itself would poll a thousand times a second."""
    script = runner._script_thread
    assert script is not None
    script.join(timeout)
    if script.is_alive():
        # This call stops the script and reports that it took too long.
        require_widgets_deltas(runner, 0)


local_script_runner.require_widgets_deltas = wait
# The manifests of installed packages are read once, as a search takes longer than most pages.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def _rerun() -> None:
    """Arrive at the page as a visitor does, and run its script again."""
    arrive()
    st.rerun()


# Nothing is delayed, and no page waits for a browser to draw its figure.
AT_ONCE = (
    (explore, "HOLD_BACK_SECONDS", 0.0),
    (screen, "LIVE_SECONDS", 0.0),  # Every run waits for the Run button.
    (curves, "BESIDE_SECONDS", inf),  # A run includes its second panel on any machine.
    (explore, "when_there", _rerun),
)
