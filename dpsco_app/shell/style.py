"""The style sheet of all pages."""

from dpsco_app.figure.colours import INK, QUIET
from dpsco_app.figure.style import words_style
from dpsco_app.parts.themes import is_dark

MAIN = "[data-testid=stMainBlockContainer]"


def menu_marks() -> dict[str, str]:
    """Return how the menu's entry of what is shown looks, by the kind of its link."""
    line = f"background: none; box-shadow: inset 0 -2px {INK[is_dark()]}; border-radius: 0;"
    return {"stTopNavLink": line, "stSidebarNavLink": "background: rgba(169, 169, 162, 0.25);"}


def shared_style() -> str:
    """Return the style sheet, for the theme of the window."""
    dark = is_dark()
    quiet, marked = QUIET[dark], menu_marks()["stTopNavLink"]
    return f"""<style>{words_style(dark=dark)}{MAIN} {{ padding: 3.9rem 2.5rem 1.5rem; }}
{MAIN} > [data-testid=stVerticalBlock] {{ gap: 0.5rem; }}
[data-testid=stTopNavLink], [data-testid=stTopNavLink]:hover {{ border-radius: 0; }}
[data-testid=stTopNavLink][aria-current=page] {{ {marked} }}
[class*="figure_"] .modebar-container {{ display: none; }}
[class*="figure_"] .trace {{ transition: opacity 0.12s; }}
@media (prefers-reduced-motion: reduce) {{ [class*="figure_"] .trace {{ transition: none; }} }}
[data-testid=stCaptionContainer] * {{ color: inherit; }}
[data-testid=stCaptionContainer] {{ color: {quiet}; opacity: 1; }}
[data-testid=stSidebarHeader] {{ flex-wrap: wrap; }}
[data-testid=stSidebarHeader]::after {{ flex: 0 0 100%; color: {quiet}; font-size: 0.75rem;
  line-height: 1.3;
  content: "Differentially private stochastic convex optimization"; }}
/* The button that copies is seen before the pointer is there, and on a screen that has none. */
[data-testid=stCode] > div:has([aria-label="Copy to clipboard"]) {{ opacity: 1 !important;
  visibility: visible !important; }}
[data-testid=stCode] pre {{ padding-right: 3rem !important; }}
kbd {{ opacity: 0.85 !important; }}
/* Streamlit gives a menu the room below its button, however little. As high as it is, it turns. */
[data-testid=stPopoverBody] {{ max-height: 70vh !important; }}
/* A message in a menu does not widen it. */
[data-testid=stPopoverBody] [data-testid=stAlert] {{ width: 0; min-width: 100%; }}
.st-key-views {{ gap: 0.25rem; }}
[data-testid=stButtonGroup] > div {{ flex-wrap: wrap !important; }}
@media (max-width: 1000px) {{
  [data-testid=stMarkdownContainer] table {{ display: block; overflow-x: auto; }}
}}
@media (max-width: 760px) {{
  {MAIN} {{ padding: 4.4rem 1rem 1rem; }}
  h1 {{ font-size: 1.3rem !important; }}
  button kbd {{ display: none !important; }}
  [class*="_scenes"], .st-key-views {{ flex-wrap: nowrap !important; overflow-x: auto;
    padding: 0.3rem 0; width: 100%; }}
  .st-key-views {{ min-width: calc(100vw - 2rem); }}
  [class*="_scenes"] > *, .st-key-views > * {{ flex: none !important; }}
}}
</style>"""
