"""An AppTest that costs what its page costs. Importing this file is enough."""

from __future__ import annotations

from functools import cache

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner, require_widgets_deltas


def wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the script's thread. An AppTest asks a thousand times a second if it has ended."""
    script = runner._script_thread
    assert script is not None
    script.join(timeout)
    if script.is_alive():
        require_widgets_deltas(runner, 0)  # stops the script, and says that it took too long


local_script_runner.require_widgets_deltas = wait
# What every installed package says of itself is read once: a search takes longer than most pages.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
