"""The style sheet that all pages share, whose rules select elements by their keys."""

from functools import cache

from dpsco_app.figure.colours import QUIET
from dpsco_app.figure.style import words_style
from dpsco_app.parts.insides import CAPTION, COPY, MENU_BOX, MENU_LINK, STOP, TOKEN

PAGE = "page"  # The key of the container around a whole page.
# The colours of code, of which half is the colour of the text: light on dark, and dark on light.
CODE_COLOURS = {
    ".comment": "#808495",
    ".keyword": "#1c83e1",
    ".string": "#09ab3b",
    ":is(.number, .boolean)": "#29b09d",
    ":is(.function, .builtin, .decorator, .class-name)": "#803df5",
}
# The style with which Streamlit marks the current page in its menu.
MARK = "background: rgba(151, 166, 195, 0.15); font-weight: 600;"


def menu_mark(end: str) -> str:
    """Return the CSS rule that marks the menu link whose address ends with `end`."""
    link = f'{MENU_LINK}[href$="{end}"]'
    return f"{link} {{ {MARK} }} {link} span {{ font-weight: 600; }}"


def _code_style() -> str:
    """Return the CSS rules for the colours of code, with a contrast of at least 4.5."""
    return "\n".join(
        f"{TOKEN}{kind} {{ color: color-mix(in srgb, {colour} 50%, currentcolor) !important; }}"
        for kind, colour in CODE_COLOURS.items()
    )


@cache
def shared_style(*, dark: bool) -> str:
    """Return the style element that all pages share, in the light or the dark theme."""
    return f"""<style>{words_style(dark=dark)}
{CAPTION} {{ color: {QUIET[dark]}; opacity: 1; }}
{CAPTION} * {{ color: inherit; }}
[class*="st-key-"][class*="figure_"] .modebar-container {{ display: none; }}
[class*="st-key-"][class*="figure_"] .trace {{ transition: opacity 0.12s; }}
@media (prefers-reduced-motion: reduce) {{
  [class*="st-key-"][class*="figure_"] .trace {{ transition: none; }}
}}
{MENU_BOX} {{ max-height: 70vh !important; }}
{STOP} {{ display: none; }}
{_code_style()}
/* A link beside a button stands as high as the words on the button. */
.st-key-learn_elsewhere, [class*="st-key-"][class*="_foot"], .st-key-bounds_row,
.st-key-who_wins_row {{ align-items: center; }}
{COPY} {{ opacity: 1 !important; visibility: visible !important; }}
:has(> [class*="st-key-first_side_"]) {{ flex: 3 1 0 !important; min-width: 0; }}
:has(> [class*="st-key-second_side_"]) {{ flex: 2 1 0 !important; min-width: 0; }}
@media (min-width: 1001px) {{
  .st-key-{PAGE} {{ margin: 0 -2.5rem; width: calc(100% + 5rem); max-width: none; }}
}}
@media (max-width: 1000px) {{
  table:not([class]) {{ display: block; overflow-x: auto; }}
}}
@media (max-width: 760px) {{
  h1 {{ font-size: 1.3rem !important; }}
  :has(> :is([class*="st-key-first_side_"], [class*="st-key-second_side_"])) {{
    flex: 1 0 100% !important; }}
  button kbd {{ display: none !important; }}
  [class*="st-key-"][class*="_scenes"], .st-key-views {{ flex-wrap: nowrap !important;
    overflow-x: auto; padding: 0.3rem 0; width: 100%; }}
  .st-key-views {{ min-width: calc(100vw - 2rem); }}
  [class*="st-key-"][class*="_scenes"] > *, .st-key-views > * {{ flex: none !important; }}
}}
</style>"""
