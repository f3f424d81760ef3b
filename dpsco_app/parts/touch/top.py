"""Steps that begin at their top, and a key that runs them from anywhere."""

from dpsco_app.parts.touch.modules import component


def to_the_top(step: str, run: str) -> None:
    """Scroll up when `step` changes; Ctrl+Enter on a choice presses the button of `run`."""
    component("top", html="")(
        key="to_the_top", data={"step": step, "run": run}, width="content", height=1
    )
