"""The style of Explore's first screen."""

from functools import cache

from dpsco_app.figure.colours import ACCENT, QUIET, Pair

INK_ON_ACCENT: Pair = ("#ffffff", "#0b1b33")


@cache
def style(*, dark: bool) -> str:
    """Return the style sheet of the row above the figure, and of the one below it."""
    accent, on_accent, quiet = ACCENT[dark], INK_ON_ACCENT[dark], QUIET[dark]
    run = ".st-key-explore_run button:not(:disabled)"
    return f"""<style>
/* Streamlit keeps what a button has replaced beside it until the page has run. */
.st-key-explore_run ~ .st-key-explore_cancel, .st-key-explore_cancel ~ .st-key-explore_run {{
  display: none; }}
.status {{ font-size: 0.8125rem; color: {quiet}; text-align: right; white-space: nowrap; }}
.st-key-top_row > :nth-child(2) {{ flex: 1 1 0; }}
.st-key-top_row {{ gap: 0.75rem; }}
.st-key-top_row button, .st-key-foot button {{ min-height: 1.9rem; padding: 0.1rem 0.7rem; }}
.st-key-top_row button p, .st-key-foot button p {{ font-size: 0.85rem; }}
{run} {{ background: {accent}; border-color: {accent}; color: {on_accent}; }}
{run} * {{ color: {on_accent}; opacity: 1 !important; }}
{run} kbd {{ display: none; }}
/* The doors take no room: what is below them stays where it is when they go. */
:has(> .st-key-doors) {{ height: 0; margin-bottom: -0.5rem; position: relative; z-index: 1; }}
.st-key-doors {{ gap: 0.5rem; justify-content: flex-end; align-items: center; color: {quiet};
  font-size: 0.875rem; }}
.st-key-doors > * {{ width: auto !important; flex: none !important; }}
.st-key-doors a {{ padding: 0 0.25rem; min-height: 0; }}
.st-key-doors a p {{ font-size: 0.875rem; text-decoration: underline; text-underline-offset: 3px; }}
.st-key-foot {{ gap: 0.6rem; }}
.st-key-foot > :has(> .st-key-foot_words) {{ flex: 1 1 10rem; }}
.st-key-foot_words p {{ font-size: 0.8125rem; }}
@media (max-width: 1240px) {{
  :has(> .st-key-doors) {{ height: auto; margin-bottom: 0; }}
  .st-key-doors {{ justify-content: flex-start; }}
}}
@media (max-width: 760px) {{
  .status {{ display: none; }}
  .st-key-phone_row > * {{ flex: 1 1 0 !important; }}
}}
</style>"""
